/* Sets bound to a controlled process's LWPs count just their work. */
#include "tests/image/pctx/pctx_test.h"

#include <sys/wait.h>
#include <unistd.h>

TEST_KEEPS(64);

#define NEEDS_EXACT_COUNTS()                                                   \
	do {                                                                   \
		if (!have_event(cpc, INS_EVENT))                               \
			SKIP("this PMU does not count " INS_EVENT);            \
		if (own_privilege() == CPC_COUNT_SYSTEM &&                     \
		    sysconf(_SC_NPROCESSORS_ONLN) > 1)                         \
			SKIP("needs user privilege or one CPU: the kernel's "  \
			     "waits for other CPUs count, too");               \
	} while (0)

/* The handlers of a run work with these, and note what they find. */
static struct counter {
	cpc_t *cpc;
	cpc_set_t *set, *other;
	cpc_buf_t *buf;
	id_t lwp; /* count this LWP only */
	uint64_t at_init, at_fini;
	hrtime_t hrtime; /* of the first sample */
	int bind_errno, sample_errno, unbind, status;
} ct;

static int
bind_here(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	if (id != ct.lwp)
		return 0;
	/* Another set is bound first; this one displaces it. */
	if (ct.other != NULL)
		EXPECT_EQ(cpc_bind_pctx(ct.cpc, px, id, ct.other, 0), 0);
	ct.bind_errno =
	    cpc_bind_pctx(ct.cpc, px, id, ct.set, 0) == 0 ? 0 : errno;
	if (ct.bind_errno != 0)
		return 0;
	EXPECT_EQ(cpc_set_sample(ct.cpc, ct.set, ct.buf), 0);
	cpc_buf_get(ct.cpc, ct.buf, 0, &ct.at_init);
	ct.hrtime = cpc_buf_hrtime(ct.cpc, ct.buf);
	spin_loop(100); /* the controller's own work */
	return 0;
}

static int
sample_here(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	if (id != ct.lwp)
		return 0;
	ct.sample_errno =
	    cpc_set_sample(ct.cpc, ct.set, ct.buf) == 0 ? 0 : errno;
	cpc_buf_get(ct.cpc, ct.buf, 0, &ct.at_fini);
	ct.unbind = cpc_unbind(ct.cpc, ct.set);
	return 0;
}

static void
take_status(pctx_t *px, pid_t pid, id_t id, int status, void *arg)
{
	ct.status = status;
}

static int
ignore_exec(pctx_t *px, pid_t pid, id_t id, char *command, void *arg)
{
	return 0;
}

/* Run the target, with ct.set bound to LWP ct.lwp.  Returns its count. */
static uint64_t
run_counted(const char *what, const char *more, const char *most)
{
	pctx_t *px = target(what, more, most);

	if (!EXPECT(px != NULL))
		return 0;
	ct.at_fini = ct.at_init = 0;
	ct.sample_errno = ct.unbind = ct.status = -1;
	pctx_set_events(px, PCTX_INIT_LWP_EVENT, bind_here, PCTX_FINI_LWP_EVENT,
	    sample_here, PCTX_SYSC_EXIT_EVENT, take_status,
	    PCTX_SYSC_EXEC_EVENT, ignore_exec, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	pctx_release(px);
	return ct.at_fini;
}

static void
count_with(cpc_t *cpc, cpc_set_t *set, id_t lwp)
{
	ct = (struct counter){ .cpc = cpc,
		.set = set,
		.buf = cpc_buf_create(cpc, set),
		.lwp = lwp };
}

/* `many` is the count of a target that makes 2,000 turns of a loop more. */
static void
expect_2000_turns(uint64_t few, uint64_t many)
{
	if (emulated())
		EXPECT_EQ(many - few, 2000 * SPIN_INSNS);
	else
		EXPECT(many - few >= 2000 * SPIN_INSNS);
}

/* CPC-PCTXB-01, CPC-PCTXB-03: two targets differ in 2,000 turns of a loop. */
CPC_TEST(the_count_of_a_known_loop_is_exact)
{
	NEEDS_EXACT_COUNTS();
	count_with(cpc, set_of(cpc, INS_EVENT), 1);
	uint64_t few = run_counted("spin", "1000", NULL);
	uint64_t many = run_counted("spin", "3000", NULL);
	EXPECT_EQ(ct.bind_errno, 0);
	EXPECT_EQ(ct.sample_errno, 0);
	EXPECT_EQ(ct.unbind, 0);
	EXPECT(few >= 1000 * SPIN_INSNS);
	expect_2000_turns(few, many);
}

/* The target has not run: the values are the presets, at a known time. */
CPC_TEST(a_set_is_bound_before_the_target_runs)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_preset(cpc, set, ANY_EVENT, 12345);
	count_with(cpc, set, 1);
	run_counted("spin", "10", NULL);
	EXPECT_EQ(ct.at_init, 12345);
	EXPECT(ct.hrtime > 0);
	EXPECT(ct.at_fini > 12345);
}

