/*
 * libcpc with real threads, built with the thread sanitizer: a data race in
 * the library ends the test.  The fake kernel admits one thread at a time, as
 * barecpc's kernel lock does.  Each thread is an LWP, and its counts are exact
 * whatever the other threads do.
 */
#include "tests/lib/host/kcpc/host.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define NTHREAD 3
#define ROUNDS  2000
#define STEPS   7 /* instructions per round */

static pthread_mutex_t kernel = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int my_lwp = 1; /* LWP id */
static unsigned bad;

/* Enter the kernel, on its only CPU, as this thread's LWP. */
static void
enter_kernel(void)
{
	pthread_mutex_lock(&kernel);
	fake_switch(0, my_lwp);
}

static void
leave_kernel(void)
{
	pthread_mutex_unlock(&kernel);
	sched_yield(); /* on a host with one CPU, let other threads run */
}

static void
run_payload(void)
{
	enter_kernel();
	fake_user(STEPS);
	leave_kernel();
}

/* cmocka's assertions work on the main thread only. */
static void
expect(bool holds)
{
	if (!holds)
		__atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
}

struct start {
	void (*fn)(cpc_set_t *shared);
	cpc_set_t *shared;
	int lwp;
};

static void *
start_thread(void *arg)
{
	const struct start *st = arg;

	my_lwp = st->lwp;
	for (int i = 0; i < ROUNDS; i++)
		st->fn(st->shared);
	enter_kernel();
	fake_exit(0, my_lwp);
	leave_kernel();
	return NULL;
}

/* Each thread runs its own function, the remaining ones the last. */
static void
run_threads(cpc_set_t *shared, unsigned n, void (*const fn[])(cpc_set_t *))
{
	struct start st[NTHREAD];
	pthread_t thread[NTHREAD];

	bad = 0;
	fake_on_syscall = enter_kernel;
	fake_on_return = leave_kernel;
	for (int i = 0; i < NTHREAD; i++) {
		st[i] =
		    (struct start){ fn[(unsigned)i < n ? (unsigned)i : n - 1],
			    shared, i + 2 };
		assert_int_equal(
		    pthread_create(&thread[i], NULL, start_thread, &st[i]), 0);
	}
	for (int i = 0; i < NTHREAD; i++)
		pthread_join(thread[i], NULL);
	fake_on_syscall = fake_on_return = NULL;
	assert_int_equal(bad, 0);
}

static uint64_t
buf_value(cpc_buf_t *buf)
{
	uint64_t v = 0;

	expect(cpc_buf_get(cpc, buf, 0, &v) == 0);
	return v;
}

/* Bind, count with, and unbind a set that all threads have bound. */
static void
count_shared(cpc_set_t *shared)
{
	cpc_buf_t *a = cpc_buf_create(cpc, shared);
	cpc_buf_t *b = cpc_buf_create(cpc, shared);

	expect(cpc_bind_curlwp(cpc, shared, 0) == 0);
	expect(cpc_set_sample(cpc, shared, a) == 0);
	run_payload();
	expect(cpc_set_sample(cpc, shared, b) == 0);
	cpc_buf_sub(cpc, b, b, a);
	expect(buf_value(b) == STEPS);
	expect(cpc_unbind(cpc, shared) == 0);
	expect(cpc_set_sample(cpc, shared, a) == -1);
	expect(cpc_buf_destroy(cpc, a) == 0);
	expect(cpc_buf_destroy(cpc, b) == 0);
}

/* CPC-BIND-11, CPC-BIND-12 */
CPC_TEST(one_set_bound_by_all)
{
	void (*const fn[])(cpc_set_t *) = { count_shared };

	run_threads(set_of("instructions"), 1, fn);
}

/* Create and destroy sets, requests and buffers of one handle. */
static void
create_and_destroy(cpc_set_t *shared)
{
	cpc_set_t *set = cpc_set_create(cpc);

	for (int i = 0; i < 3; i++)
		expect(cpc_set_add_request(cpc, set, "instructions", 0,
			   CPC_COUNT_USER, 0, NULL) == i);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	expect(cpc_bind_curlwp(cpc, set, 0) == 0);
	run_payload();
	expect(cpc_set_sample(cpc, set, buf) == 0);
	expect(buf_value(buf) == STEPS);
	expect(cpc_set_destroy(cpc, set) == 0);
	expect(cpc_set_sample(cpc, set, buf) == -1);
	expect(cpc_buf_destroy(cpc, buf) == 0);
	expect(cpc_set_destroy(cpc, set) == -1);
}

CPC_TEST(objects_come_and_go)
{
	void (*const fn[])(cpc_set_t *) = { create_and_destroy };

	run_threads(NULL, 1, fn);
}

static void
see_request(void *arg, int index, const char *event, uint64_t preset,
    uint_t flags, int nattrs, const cpc_attr_t *attrs)
{
	expect(strcmp(event, "instructions") == 0 && preset < ROUNDS);
	++*(int *)arg;
}

