/*
 * The parts of the contract that need a PMU of a certain shape.  The software
 * PMU has any shape: pmu=software on the kernel's command line, docs/boot.md.
 * The test says how many instructions retire, so it knows every count and
 * every overflow.  A test for another shape says SKIP.
 */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cpc.h>
#include <sys/lwp.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PERIOD 1000
#define USER   CPC_COUNT_USER
#define SYSTEM CPC_COUNT_SYSTEM
#define NOTIFY CPC_OVF_NOTIFY_EMT

TEST_KEEPS(16);

/* The value of `key` in the PMU's name, or `otherwise`. */
static const char *
shape_value(cpc_t *cpc, const char *key, const char *otherwise)
{
	static char value[32];
	const char *name = strstr(cpc_cciname(cpc), "pmu=software");
	size_t n = strlen(key);

	for (; name != NULL; name = strchr(name + 1, ',')) {
		if (strncmp(name + 1, key, n) != 0 || name[n + 1] != '=')
			continue;
		name += n + 2;
		n = strcspn(name, ",)");
		memcpy(value, name, n < sizeof value ? n : sizeof value - 1);
		value[n < sizeof value ? n : sizeof value - 1] = '\0';
		return value;
	}
	return otherwise;
}

static bool
shape_is(cpc_t *cpc, const char *key, const char *otherwise, const char *value)
{
	return strcmp(shape_value(cpc, key, otherwise), value) == 0;
}

static uint64_t
mask_of(cpc_t *cpc, const char *key, const char *otherwise)
{
	return strtoull(shape_value(cpc, key, otherwise), NULL, 0);
}

#define NEEDS(key, otherwise, value)                                           \
	do {                                                                   \
		if (!software_pmu || !shape_is(cpc, key, otherwise, value))    \
			SKIP("this test needs pmu=software," key "=" value);   \
	} while (0)

static cpc_set_t *
set_with(cpc_t *cpc, const char *event, uint64_t preset, uint_t flags)
{
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT_EQ(
	    cpc_set_add_request(cpc, set, event, preset, flags, 0, NULL), 0);
	return set;
}

/* Only retire() advances the counts. */
CPC_TEST(counts_are_what_the_program_retires)
{
	if (!software_pmu)
		SKIP("this test needs pmu=software");
	cpc_set_t *set = set_with(cpc, "instructions", 0, USER);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	spin_loop(1000);
	EXPECT_EQ(sampled(cpc, set, 0), 0);
	retire(12345, USER);
	retire(777, SYSTEM);
	EXPECT_EQ(sampled(cpc, set, 0), 12345);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	retire(1, USER);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(sampled(cpc, set, 0), 0);
}

/* CPC-BIND-25: exact to the last instruction. */
CPC_TEST(privileges_are_counted_separately)
{
	if (!software_pmu || cpc_npic(cpc) < 3 ||
	    !shape_is(cpc, "shared", "no", "no"))
		SKIP("this test needs pmu=software with three PICs and no "
		     "shared filter");
	cpc_set_t *set = set_with(cpc, "instructions", 0, USER);
	add_flags(cpc, set, "instructions", SYSTEM);
	add_flags(cpc, set, "instructions", USER | SYSTEM);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(100, USER);
	retire(20, SYSTEM);
	EXPECT_EQ(sampled(cpc, set, 0), 100);
	EXPECT_EQ(sampled(cpc, set, 1), 20);
	EXPECT_EQ(sampled(cpc, set, 2), 120);
}

/*
 * CPC-CTX-04, CPC-PCBE-01, CPC-OVF-15: the count has 64 bits, however narrow a
 * PIC is.  If overflows do not interrupt, a sample folds the PIC after each
 * step.
 */