CPC_TEST(another_lwp_is_counted)
{
	NEEDS_EXACT_COUNTS();
	count_with(cpc, set_of(cpc, INS_EVENT), 2);
	uint64_t few = run_counted("lwp", "1000", NULL);
	uint64_t many = run_counted("lwp", "3000", NULL);
	expect_2000_turns(few, many);
}

/* CPC-PCTXB-04: another set is bound over the first, with no unbind. */
CPC_TEST(a_set_displaces_another)
{
	count_with(cpc, set_of(cpc, ANY_EVENT), 1);
	ct.other = set_of(cpc, ANY_EVENT);
	run_counted("spin", "10", NULL);
	EXPECT_EQ(ct.sample_errno, 0);
	EXPECT_EQ(ct.unbind, 0);
	EXPECT_ERRNO(
	    cpc_set_sample(cpc, ct.other, cpc_buf_create(cpc, ct.other)),
	    EINVAL);
	EXPECT_EQ(cpc_unbind(cpc, ct.other), 0);
}

/* After exec(2) init_lwp comes again for LWP 1, and the set is bound again. */
CPC_TEST(a_set_is_bound_again_after_exec)
{
	NEEDS_EXACT_COUNTS();
	count_with(cpc, set_of(cpc, INS_EVENT), 1);
	uint64_t plain = run_counted("spin", "1000", NULL);
	uint64_t executed = run_counted("exec", "spin", "1000");
	EXPECT_EQ(ct.sample_errno, 0);
	/* At system privilege the kernel's work after the exec counts, too. */
	if (emulated() && own_privilege() == CPC_COUNT_USER)
		EXPECT_EQ(executed, plain);
	else
		EXPECT(executed >= 1000 * SPIN_INSNS);
}

/* CPC-ENA-06: the target disables the context that the controller bound. */
CPC_TEST(a_target_disables_its_controllers_set)
{
	NEEDS_EXACT_COUNTS();
	count_with(cpc, set_of(cpc, INS_EVENT), 1);
	uint64_t few = run_counted("disable", "1000", NULL);
	EXPECT_EQ(ct.status, 0);
	uint64_t many = run_counted("disable", "3000", NULL);
	EXPECT_EQ(ct.status, 0);
	if (emulated())
		EXPECT_EQ(many, few);
	else
		EXPECT(many - few + 2000 < 4000);
}

/* cpc_count_usr_events(3CPC), Example 1: uncounted until the target asks. */
CPC_TEST(a_target_marks_what_is_counted)
{
	const char *mode = own_privilege() == CPC_COUNT_USER ? "usr" : "sys";
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_EXACT_COUNTS();
	cpc_set_add_request(cpc, set, INS_EVENT, 500, 0, 0, NULL);
	count_with(cpc, set, 1);
	uint64_t few = run_counted("marked", mode, "1000");
	EXPECT_EQ(ct.status, 0);
	EXPECT_EQ(ct.sample_errno, 0);
	uint64_t many = run_counted("marked", mode, "3000");
	EXPECT_EQ(ct.status, 0);
	EXPECT(few >= 500 + 1000 * SPIN_INSNS);
	if (emulated())
		EXPECT_EQ(many - few, 2000 * SPIN_INSNS);
	else
		EXPECT(many - few >= 2000 * SPIN_INSNS);
}

/* A target that binds a set of its own displaces the controller's. */
CPC_TEST(a_target_displaces_its_controllers_set)
{
	count_with(cpc, set_of(cpc, ANY_EVENT), 1);
	run_counted("own", "10", NULL);
	EXPECT_EQ(ct.status, 0);
	EXPECT_EQ(ct.sample_errno, EINVAL);
	EXPECT_EQ(ct.unbind, 0);
}

/* CPC-PCTXB-05 */
CPC_TEST(an_overflow_signals_the_target)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_EXACT_OVERFLOW();
	NEEDS_EXACT_COUNTS();
	cpc_set_add_request(cpc, set, INS_EVENT, UINT64_MAX - 99999,
	    own_privilege() | CPC_OVF_NOTIFY_EMT, 0, NULL);
	count_with(cpc, set, 1);
	run_counted("overflow", "160000", NULL);
	EXPECT_EQ(ct.bind_errno, 0);
	/*
	 * 320,000 instructions of the loop.  At system privilege 32 system
	 * calls count, too, with less than 2,500 instructions each.
	 */
	EXPECT_EQ(ct.status, 3);
}

