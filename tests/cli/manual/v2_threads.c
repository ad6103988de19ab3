/*
 * cpc_bind_curlwp(3CPC): two threads, each with a set of its own.  "the set
 * can only be sampled by the LWP that bound it" (cpc_buf_create(3CPC)).
 */
#include "common.h"

#include <synch.h>
#include <thread.h>

const char program[] = "v2_threads";

#define ROUNDS 20

static cpc_t *cpc;
static cpc_set_t *first_set;
static sema_t first_bound, other_ready;

struct job {
	uint64_t turns, count;
	int first;
};

static void *
measure(void *arg)
{
	struct job *job = arg;
	cpc_set_t *set = cpc_set_create(cpc);
	int ind =
	    cpc_set_add_request(cpc, set, EVENT, 0, CPC_COUNT_USER, 0, NULL);
	cpc_buf_t *before = cpc_buf_create(cpc, set);
	cpc_buf_t *after = cpc_buf_create(cpc, set);
	cpc_buf_t *diff = cpc_buf_create(cpc, set);
	uint64_t val;

	CHECK(ind != -1 && before != NULL && after != NULL && diff != NULL);
	CHECK(cpc_bind_curlwp(cpc, set, 0) == 0);
	if (job->first) {
		first_set = set;
		sema_post(&first_bound);
		sema_wait(&other_ready);
	} else {
		cpc_buf_t *buf;

		sema_wait(&first_bound);
		CHECK((buf = cpc_buf_create(cpc, first_set)) != NULL);
		FAILS(cpc_set_sample(cpc, first_set, buf), EINVAL);
		sema_post(&other_ready);
	}
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(cpc_set_sample(cpc, set, before) == 0);
		loop(job->turns);
		thr_yield();
		CHECK(cpc_set_sample(cpc, set, after) == 0);
		cpc_buf_sub(cpc, diff, after, before);
		cpc_buf_get(cpc, diff, ind, &val);
		if (i == 0)
			job->count = val;
		EQUAL(val, job->count);
	}
	CHECK(cpc_unbind(cpc, set) == 0);
	return job;
}

int
main(void)
{
	struct job job[2] = { { 10000, 0, 1 }, { 25000, 0, 0 } };
	thread_t tid[2];
	void *status;

	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	CHECK(sema_init(&first_bound, 0, USYNC_THREAD, NULL) == 0);
	CHECK(sema_init(&other_ready, 0, USYNC_THREAD, NULL) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(thr_create(
			  NULL, 0, measure, &job[i], THR_BOUND, &tid[i]) == 0);
	for (int i = 0; i < 2; i++) {
		CHECK(thr_join(tid[i], NULL, &status) == 0);
		CHECK(status == &job[i]);
	}
	EQUAL(job[1].count - job[0].count, 2 * 15000);
	cpc_close(cpc);
	return finish();
}