CPC_TEST(narrow_counters_make_a_wide_count)
{
	const uint64_t preset = 0xfedcba9876543210;
	uint64_t step, retired = 0;
	bool sample_each_step;

	if (!software_pmu)
		SKIP("this test needs pmu=software");
	sample_each_step = (cpc_caps(cpc) & CPC_CAP_OVERFLOW_PRECISE) == 0 ||
	                   mask_of(cpc, "mute", "0") != 0;
	step =
	    (1ULL << (strtoul(shape_value(cpc, "width", "48"), NULL, 0) - 1)) -
	    7;
	cpc_set_t *set = set_with(cpc, "instructions", preset, USER);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	for (uint_t i = 0; i < 10; i++) {
		retire(step, USER);
		retired += step;
		if (sample_each_step || i == 5)
			EXPECT_EQ(sampled(cpc, set, 0), preset + retired);
	}
	EXPECT_EQ(sampled(cpc, set, 0), preset + retired);
}

/* CPC-CTX-04: more than 2^32 events at once. */
CPC_TEST(an_interrupt_extends_a_counter)
{
	NEEDS("width", "48", "32");
	NEEDS("ovf", "precise", "precise");
	NEEDS("mute", "0", "0");
	cpc_set_t *set = set_with(cpc, "instructions", 0, USER);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire((5ULL << 32) + 3, USER);
	sched_yield();
	EXPECT_EQ(sampled(cpc, set, 0), (5ULL << 32) + 3);
}

static cpc_t *the_cpc;
static cpc_set_t *the_set;
static cpc_buf_t *the_buf;
static volatile int handler_calls, handler_lwp;
static enum { LEAVE, RESTART, REBIND } volatile handler_action;
static volatile uint64_t handler_count;
static volatile uintptr_t handler_pc, handler_addr;

static void
emt_handler(int sig, siginfo_t *si, void *context)
{
	const ucontext_t *uc = context;
	uint64_t v = 0;

	handler_calls++;
	EXPECT_EQ(si->si_code, EMT_CPCOVF);
	handler_addr = (uintptr_t)si->si_addr;
	handler_pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	EXPECT_EQ(cpc_set_sample(the_cpc, the_set, the_buf), 0);
	cpc_buf_get(the_cpc, the_buf, 0, &v);
	handler_count = v;
	handler_lwp = (int)_lwp_self();
	if (handler_action == RESTART)
		EXPECT_EQ(cpc_set_restart(the_cpc, the_set), 0);
	else if (handler_action == REBIND)
		EXPECT_EQ(cpc_bind_curlwp(the_cpc, the_set, 0), 0);
}

static void
bind_and_listen(cpc_t *cpc, cpc_set_t *set, int answering)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	sa.sa_sigaction = emt_handler;
	sigaction(SIGEMT, &sa, NULL);
	the_cpc = cpc;
	the_set = set;
	the_buf = cpc_buf_create(cpc, set);
	handler_calls = 0;
	handler_action = answering;
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
}