static int bound_at_tick;

static int
bind_in_tick(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	bound_at_tick = cpc_bind_pctx(ct.cpc, px, id, ct.set, 0);
	return 0;
}

/* CPC-PCTXB-06, and a set that outlives its target. */
CPC_TEST(sets_outlive_their_target)
{
	cpc_set_t *again = set_of(cpc, ANY_EVENT);
	pctx_t *px = target("loop", NULL, NULL);

	REQUIRE(px != NULL);
	count_with(cpc, set_of(cpc, ANY_EVENT), 1);
	EXPECT_EQ(pctx_run(px, 1, 1, bind_in_tick), 0);
	EXPECT_EQ(bound_at_tick, 0);
	EXPECT_EQ(cpc_set_sample(cpc, ct.set, ct.buf), 0);
	EXPECT_EQ(cpc_bind_pctx(cpc, px, 1, again, 0), 0);
	EXPECT_EQ(cpc_bind_pctx(cpc, px, 1, ct.set, 0), 0);
	EXPECT_SILENT(
	    cpc_set_add_request(cpc, ct.set, ANY_EVENT, 0, 0, 0, NULL), EINVAL);
	pctx_release(px);
	EXPECT_ERRNO(cpc_set_sample(cpc, ct.set, ct.buf), EINVAL);
	EXPECT_EQ(cpc_unbind(cpc, ct.set), 0);
	EXPECT_ERRNO(cpc_unbind(cpc, ct.set), EINVAL);
	/* It can be bound elsewhere; the other set is left to cpc_close(). */
	EXPECT_EQ(cpc_bind_curlwp(cpc, ct.set, 0), 0);
	EXPECT_EQ(cpc_unbind(cpc, ct.set), 0);
}

/* A set is bound as one kind at a time. */
CPC_TEST(a_set_leaves_its_target_when_it_is_bound_here)
{
	pctx_t *px = target("loop", NULL, NULL);

	REQUIRE(px != NULL);
	count_with(cpc, set_of(cpc, ANY_EVENT), 1);
	EXPECT_EQ(pctx_run(px, 1, 1, bind_in_tick), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, ct.set, 0), 0);
	EXPECT_EQ(cpc_set_sample(cpc, ct.set, ct.buf), 0);
	EXPECT_EQ(cpc_bind_pctx(cpc, px, 1, ct.set, 0), 0);
	EXPECT_EQ(cpc_set_sample(cpc, ct.set, ct.buf), 0);
	/* The caller's instance went when the target's was made. */
	EXPECT_ERRNO(cpc_enable(cpc), EINVAL);
	EXPECT_EQ(cpc_set_destroy(cpc, ct.set), 0);
	pctx_release(px);
}

static int sample_after_end;

static void
see_gone(pctx_t *px, pid_t pid, id_t id, int status, void *arg)
{
	take_status(px, pid, id, status, arg);
}

/* The target ends with the set bound: ESRCH until the release. */
CPC_TEST(a_target_that_is_gone)
{
	pctx_t *px = target("spin", "10", NULL);

	REQUIRE(px != NULL);
	count_with(cpc, set_of(cpc, ANY_EVENT), 1);
	pctx_set_events(px, PCTX_INIT_LWP_EVENT, bind_here,
	    PCTX_SYSC_EXIT_EVENT, see_gone, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	sample_after_end = cpc_set_sample(cpc, ct.set, ct.buf);
	EXPECT_ERRNO(sample_after_end, ESRCH);
	EXPECT_EQ(cpc_unbind(cpc, ct.set), 0);
	EXPECT_ERRNO(cpc_bind_pctx(cpc, px, 1, ct.set, 0), ESRCH);
	pctx_release(px);
}

/* CPC-PCTXB-02 */
CPC_TEST(what_cannot_be_bound)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT), *empty = cpc_set_create(cpc);
	cpc_set_t *over = cpc_set_create(cpc);
	pctx_t *px = target("sleep", NULL, NULL);

	REQUIRE(px != NULL);
	for (uint_t i = 0; i < cpc_npic(cpc) + 1; i++)
		add(cpc, over, ANY_EVENT);
	EXPECT_SILENT(cpc_bind_pctx(cpc, px, 2, set, 0), ESRCH);
	EXPECT_SILENT(cpc_bind_pctx(cpc, px, 0, set, 0), ESRCH);
	EXPECT_SILENT(cpc_bind_pctx(cpc, px, 1, set, 1), EINVAL);
	EXPECT_SILENT(cpc_bind_pctx(cpc, px, 1, empty, 0), EINVAL);
	EXPECT_SILENT(cpc_bind_pctx(cpc, px, 1, over, 0), EINVAL);
	EXPECT_SILENT(cpc_bind_pctx(cpc, NULL, 1, set, 0), EINVAL);
	EXPECT_SILENT(cpc_bind_pctx(NULL, px, 1, set, 0), EINVAL);
	EXPECT_EQ(cpc_bind_pctx(cpc, px, 1, set, 0), 0);
	pctx_release(px);
}

