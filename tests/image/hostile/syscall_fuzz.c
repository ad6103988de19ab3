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
 *
 * On a kernel built with SAN=coverage, with test_hooks=yes, a program that runs
 * kernel code that none ran before is kept, and every other process runs a
 * mutation of a kept one.  A seed then depends on the seeds before it.
 */
#include "tests/image/hostile/chaos/chaos.h"

#include <inttypes.h>
#include <payload.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
 * Programs
 */

#define NKEPT   128
#define CHANGES 8 /* of a mutation, at most */

long syscall(long, ...);

static struct {
	long blocks; /* of the kernel that have run; -1: it does not count */
	unsigned kept, kept_mutations;
	struct chaos_program program[NKEPT];
} coverage;

/* Blocks that ran since the last call of this. */
static long
new_blocks(void)
{
	long before = coverage.blocks;

	coverage.blocks = syscall(BARECPC_SYS_TEST, BARECPC_TEST_COVERAGE);
	return coverage.blocks - before;
}

static unsigned
below(unsigned n)
{
	return (unsigned)chaos_below(n);
}

static void
invent(struct chaos_program *p, unsigned calls)
{
	p->chp_lwps = 2 + below(CHAOS_RAW_LWPS - 1);
	p->chp_calls = calls;
	for (unsigned i = 0; i < p->chp_lwps; i++) {
		for (unsigned n = 0; n < calls; n++)
			p->chp_seed[i][n] = (uint32_t)chaos_below(1ULL << 32);
	}
}

/* Copy some calls of one program over calls of another, or of the same. */
static void
splice_calls(struct chaos_program *to, const struct chaos_program *from)
{
	unsigned calls =
	    to->chp_calls < from->chp_calls ? to->chp_calls : from->chp_calls;
	unsigned n = 1 + below(calls);

	memmove(&to->chp_seed[below(to->chp_lwps)][below(calls - n + 1)],
	    &from->chp_seed[below(from->chp_lwps)][below(calls - n + 1)],
	    n * sizeof to->chp_seed[0][0]);
}

static void
mutate(struct chaos_program *p)
{
	*p = coverage.program[below(coverage.kept)];
	for (unsigned n = 1 + below(CHANGES); n > 0; n--) {
		switch (below(4)) {
		case 0:
			splice_calls(
			    p, &coverage.program[below(coverage.kept)]);
			break;
		case 1:
			splice_calls(p, p);
			break;
		default:
			p->chp_seed[below(p->chp_lwps)][below(p->chp_calls)] =
			    (uint32_t)chaos_below(1ULL << 32);
		}
	}
}

/* When all places are taken, one of them is used again. */
static void
keep(const struct chaos_program *p, bool mutation)
{
	unsigned at = coverage.kept < NKEPT ? coverage.kept++ : below(NKEPT);

	coverage.program[at] = *p;
	coverage.kept_mutations += mutation;
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
	static struct chaos_program program;
	unsigned killed = 0, lwps = 0;
	hrtime_t since = gethrtime();
	uint64_t hash = seed;

	chaos_self.chl_random = seed;
	for (unsigned n = 0; n < processes; n++) {
		bool mutation = coverage.kept > 0 && chaos_one_in(2);
		pid_t pid;
		int status;

		if (mutation)
			mutate(&program);
		else
			invent(&program, calls);
		pid = fork();
		if (pid == 0)
			chaos_raw(&program);
		if (!EXPECT(pid > 0))
			return;
		status = wait_for(pid);
		killed += WIFSIGNALED(status);
		lwps += program.chp_lwps;
		if (coverage.blocks >= 0 && new_blocks() > 0)
			keep(&program, mutation);
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
	unsigned calls = argument(4, 100);
	long at_start;
	struct barecpc_stat st = { .bs_cpus = 1 };

	payload_stat(&st);
	chaos.ch_root = chaos.ch_pid = getpid();
	chaos.ch_cpus = (int)st.bs_cpus;
	chaos.ch_report = -1;
	witness_begin();
	if (calls < 1 || calls > CHAOS_RAW_CALLS)
		calls = CHAOS_RAW_CALLS;
	new_blocks();
	at_start = coverage.blocks;
	for (unsigned n = 0; n < seeds; n++)
		run_seed(seed + n, argument(3, 8), calls);
	witness_end();
	if (coverage.blocks >= 0)
		test_note("coverage: %ld basic blocks before the calls, %ld "
			  "after, %u programs kept, %u of them mutations",
		    at_start, coverage.blocks, coverage.kept,
		    coverage.kept_mutations);
	if (witness.looks > 0)
		test_note("the witness looked %u times", witness.looks);
}