#define NEEDS_INTERRUPT()                                                      \
	do {                                                                   \
		if (!software_pmu ||                                           \
		    (cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)         \
			SKIP("this test needs pmu=software,ovf=precise");      \
	} while (0)

/* CPC-OVF-01, CPC-OVF-03, CPC-OVF-05: exact to the instruction. */
CPC_TEST(the_signal_comes_after_exactly_a_period)
{
	NEEDS_INTERRUPT();
	uint64_t skid = strtoul(shape_value(cpc, "skid", "0"), NULL, 0);
	bind_and_listen(cpc,
	    set_with(
		cpc, "instructions", UINT64_MAX - (PERIOD - 1), USER | NOTIFY),
	    LEAVE);
	retire(PERIOD - 1 + skid, USER);
	EXPECT_EQ(handler_calls, 0);
	retire(1, USER);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(handler_count, skid);
	retire(10 * PERIOD, USER);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(sampled(cpc, the_set, 0), skid);
}

/* CPC-OVF-06, CPC-OVF-07: n periods send n signals. */
CPC_TEST(each_period_signals_once)
{
	NEEDS_INTERRUPT();
	uint64_t skid = strtoul(shape_value(cpc, "skid", "0"), NULL, 0);
	bind_and_listen(cpc,
	    set_with(
		cpc, "instructions", UINT64_MAX - (PERIOD - 1), USER | NOTIFY),
	    RESTART);
	for (int i = 1; i <= 100; i++) {
		retire(PERIOD + skid, USER);
		EXPECT_EQ(handler_calls, i);
	}
}

/* CPC-OVF-02, CPC-OVF-18: in the kernel, but with the program's PC. */
CPC_TEST(an_overflow_in_the_kernel_signals_on_return)
{
	NEEDS_INTERRUPT();
	if (own_privilege() != USER)
		SKIP("at system privilege the handler is counted, too");
	bind_and_listen(cpc,
	    set_with(cpc, "instructions", UINT64_MAX, SYSTEM | NOTIFY), LEAVE);
	retire(2000, SYSTEM);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(handler_addr, handler_pc);
	EXPECT(handler_pc - (uintptr_t)cpc_syscall < 64);
}

/* CPC-OVF-09: a bind starts from the library's presets. */
CPC_TEST(binding_in_the_handler_begins_a_new_period)
{
	const uint64_t preset = UINT64_MAX - (PERIOD - 1);

	NEEDS_INTERRUPT();
	uint64_t skid = strtoul(shape_value(cpc, "skid", "0"), NULL, 0);
	bind_and_listen(
	    cpc, set_with(cpc, "instructions", preset, USER | NOTIFY), REBIND);
	EXPECT_EQ(cpc_request_preset(cpc, 0, UINT64_MAX - 5), 0);
	for (int i = 1; i <= 10; i++) {
		retire(PERIOD + skid, USER);
		EXPECT_EQ(handler_calls, i);
		EXPECT_EQ(sampled(cpc, the_set, 0), preset);
	}
}

static void *
overflow_elsewhere(void *cpc)
{
	bind_and_listen(cpc,
	    set_with(cpc, "instructions", UINT64_MAX, USER | NOTIFY), LEAVE);
	retire(2000, USER);
	return NULL;
}

/* CPC-OVF-11: this LWP could take the signal, too. */
CPC_TEST(the_lwp_that_overflows_gets_the_signal)
{
	pthread_t t;

	NEEDS_INTERRUPT();
	REQUIRE(pthread_create(&t, NULL, overflow_elsewhere, cpc) == 0);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(handler_calls, 1);
	EXPECT(handler_lwp != (int)_lwp_self());
}

static void
overflow_and_exit(void)
{
	cpc_t *cpc = test_cpc_open();
	cpc_set_t *set =
	    set_with(cpc, "instructions", UINT64_MAX, USER | NOTIFY);

	signal(SIGEMT, SIG_DFL);
	if (cpc_bind_curlwp(cpc, set, 0) == 0)
		retire(2000, USER);
	_exit(0);
}

/* CPC-OVF-14 */
CPC_TEST(an_overflow_without_a_handler_ends_the_process)
{
	int status = 0;
	pid_t pid;

	NEEDS_INTERRUPT();
	if ((pid = fork()) == 0)
		overflow_and_exit();
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status));
	EXPECT_EQ(WTERMSIG(status), SIGEMT);
}

/* CPC-OVF-17 */
CPC_TEST(two_overflows_are_one_signal)
{
	cpc_set_t *set;

	NEEDS_INTERRUPT();
	if (cpc_npic(cpc) < 2 || shape_is(cpc, "helpers", "no", "yes"))
		SKIP("this test needs two PICs");
	set = set_with(cpc, "instructions", UINT64_MAX, USER | NOTIFY);
	EXPECT_EQ(cpc_set_add_request(cpc, set, "instructions", UINT64_MAX,
		      USER | NOTIFY, 0, NULL),
	    1);
	bind_and_listen(cpc, set, LEAVE);
	retire(1000, USER);
	EXPECT_EQ(handler_calls, 1);
}

/* Request 0 notifies, far from its overflow; 1 wraps and does not. */
static void
wrap_other_request(cpc_t *cpc)
{
	cpc_set_t *set = set_with(cpc, "instructions", 0, USER | NOTIFY);

	add_preset(cpc, set, "instructions", UINT64_MAX);
	EXPECT_EQ(own_privilege(), USER);
	bind_and_listen(cpc, set, LEAVE);
	retire(1000, USER);
}

