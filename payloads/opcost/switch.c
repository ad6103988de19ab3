/*
 * The cost of a switch and of an LWP.  Two LWPs of one CPU yield to each other
 * by sched_yield(2); another one is created, runs and is joined.
 */
#include "payloads/opcost/opcost.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "payloads/common/usage.h"

static cpc_t *cpc;
static cpc_set_t *set;
static volatile bool ready, done;

static void *
partner(void *arg)
{
	(void)arg;
	if (set != NULL)
		bench_bind(cpc, set);
	ready = true;
	while (!done)
		sched_yield();
	return NULL;
}

static void
yield(void)
{
	sched_yield();
}

void
bench_switch(const char *what, cpc_t *c, cpc_set_t *s, int n)
{
	pthread_t t;
	int err;

	cpc = c;
	set = s;
	ready = done = false;
	if (set != NULL)
		bench_bind(cpc, set);
	if ((err = pthread_create(&t, NULL, partner, NULL)) != 0)
		fail(1, "an LWP: %s", strerror(err));
	while (!ready)
		sched_yield();
	/* There and back again. */
	bench_row(what, n, bench_cost(yield) / 2);
	done = true;
	pthread_join(t, NULL);
	if (set != NULL)
		cpc_unbind(cpc, set);
}

static void *
end(void *arg)
{
	return arg;
}

static void
create_join(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, end, NULL) == 0)
		pthread_join(t, NULL);
}

void
bench_create(cpc_t *c, cpc_set_t *s, int n)
{
	bench_row("create+join", n, bench_cost(create_join));
	if (s == NULL)
		return;
	if (cpc_bind_curlwp(c, s, CPC_BIND_LWP_INHERIT) == -1)
		fail(1, "cannot bind: %s", strerror(errno));
	bench_row("create+inherit", n, bench_cost(create_join));
	cpc_unbind(c, s);
}