static void
walk_shared(cpc_set_t *shared)
{
	int n = 0;

	cpc_walk_requests(cpc, shared, &n, see_request);
	expect(n >= 1);
}

static void
edit_preset(cpc_set_t *shared)
{
	static uint64_t preset;

	expect(cpc_set_request_preset(cpc, shared, 0, preset++ % ROUNDS) == 0);
}

/* Add requests to the set while other threads walk and sample it. */
static void
grow_and_sample(cpc_set_t *shared)
{
	static unsigned n;
	cpc_buf_t *buf = cpc_buf_create(cpc, shared);

	if (n++ % 8 == 0)
		expect(cpc_set_add_request(cpc, shared, "instructions", 0,
			   CPC_COUNT_USER, 0, NULL) > 0);
	expect(cpc_set_sample(cpc, shared, buf) == -1);
	expect(cpc_buf_destroy(cpc, buf) == 0);
}

/* The buffer soon has the wrong size, so the kernel is not called. */
static void
sample_unbound(cpc_set_t *shared)
{
	static _Thread_local cpc_buf_t *buf;

	if (buf == NULL)
		buf = cpc_buf_create(cpc, shared);
	expect(cpc_set_sample(cpc, shared, buf) == -1);
}

CPC_TEST(a_set_is_walked_and_edited)
{
	void (*const fn[])(
	    cpc_set_t *) = { walk_shared, edit_preset, walk_shared };

	run_threads(set_of("instructions"), 3, fn);
}

CPC_TEST(a_set_grows_while_it_is_sampled)
{
	void (*const fn[])(
	    cpc_set_t *) = { grow_and_sample, sample_unbound, walk_shared };

	run_threads(set_of("instructions"), 3, fn);
}

static unsigned reports;

static void
count_report(const char *fn, int subcode, const char *fmt, va_list ap)
{
	__atomic_add_fetch(&reports, 1, __ATOMIC_RELAXED);
}

static void
change_handler(cpc_set_t *shared)
{
	expect(cpc_seterrhndlr(cpc, count_report) == 0);
}

static void
report_error(cpc_set_t *shared)
{
	expect(cpc_set_add_request(
		   cpc, shared, "no such event", 0, 0, 0, NULL) == -1);
}

/* CPC-ERR-02: a report goes to the handler installed at that moment. */
CPC_TEST(errors_are_reported_while_handlers_change)
{
	void (*const fn[])(cpc_set_t *) = { change_handler, report_error };

	reports = 0;
	cpc_seterrhndlr(cpc, count_report);
	run_threads(set_of("instructions"), 2, fn);
	assert_int_equal(reports, 2 * ROUNDS);
}

/* Open and close a handle of this thread. */
static void
open_and_close(cpc_set_t *shared)
{
	cpc_t *own = cpc_open(CPC_VER_CURRENT);

	expect(own != NULL);
	cpc_set_t *set = cpc_set_create(own);
	expect(cpc_set_add_request(
		   own, set, "instructions", 0, CPC_COUNT_USER, 0, NULL) == 0);
	expect(cpc_bind_curlwp(own, set, 0) == 0);
	run_payload();
	expect(cpc_close(own) == 0);
	expect(cpc_enable(cpc) == -1);
}

/* CPC-OPEN-05, CPC-CLOSE-02 */
CPC_TEST(handles_are_independent)
{
	void (*const fn[])(cpc_set_t *) = { open_and_close };

	run_threads(NULL, 1, fn);
}

static cpc_set_t *volatile current_set;

/* Destroy a set while other threads bind and sample it. */
static void
replace_set(cpc_set_t *shared)
{
	cpc_set_t *old = __atomic_load_n(&current_set, __ATOMIC_ACQUIRE);
	cpc_set_t *set = cpc_set_create(cpc);

	expect(cpc_set_add_request(
		   cpc, set, "instructions", 0, CPC_COUNT_USER, 0, NULL) == 0);
	__atomic_store_n(&current_set, set, __ATOMIC_RELEASE);
	expect(cpc_set_destroy(cpc, old) == 0);
}

static void
use_set(cpc_set_t *shared)
{
	cpc_set_t *set = __atomic_load_n(&current_set, __ATOMIC_ACQUIRE);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	cpc_reqinfo_t info;
	int was_bound = cpc_bind_curlwp(cpc, set, 0);

	for (int i = 0; i < 20; i++) {
		cpc_request_info(cpc, set, 0, &info);
		cpc_set_restart(cpc, set);
		cpc_set_sample(cpc, set, buf);
	}
	expect(was_bound == 0 || buf == NULL || errno == EINVAL);
	if (buf != NULL)
		expect(cpc_buf_destroy(cpc, buf) == 0);
}

/* CPC-CLOSE-03, CPC-SET-04: a call with a destroyed set returns EINVAL. */
CPC_TEST(a_set_is_destroyed_under_its_users)
{
	void (*const fn[])(cpc_set_t *) = { replace_set, use_set };

	current_set = set_of("instructions");
	run_threads(NULL, 2, fn);
}