/* CPC-OVF-15 */
CPC_TEST(a_precise_wrap_of_another_request_is_silent)
{
	NEEDS("ovf", "precise", "precise");
	if (cpc_npic(cpc) < 2 || own_privilege() != USER)
		SKIP("this test needs two PICs and user privilege");
	wrap_other_request(cpc);
	EXPECT_EQ(handler_calls, 0);
	EXPECT_EQ(sampled(cpc, the_set, 0), 1000);
	EXPECT_EQ(sampled(cpc, the_set, 1), 999);
}

/* CPC-OVF-16 */
CPC_TEST(an_imprecise_wrap_of_any_request_signals)
{
	NEEDS("ovf", "precise", "imprecise");
	if (cpc_npic(cpc) < 2 || own_privilege() != USER)
		SKIP("this test needs two PICs and user privilege");
	EXPECT_EQ(cpc_caps(cpc), CPC_CAP_OVERFLOW_INTERRUPT);
	wrap_other_request(cpc);
	EXPECT_EQ(handler_calls, 1);
}

/* CPC-BIND-14 */
CPC_TEST(notify_without_interrupts_is_enotsup)
{
	NEEDS("ovf", "precise", "none");
	EXPECT_EQ(cpc_caps(cpc), 0);
	EXPECT_SILENT(cpc_bind_curlwp(cpc,
			  set_with(cpc, "instructions", 0, USER | NOTIFY), 0),
	    ENOTSUP);
}

/* CPC-BIND-17 */
CPC_TEST(a_shared_filter_makes_requests_conflict)
{
	NEEDS("shared", "no", "filter");
	cpc_set_t *set = set_with(cpc, "instructions", 0, USER);
	add_flags(cpc, set, "instructions", SYSTEM);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_CONFLICTING_REQS);
	EXPECT(strcmp(test_detail.text,
		   "Requests conflict with each other: request 1: all PICs "
		   "count at the privileges of request 0\n") == 0);
	set = set_with(cpc, "instructions", 0, SYSTEM);
	add_flags(cpc, set, "instructions", SYSTEM);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
}

/* CPC-BIND-07, CPC-BIND-22 */
CPC_TEST(a_set_that_first_fit_misses_is_bound)
{
	cpc_reqinfo_t info = { 0 };

	if (!software_pmu || mask_of(cpc, "cycles", "0") != 0x3 ||
	    mask_of(cpc, "branches", "0") != 0x1)
		SKIP("this test needs pmu=software,cycles=0x3,branches=0x1");
	cpc_set_t *set = set_with(cpc, "cycles", 0, USER);
	add_flags(cpc, set, "branches", USER);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_request_info(cpc, set, 0, &info), 0);
	EXPECT_EQ(info.ri_picnum, 1);
	EXPECT_EQ(cpc_request_info(cpc, set, 1, &info), 0);
	EXPECT_EQ(info.ri_picnum, 0);
	retire(400, USER);
	EXPECT_EQ(sampled(cpc, set, 0), 1200);
	EXPECT_EQ(sampled(cpc, set, 1), 100);
	set = set_with(cpc, "branches", 0, USER);
	add_flags(cpc, set, "branches", USER);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_RESOURCE_UNAVAIL);
	EXPECT(strcmp(test_detail.text,
		   "Hardware resource unavailable: requests 0-1 can be on PIC "
		   "0 alone\n") == 0);
}

/*
 * CPC-BIND-22: a fixed PIC counts instructions and takes no attribute.  The
 * request with an attribute gets another PIC, whichever request it is.
 */
