/*
 * System calls at random leave a kernel: whatever they do to the process that
 * makes them, they do it to no other, nothing is left behind, and the counts
 * of the process that looks on stay exact.
 *
 *     syscall_fuzz [SEED [SEEDS [PROCESSES [CALLS]]]]
 *
 * For each of so many seeds from SEED on, so many processes of 2 to 6 LWPs,
 * each of which makes so many calls.  A seed is a run: with -icount and one
 * CPU it is the same each time, which its line says by a number.
 */
#include "tests/image/hostile/chaos/chaos.h"

#include <inttypes.h>
#include <payload.h>
#include <stdlib.h>
#include <sys/processor.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/lib/image/cpc_test.h"

#define MS        1000000LL
#define LIFE      (20 * MS) /* of a process; then it is ended */
#define ENOUGH_MS 1500
#define TURNS     1000 /* of the loop whose instructions are known */

/* The C library's heap, and page tables. */
TEST_KEEPS(64);

/*
 * The witness
 */

static struct witness {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *buf;
	bool bound;
	uint64_t exact; /* what a look counts */
	unsigned looks;
} witness;

static bool
sample_frozen(uint64_t *value)
{
	return cpc_set_sample(witness.cpc, witness.set, witness.buf) == 0 &&
	       cpc_buf_get(witness.cpc, witness.buf, 0, value) == 0;
}

/* Counts of the loop, and of a call on either side; false: others count. */
static bool
look(uint64_t *count)
{
	uint64_t before, after;

	if (!witness.bound && cpc_bind_curlwp(witness.cpc, witness.set, 0) != 0)
		return false;
	witness.bound = cpc_disable(witness.cpc) == 0 &&
	                sample_frozen(&before) && cpc_enable(witness.cpc) == 0;
	if (witness.bound) {
		spin_loop(TURNS);
		witness.bound = cpc_disable(witness.cpc) == 0 &&
		                sample_frozen(&after) &&
		                cpc_enable(witness.cpc) == 0;
	}
	if (!witness.bound) {
		cpc_unbind(witness.cpc, witness.set);
		return false;
	}
	*count = after - before;
	return true;
}

static void
witness_begin(void)
{
	if ((witness.cpc = test_cpc_open()) == NULL)
		return;
	if (software_pmu || !have_event(witness.cpc, INS_EVENT) ||
	    counts_all_cpus(witness.cpc) || !emulated()) {
		cpc_close(witness.cpc);
		witness.cpc = NULL;
		return;
	}
	witness.set = set_of(witness.cpc, INS_EVENT);
	witness.buf = cpc_buf_create(witness.cpc, witness.set);
	EXPECT(look(&witness.exact) && look(&witness.exact));
	EXPECT(witness.exact > SPIN_INSNS * TURNS);
}

static void
witness_look(void)
{
	uint64_t count;

	if (witness.cpc == NULL || !look(&count))
		return;
	witness.looks++;
	EXPECT_EQ(count, witness.exact);
}

static void
witness_end(void)
{
	if (witness.cpc == NULL)
		return;
	EXPECT(witness.looks > 0);
	cpc_close(witness.cpc);
}

/*
 * Processes
 */

/* One that sleeps, or runs for ever, is ended: calls may lead there. */
static int
wait_for(pid_t pid)
{
	hrtime_t since = gethrtime();
	struct timespec moment = { 0, 100000 };
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (gethrtime() - since > LIFE)
			kill(pid, SIGKILL);
		if (!EXPECT(gethrtime() - since < LIFE + ENOUGH_MS * MS))
			return -1;
		witness_look();
		nanosleep(&moment, NULL);
	}
	for (int cpu = 0; cpu < chaos.ch_cpus; cpu++)
		p_online(cpu, P_ONLINE);
	return status;
}

/* What the processes forked goes, too. */
static void
end_others(void)
{
	struct timespec moment = { 0, 1000000 };
	struct barecpc_stat st;

	for (unsigned n = 0; n < ENOUGH_MS; n++) {
		kill(-1, SIGKILL);
		if (payload_stat(&st) != 0 || st.bs_lwps == 1)
			return;
		nanosleep(&moment, NULL);
	}
	EXPECT(!"the others end");
}

static void
run_seed(uint64_t seed, unsigned processes, unsigned calls)
{
	unsigned killed = 0, lwps = 0;
	hrtime_t since = gethrtime();
	uint64_t hash = seed;

	chaos_self.chl_random = seed;
	for (unsigned n = 0; n < processes; n++) {
		uint64_t own = chaos_below(UINT64_MAX);
		unsigned nlwp = 2 + (unsigned)chaos_below(CHAOS_RAW_LWPS - 1);
		pid_t pid = fork();
		int status;

		if (pid == 0)
			chaos_raw(own, nlwp, calls);
		if (!EXPECT(pid > 0))
			return;
		status = wait_for(pid);
		killed += WIFSIGNALED(status);
		lwps += nlwp;
		hash = (hash ^ (unsigned)status) * 0x100000001b3;
		hash = (hash ^ (uint64_t)(gethrtime() - since)) * 0x100000001b3;
	}
	end_others();
	test_note("seed %" PRIu64 ": %u processes, %u LWPs of %u calls, "
		  "%u ended by a signal, run %016" PRIx64,
	    seed, processes, lwps, calls, killed, hash);
}

static unsigned
argument(int n, unsigned otherwise)
{
	return test_argc > n ? (unsigned)strtoul(test_argv[n], NULL, 0)
	                     : otherwise;
}

TEST(random_calls_leave_a_kernel)
{
	unsigned seed = argument(1, 1), seeds = argument(2, 1);
	struct barecpc_stat st = { .bs_cpus = 1 };

	payload_stat(&st);
	chaos.ch_root = chaos.ch_pid = getpid();
	chaos.ch_cpus = (int)st.bs_cpus;
	chaos.ch_report = -1;
	witness_begin();
	for (unsigned n = 0; n < seeds; n++)
		run_seed(seed + n, argument(3, 8), argument(4, 100));
	witness_end();
	if (witness.looks > 0)
		test_note("the witness looked %u times", witness.looks);
}
