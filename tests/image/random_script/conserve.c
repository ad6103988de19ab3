/*
 * Conservation: in random mixes of LWPs each count is the number of
 * instructions that its LWP ran.  The sum of all counts equals the count of the
 * kernel's witness.
 *
 *     conserve [FIRST [LAST]]      the mixes of these seeds
 *
 * There is no tolerance, because every instruction is known.  Scripts and
 * handlers are written by hand (tests/image/random_script/script.h), and system
 * calls run no instruction at user privilege.
 *
 * At the kernel's privilege its own instructions are counted too, and their
 * number is unknown (mxm_own of mix.h).  These facts still hold there:
 * - User counts stay where they began.
 * - Other counts have at least what the script ran.
 * - Requests that stopped together have counted the same.
 * - The kernel's witness saw what all LWPs counted.
 */
#include <inttypes.h>
#include <payload.h>
#include <stdlib.h>
#include <string.h>
#include <sys/barecpc.h>
#include <unistd.h>

#include "tests/image/random_script/mix.h"
#include "tests/lib/image/test.h"

#define LAST 20 /* without arguments, the seeds are 1 to LAST */

static bool
read_witness(struct barecpc_witness *bw)
{
	memset(bw, 0, sizeof *bw);
	return syscall(BARECPC_SYS_WITNESS, bw) == 0;
}

/*
 * CPC-CTX-01, CPC-CTX-02, CPC-CTX-03, CPC-INH-01, CPC-INH-08, CPC-INH-09,
 * CPC-FORK-02, CPC-EXEC-01, CPC-OVF-06, CPC-OVF-07, CPC-OVF-12
 */
TEST(every_lwp_counts_what_it_ran)
{
	uint64_t seed = test_argc > 1 ? strtoul(test_argv[1], NULL, 0) : 1;
	uint64_t last = test_argc > 2 ? strtoul(test_argv[2], NULL, 0) : LAST;
	struct barecpc_witness before, after;
	uint64_t samples = 0, counted = 0, execs = 0;
	uint64_t signals = 0, overflows = 0, ran;
	struct mix_machine machine;
	static struct mix mix;

	if (!mix_machine_learn(&machine))
		SKIP("this machine does not count instructions");
	read_witness(&before);
	for (; seed <= last; seed++) {
		samples += mix_run(&mix, seed, &machine, false);
		counted += mix.mx_sums.sum_counted;
		execs += mix.mx_sums.sum_execs;
		signals += mix.mx_sums.sum_signals;
		overflows += mix.mx_sums.sum_overflows;
	}
	EXPECT(samples > 0);
	test_note("%" PRIu64 " samples; %" PRIu64 " instructions of LWPs",
	    samples, counted);
	test_note("%" PRIu64 " programs executed, %" PRIu64 " signals, %" PRIu64
		  " overflows",
	    execs, signals, overflows);
	if (!read_witness(&after))
		SKIP("needs witness=1, with which to compare the sums");
	/* A set's first request counts the same event as the witness. */
	ran = after.bw_lwps - before.bw_lwps;
	if (after.bw_flags == machine.mxm_own &&
	    machine.mxm_own == CPC_COUNT_USER)
		EXPECT_EQ(ran, counted);
	else if (after.bw_flags == machine.mxm_own)
		EXPECT(ran >= counted);
	EXPECT_EQ(
	    after.bw_count, after.bw_lwps + after.bw_unowned + after.bw_idle);
	EXPECT_EQ(after.bw_wrong, 0);
}