CPC_TEST(attributes_keep_a_request_off_fixed_pics)
{
	char name[] = "umask";
	cpc_attr_t attr = { name, 1 };
	cpc_reqinfo_t info;
	uint_t fixed;
	cpc_set_t *set;

	NEEDS("fixed", "0", "1");
	fixed = cpc_npic(cpc) - 1;
	for (uint_t with = 0; with <= fixed; with++) {
		set = cpc_set_create(cpc);
		for (uint_t i = 0; i <= fixed; i++)
			EXPECT(cpc_set_add_request(cpc, set, "instructions", 0,
				   USER, i == with, &attr) != -1);
		EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
		EXPECT_EQ(cpc_request_info(cpc, set, (int)with, &info), 0);
		EXPECT(info.ri_picnum != fixed);
		retire(100, USER);
		for (uint_t i = 0; i <= fixed; i++)
			EXPECT_EQ(
			    sampled(cpc, set, (int)i), i == with ? 200 : 100);
		cpc_set_destroy(cpc, set);
	}
	/* A request for the fixed PIC fails because of its attribute. */
	set = cpc_set_create(cpc);
	cpc_attr_t both[] = { attr, { (char *)"picnum", fixed } };
	EXPECT_EQ(
	    cpc_set_add_request(cpc, set, "instructions", 0, USER, 2, both), 0);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_INVALID_ATTRIBUTE);
}

/* CPC-BIND-18 */
CPC_TEST(hypervisor_counts_may_be_refused)
{
	NEEDS("hv", "yes", "no");
	cpc_set_t *set = set_with(cpc, "instructions", 0, USER | CPC_COUNT_HV);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EACCES, "cpc_bind_curlwp",
	    CPC_HV_NO_ACCESS);
}

/* CPC-BIND-19 */
CPC_TEST(raw_codes_may_be_refused)
{
	NEEDS("raw", "yes", "no");
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set_with(cpc, "0x3c", 0, USER), 0),
	    EINVAL, "cpc_bind_curlwp", CPC_INVALID_EVENT);
}

static int
add_attr(cpc_t *cpc, cpc_set_t *set, const char *event, uint64_t pic,
    const char *name, uint64_t value)
{
	char picnum[] = "picnum", other[16];
	cpc_attr_t attrs[2] = { { picnum, pic }, { other, value } };

	strncpy(other, name, sizeof other - 1);
	other[sizeof other - 1] = '\0';
	return cpc_set_add_request(cpc, set, event, 0, USER, 2, attrs);
}

/* CPC-PCBE-05, CPC-REQ-16 */
CPC_TEST(attributes_are_checked_at_bind)
{
	cpc_set_t *set = cpc_set_create(cpc);

	if (!software_pmu)
		SKIP("this test needs pmu=software");
	EXPECT_EQ(add_attr(cpc, set, "instructions", 0, "umask", 0x100), 0);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
	set = cpc_set_create(cpc);
	EXPECT_EQ(add_attr(cpc, set, "instructions", 0, "umask", 4), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(100, USER);
	EXPECT_EQ(sampled(cpc, set, 0), 500);
}

/* A fixed PIC counts its own event and takes no attribute. */
CPC_TEST(fixed_pics_count_their_own_event)
{
	uint_t fixed = (uint_t)strtoul(shape_value(cpc, "fixed", "0"), NULL, 0),
	       pic;

	if (!software_pmu || fixed == 0)
		SKIP("this test needs pmu=software,fixed=1");
	pic = cpc_npic(cpc) - fixed;
	cpc_set_t *set = cpc_set_create(cpc);
	add_pic(cpc, set, "instructions", pic, USER);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	retire(9, USER);
	EXPECT_EQ(sampled(cpc, set, 0), 9);
	set = cpc_set_create(cpc);
	EXPECT_EQ(add_attr(cpc, set, "instructions", pic, "umask", 1), 0);
	EXPECT_REPORTED(cpc_bind_curlwp(cpc, set, 0), EINVAL, "cpc_bind_curlwp",
	    CPC_INVALID_ATTRIBUTE);
}

static void
count_event_name(void *arg, uint_t pic, const char *name)
{
	++*(int *)arg;
}

/* A PIC that fails its proof has no events. */
CPC_TEST(broken_pics_are_not_used)
{
	uint64_t broken = mask_of(cpc, "broken", "0");
	int names = 0;

	if (!software_pmu || broken == 0)
		SKIP("this test needs pmu=software,broken=MASK");
	cpc_walk_events_pic(
	    cpc, (uint_t)__builtin_ctzll(broken), &names, count_event_name);
	EXPECT_EQ(names, 0);
}
