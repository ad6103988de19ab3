/*
 * Conservation: in random mixes of LWPs every count is the number of
 * instructions its LWP ran, and all of them together are the witness's.
 *
 *     conserve [FIRST [LAST]]      the mixes of these seeds
 *
 * There is no tolerance, since there is nothing that is not known: scripts
 * run instructions that were written by hand (tests/image/script.h), and
 * system calls run none at user privilege.
 */
#include "tests/image/mix.h"
#include "tests/image/test.h"

#include <inttypes.h>
#include <payload.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LAST  20 /* seeds are 1 to this, where nobody says otherwise */
#define TOLD  5  /* so many that are wrong are told of */
#define EVENT "PAPI_tot_ins"

static struct mix mix;
static struct mix_machine machine;
static uint64_t samples, counted;
static unsigned told;

static bool
learn_machine(void)
{
	struct barecpc_stat st;

	if (payload_stat(&st) != 0 || pipe(machine.mm_pipe) != 0)
		return false;
	machine.mm_ncpu = st.bs_cpus;
	return cpc_syscall(CPC_OP_EVENT, (uintptr_t)EVENT, 0, 0,
		   (uintptr_t)&machine.mm_ins) == 0;
}

static bool
result_is(long result, long want)
{
	return want == MIX_ANY ||
	       (want == MIX_DONE ? result >= 0 : result == want);
}

/* True where there is nothing to tell. */
static bool
check_values(const struct mix_want *want, const struct mix_sample *s)
{
	bool good = true;

	samples++;
	for (unsigned i = 0; i < MIX_REQS; i++) {
		if ((want->mw_compare >> i & 1) != 0 &&
		    s->ms_value[i] != want->mw_value[i]) {
			test_note("request %u reads %" PRIu64 ", not %" PRIu64,
			    i, s->ms_value[i], want->mw_value[i]);
			good = false;
		}
	}
	return good;
}

static void
check_op(uint64_t seed, unsigned lwp, unsigned n)
{
	const struct mix_lwp *l = &mix.mx_lwps[lwp];
	const struct mix_want *want = &l->ml_wants[n];
	bool good = true;

	if (!result_is(l->ml_results[n], want->mw_result)) {
		test_note(
		    "result %ld, not %ld", l->ml_results[n], want->mw_result);
		good = false;
	}
	if (want->mw_compare != 0)
		good = check_values(want, want->mw_sample) && good;
	if (!good && told++ < TOLD)
		test_note("that was seed %" PRIu64 ", LWP %u, op %u: %s", seed,
		    lwp, n, want->mw_name);
	EXPECT(good);
}

/* Of a child process only its last sample is known here. */
static void
check_process(const struct mix_report *mr)
{
	const struct mix_lwp *l = &mix.mx_lwps[mr->mr_lwp % MIX_LWPS];
	unsigned n = l->ml_nops;

	while (n > 0 && l->ml_wants[n].mw_sample != &l->ml_report.mr_sample)
		n--;
	if (!EXPECT(check_values(&l->ml_wants[n], &mr->mr_sample)))
		test_note("that was child process %u", (unsigned)mr->mr_lwp);
}

static unsigned
reports_due(void)
{
	unsigned due = 0;

	for (unsigned i = 1; i < mix.mx_nlwp; i++)
		due += mix.mx_lwps[i].ml_report.mr_lwp != 0;
	return due;
}

static void
run_seed(uint64_t seed)
{
	struct mix_report mr;

	mix_make(&mix, seed, &machine);
	script_run(mix.mx_lwps[0].ml_ops);
	for (unsigned i = 1; i < mix.mx_nlwp; i++) {
		/* Whatever woke the wait. */
		while (*(volatile int *)&mix.mx_lwps[i].ml_alive != 0)
			sched_yield();
	}
	for (unsigned i = 0; i < mix.mx_nlwp; i++) {
		for (unsigned n = 0;
		     n < mix.mx_lwps[i].ml_nops && !mix.mx_lwps[i].ml_process;
		     n++)
			check_op(seed, i, n);
	}
	for (unsigned n = reports_due(); n > 0; n--) {
		if (EXPECT_EQ(
			read(machine.mm_pipe[0], &mr, sizeof mr), sizeof mr))
			check_process(&mr);
	}
	counted += mix.mx_counted;
}

static bool
witness(struct barecpc_witness *bw)
{
	return syscall(BARECPC_SYS_WITNESS, bw) == 0;
}

/* CPC-CTX-01, CPC-CTX-02, CPC-CTX-03, CPC-INH-01, CPC-INH-09, CPC-FORK-02 */
TEST(every_lwp_counts_what_it_ran)
{
	uint64_t first = test_argc > 1 ? strtoul(test_argv[1], NULL, 0) : 1;
	uint64_t last = test_argc > 2 ? strtoul(test_argv[2], NULL, 0) : LAST;
	struct barecpc_witness before, after;

	if (!learn_machine())
		SKIP("this machine does not count " EVENT);
	if (payload_privilege() == PAYLOAD_SYSTEM)
		SKIP("scripts count at user privilege");
	if (!witness(&before))
		memset(&before, 0, sizeof before);
	for (uint64_t seed = first; seed <= last; seed++)
		run_seed(seed);
	EXPECT(samples >= last - first);
	close(machine.mm_pipe[0]);
	close(machine.mm_pipe[1]);
	if (!witness(&after))
		SKIP("nothing to compare the sums with: boot with witness=1");
	test_note("%" PRIu64 " samples; %" PRIu64 " instructions of LWPs",
	    samples, counted);
	if (after.bw_flags == CPC_COUNT_USER)
		EXPECT_EQ(after.bw_lwps - before.bw_lwps, counted);
	EXPECT_EQ(
	    after.bw_count, after.bw_lwps + after.bw_unowned + after.bw_idle);
	EXPECT_EQ(after.bw_wrong, 0);
}