/* The reason of a refusal goes to the error handler, as for other binds. */
CPC_TEST(a_refusal_is_reported)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_attr_t attr = { "umask", 0x100 };
	pctx_t *px;

	if (cpc_set_add_request(
		cpc, set, ANY_EVENT, 0, CPC_COUNT_USER, 1, &attr) != 0)
		SKIP("this PMU has no umask");
	REQUIRE((px = target("sleep", NULL, NULL)) != NULL);
	EXPECT_REPORTED(cpc_bind_pctx(cpc, px, 1, set, 0), EINVAL,
	    "cpc_bind_pctx", CPC_ATTRIBUTE_OUT_OF_RANGE);
	pctx_release(px);
}

/* CPC-INV-02: while a CPU has a set, no target can be bound. */
CPC_TEST(a_set_of_a_cpu_takes_the_counters)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT), *cpu = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	pctx_t *px = target("sleep", NULL, NULL);

	REQUIRE(px != NULL);
	EXPECT_EQ(cpc_bind_pctx(cpc, px, 1, set, 0), 0);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, cpu, 0), 0);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_SILENT(
	    cpc_bind_pctx(cpc, px, 1, set_of(cpc, ANY_EVENT), 0), EAGAIN);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_EQ(cpc_unbind(cpc, cpu), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(cpc_bind_pctx(cpc, px, 1, set, 0), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	pctx_release(px);
}

/* The forked copy of the controller uses handles that were made before. */
static void
count_child(pctx_t *px, pid_t parent, id_t child, pid_t lwp, void *arg)
{
	int *result = arg;

	pctx_set_events(px, PCTX_INIT_LWP_EVENT, bind_here, PCTX_FINI_LWP_EVENT,
	    sample_here, PCTX_NULL_EVENT);
	ct.bind_errno = ct.sample_errno = ct.unbind = -1;
	if (pctx_run(px, 0, 0, NULL) == 0 && ct.bind_errno == 0 &&
	    ct.sample_errno == 0 && ct.unbind == 0)
		write(result[1], &ct.at_fini, sizeof ct.at_fini);
	close(result[1]);
}

static uint64_t
count_forked(const char *n)
{
	char *argv[] = { "pctx_target", "fork", (char *)n, NULL };
	uint64_t count = 0;
	int result[2];

	if (!EXPECT(pipe(result) == 0))
		return 0;
	pctx_t *px = pctx_create(argv[0], argv, result, 0, pctx_record);
	if (!EXPECT(px != NULL))
		return 0;
	pctx_set_events(px, PCTX_SYSC_FORK_EVENT, count_child, PCTX_NULL_EVENT);
	EXPECT_EQ(pctx_run(px, 0, 0, NULL), 0);
	pctx_release(px);
	close(result[1]);
	EXPECT_EQ(read(result[0], &count, sizeof count), sizeof count);
	close(result[0]);
	waitpid(-1, NULL, 0);
	return count;
}

CPC_TEST(a_copy_of_the_controller_counts_the_child)
{
	NEEDS_EXACT_COUNTS();
	count_with(cpc, set_of(cpc, INS_EVENT), 1);
	uint64_t few = count_forked("1000");
	uint64_t many = count_forked("3000");
	expect_2000_turns(few, many);
}

static int
terminate_in_tick(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	bind_in_tick(px, pid, id, arg);
	cpc_terminate(ct.cpc);
	return 0;
}

CPC_TEST(cpc_terminate_ends_the_run)
{
	pctx_t *px = target("loop", NULL, NULL);

	REQUIRE(px != NULL);
	cpc_terminate(cpc); /* it has bound nothing */
	count_with(cpc, set_of(cpc, ANY_EVENT), 1);
	EXPECT_EQ(pctx_run(px, 1, 0, terminate_in_tick), 0);
	EXPECT_EQ(bound_at_tick, 0);
	pctx_release(px);
}
