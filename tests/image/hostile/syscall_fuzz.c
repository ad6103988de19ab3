/*
 * Random system calls do not break the kernel.  They may damage the process
 * that makes them, but no other process.  Nothing leaks, and the counts of the
 * test's own process stay exact.
 *
 *     syscall_fuzz [SEED [SEEDS [PROCESSES [CALLS]]]]
 *
 * There are SEEDS runs, with seeds from SEED on.  Each run has PROCESSES
 * processes of 2 to 6 LWPs, and each LWP makes CALLS calls.  With -icount and
 * one CPU a seed always gives the same run.  The number at the end of its note
 * is a hash of the run.
 *
 * A kernel built with SAN=coverage and booted with test_hooks=yes counts the
 * blocks of code that have run.  The test then keeps programs that run new
 * blocks.  Every other process runs a mutation of a kept program.  So a run
 * also depends on the seeds before it.
 */
#include "tests/image/hostile/chaos/chaos.h"

#include <inttypes.h>
#include <payload.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/image/cpc_test.h"

#define MS        1000000LL
#define LIFE      (20 * MS) /* of a process, which is then killed */
#define ENOUGH_MS 1500
#define TURNS     1000 /* of the loop with a known number of instructions */

/* The C library's heap, and page tables. */
TEST_KEEPS(64);

/* The witness: a known loop, counted again and again in this process. */

static struct witness {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *buf;
	bool bound;
	uint64_t exact; /* the count of the loop */
	unsigned checks;
} witness;

static bool
sample_frozen(uint64_t *value)
{
	return cpc_set_sample(witness.cpc, witness.set, witness.buf) == 0 &&
	       cpc_buf_get(witness.cpc, witness.buf, 0, value) == 0;
}

/* Count the loop between two calls.  False: the counters were taken. */
static bool
count_loop(uint64_t *count)
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
	    !emulated()) {
		cpc_close(witness.cpc);
		witness.cpc = NULL;
		return;
	}
	witness.set = set_of(witness.cpc, INS_EVENT);
	witness.buf = cpc_buf_create(witness.cpc, witness.set);
	EXPECT(count_loop(&witness.exact) && count_loop(&witness.exact));
	EXPECT(witness.exact > SPIN_INSNS * TURNS);
}

static void
witness_check(void)
{
	uint64_t count;

	if (witness.cpc == NULL || !count_loop(&count))
		return;
	witness.checks++;
	EXPECT_EQ(count, witness.exact);
}

static void
witness_end(void)
{
	if (witness.cpc == NULL)
		return;
	EXPECT(witness.checks > 0);
	cpc_close(witness.cpc);
}

/* Programs: the seeds of all calls of a process */

#define NKEPT   128
#define CHANGES 8 /* in a mutation, at most */

long syscall(long, ...);

static struct {
	long blocks; /* blocks of the kernel that have run; -1: not counted */
	unsigned kept, kept_mutations;
	struct chaos_program program[NKEPT];
} coverage;

/* The number of blocks that ran first since the last call of this function. */
static long
new_blocks(void)
{
	long before = coverage.blocks;

	coverage.blocks = syscall(BARECPC_SYS_TEST, BARECPC_TEST_COVERAGE);
	return coverage.blocks - before;
}

static unsigned
random_below(unsigned n)
{
	return (unsigned)chaos_below(n);
}

static void
invent_program(struct chaos_program *p, unsigned calls)
{
	p->chp_lwps = 2 + random_below(CHAOS_RAW_LWPS - 1);
	p->chp_calls = calls;
	for (unsigned i = 0; i < p->chp_lwps; i++) {
		for (unsigned n = 0; n < calls; n++)
			p->chp_seed[i][n] = (uint32_t)chaos_below(1ULL << 32);
	}
}

/* Copy some calls of one program over calls of another or of itself. */
static void
splice_calls(struct chaos_program *to, const struct chaos_program *from)
{
	unsigned calls =
	    to->chp_calls < from->chp_calls ? to->chp_calls : from->chp_calls;
	unsigned n = 1 + random_below(calls);

	memmove(&to->chp_seed[random_below(to->chp_lwps)]
			     [random_below(calls - n + 1)],
	    &from->chp_seed[random_below(from->chp_lwps)]
			   [random_below(calls - n + 1)],
	    n * sizeof to->chp_seed[0][0]);
}

static void
mutate_program(struct chaos_program *p)
{
	*p = coverage.program[random_below(coverage.kept)];
	for (unsigned n = 1 + random_below(CHANGES); n > 0; n--) {
		switch (random_below(4)) {
		case 0:
			splice_calls(
			    p, &coverage.program[random_below(coverage.kept)]);
			break;
		case 1:
			splice_calls(p, p);
			break;
		default:
			p->chp_seed[random_below(p->chp_lwps)][random_below(
			    p->chp_calls)] = (uint32_t)chaos_below(1ULL << 32);
		}
	}
}

/* When all places are taken, replace a random program. */
static void
keep_program(const struct chaos_program *p, bool mutation)
{
	unsigned at =
	    coverage.kept < NKEPT ? coverage.kept++ : random_below(NKEPT);

	coverage.program[at] = *p;
	coverage.kept_mutations += mutation;
}

/*
 * Processes
 */

/* Wait for a process; kill it after LIFE, for it may sleep for ever. */
static int
wait_or_kill(pid_t pid)
{
	hrtime_t since = gethrtime();
	struct timespec moment = { 0, 100000 };
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (gethrtime() - since > LIFE)
			kill(pid, SIGKILL);
		if (!EXPECT(gethrtime() - since < LIFE + ENOUGH_MS * MS))
			return -1;
		witness_check();
		nanosleep(&moment, NULL);
	}
	for (int cpu = 0; cpu < chaos.ch_cpus; cpu++)
		p_online(cpu, P_ONLINE);
	return status;
}

/* Kill the processes that the programs forked. */
static void
kill_others(void)
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

		if (mutation)
			mutate_program(&program);
		else
			invent_program(&program, calls);
		pid_t pid = fork();
		if (pid == 0)
			chaos_raw(&program);
		if (!EXPECT(pid > 0))
			return;
		int status = wait_or_kill(pid);
		killed += WIFSIGNALED(status);
		lwps += program.chp_lwps;
		if (coverage.blocks >= 0 && new_blocks() > 0)
			keep_program(&program, mutation);
		hash = (hash ^ (unsigned)status) * 0x100000001b3;
		hash = (hash ^ (uint64_t)(gethrtime() - since)) * 0x100000001b3;
	}
	kill_others();
	test_note("seed %" PRIu64 ": %u processes, %u LWPs of %u calls, "
		  "%u ended by a signal, run %016" PRIx64,
	    seed, processes, lwps, calls, killed, hash);
}

static unsigned
number_argument(int n, unsigned otherwise)
{
	return test_argc > n ? (unsigned)strtoul(test_argv[n], NULL, 0)
	                     : otherwise;
}

TEST(random_calls_do_not_break_the_kernel)
{
	unsigned seed = number_argument(1, 1), seeds = number_argument(2, 1);
	unsigned calls = number_argument(4, 100);
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
		run_seed(seed + n, number_argument(3, 8), calls);
	witness_end();
	if (coverage.blocks >= 0)
		test_note("coverage: %ld basic blocks before the calls, %ld "
			  "after, %u programs kept, %u of them mutations",
		    at_start, coverage.blocks, coverage.kept,
		    coverage.kept_mutations);
	if (witness.checks > 0)
		test_note("the witness checked %u times", witness.checks);
}
