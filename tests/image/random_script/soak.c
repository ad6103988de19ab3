/*
 * A soak: more than 200 LWPs of ten processes use counters at once for a given
 * time.  They bind sets, sample, restart, freeze, sleep, move and take overflow
 * signals.  They also create LWPs that inherit, fork, execute programs and
 * exit.  Each that exits is replaced.  For part of the time some LWPs take all
 * counters of a CPU, and CPUs go offline.
 *
 *     soak [MILLISECONDS [SEED]]      of the machine's own clock
 *
 * An LWP counts exactly what it ran until it notices that its counters are
 * gone.  Nothing hangs, nothing leaks, and the witness agrees in every window.
 */
#include "tests/image/random_script/soak.h"

#include <errno.h>
#include <inttypes.h>
#include <payload.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/barecpc.h>
#include <sys/processor.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/image/cpc_test.h"

#define MILLISECONDS 200
#define NPROC        10
#define NMIXES       4 /* of these run mixes */
#define LIVE         200
#define POLL_MS      2
#define ENOUGH_NS    1000000000 /* to end, after so_until */

TEST_KEEPS(16);

static pid_t pids[NPROC];
static struct soak_sums sums;
static unsigned offline; /* how often a CPU went offline */

static void __attribute__((constructor)) become_process(void)
{
	soak_become();
}

static void
start_process(unsigned i)
{
	struct soak_exec ex;

	soak_describe(&ex, i < NMIXES ? SOAK_MIXES : SOAK_COUNTS, soak.so_seed);
	soak.so_seed += 1000000007;
	pids[i] = fork();
	EXPECT(pids[i] >= 0);
	if (pids[i] == 0) {
		execve(SOAK_PROGRAM, ex.ex_argv, ex.ex_env);
		_exit(1);
	}
}

/* Add up reports of ended processes.  Wait up to ms for the first. */
static void
add_reports(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct soak_sums said;

	while (poll(&pfd, 1, ms) == 1 &&
	       EXPECT_EQ(read(fd, &said, sizeof said), sizeof said)) {
		for (unsigned i = 0; i < SOAK_SUMS; i++)
			((uint64_t *)&sums)[i] += ((uint64_t *)&said)[i];
		ms = 0;
	}
}

/* Start a process for each that has ended.  Returns how many there are. */
static unsigned
replace_processes(void)
{
	unsigned n = 0;
	int status;

	for (unsigned i = 0; i < NPROC; i++) {
		if (pids[i] <= 0)
			continue;
		if (waitpid(pids[i], &status, WNOHANG) == pids[i]) {
			pids[i] = 0;
			EXPECT_EQ(status, 0);
			if (gethrtime() < soak.so_until)
				start_process(i);
		}
		n += pids[i] > 0;
	}
	return n;
}

/* Take any CPU but the first offline for a time.  EBUSY: it is bound. */
static void
take_offline(uint64_t *random)
{
	int cpu = 1 + (int)soak_below(random, soak.so_machine.mxm_ncpu - 1);

	if (p_online(cpu, P_OFFLINE) == -1) {
		EXPECT_EQ(errno, EBUSY);
		return;
	}
	soak_doze(500);
	EXPECT_EQ(p_online(cpu, P_ONLINE), P_OFFLINE);
	offline++;
}

/* The most LWPs that lived at a time. */
static uint64_t most_lwps;

static void
count_lwps(void)
{
	struct barecpc_stat st;

	if (payload_stat(&st) == 0 && st.bs_lwps > most_lwps)
		most_lwps = st.bs_lwps;
}

/* Kill processes that hang, whose status fails the test. */
static void
kill_hanging(void)
{
	if (gethrtime() < soak.so_until + ENOUGH_NS)
		return;
	for (unsigned i = 0; i < NPROC; i++) {
		if (pids[i] > 0 && kill(pids[i], SIGKILL) == 0)
			test_note("process %d hangs", (int)pids[i]);
	}
}

static void
watch_processes(int fd)
{
	uint64_t random = soak.so_seed;

	while (replace_processes() > 0) {
		kill_hanging();
		add_reports(fd, POLL_MS);
		count_lwps();
		if (soak.so_machine.mxm_ncpu > 1 && soak_storm())
			take_offline(&random);
	}
	add_reports(fd, 0);
}

/* Copies and programs whose parents have ended may still run. */
static void
wait_for_orphans(void)
{
	hrtime_t enough = gethrtime() + ENOUGH_NS;
	struct barecpc_stat st;

	while (payload_stat(&st) == 0 && st.bs_lwps > 1) {
		if (!EXPECT(gethrtime() < enough))
			return;
		soak_doze(1000);
	}
}

static void
expect_sums(void)
{
	EXPECT(most_lwps >= LIVE);
	EXPECT(sums.sos_exact + sums.sos_lost > sums.sos_rounds);
	EXPECT(sums.sos_taken > 0 && sums.sos_lost > 0);
	EXPECT(sums.sos_forks + sums.sos_spawned > 0);
	EXPECT((sums.sos_ovf > 0) == soak.so_known.sok_ovf);
	test_note("%" PRIu64 " LWPs in all, at most %" PRIu64
		  " at a time, of %" PRIu64 " processes; %" PRIu64
		  " forked, %" PRIu64 " spawned",
	    sums.sos_lwps, most_lwps, sums.sos_processes, sums.sos_forks,
	    sums.sos_spawned);
	test_note("%" PRIu64 " rounds: %" PRIu64 " counts were exact, %" PRIu64
		  " overflows; %" PRIu64 " found their counters gone",
	    sums.sos_rounds, sums.sos_exact, sums.sos_ovf, sums.sos_lost);
	test_note("CPUs taken %" PRIu64 " times, offline %u", sums.sos_taken,
	    offline);
}

static void
expect_witness(void)
{
	struct barecpc_witness bw;

	if (syscall(BARECPC_SYS_WITNESS, &bw) != 0)
		SKIP("needs witness=1, with which to compare the sums");
	EXPECT(bw.bw_lwps > 0);
	EXPECT_EQ(bw.bw_count, bw.bw_lwps + bw.bw_unowned + bw.bw_idle);
	EXPECT_EQ(bw.bw_wrong, 0);
}

/*
 * CPC-CTX-05, CPC-INV-01, CPC-INV-02, CPC-INV-03, CPC-INV-05, CPC-CPU-08,
 * CPC-INH-01, CPC-FORK-02, CPC-EXEC-01
 */
TEST(counts_are_exact_until_they_are_taken_away)
{
	long ms = test_argc > 1 ? atol(test_argv[1]) : MILLISECONDS;
	int report[2];

	if (payload_privilege() == PAYLOAD_SYSTEM)
		SKIP("scripts count at user privilege");
	if (!mix_machine_learn(&soak.so_machine) || !soak_learn_window())
		SKIP("this machine does not count instructions");
	soak_learn_ovf();
	REQUIRE(pipe(report) == 0);
	soak.so_seed = test_argc > 2 ? strtoull(test_argv[2], NULL, 0) : 1;
	soak.so_until = gethrtime() + (hrtime_t)ms * 1000000;
	soak.so_report = report[1];
	for (unsigned i = 0; i < NPROC; i++)
		start_process(i);
	watch_processes(report[0]);
	wait_for_orphans();
	expect_sums();
	close(report[0]);
	close(report[1]);
	expect_witness();
}
