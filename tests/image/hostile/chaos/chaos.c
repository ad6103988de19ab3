/*
 * Random system calls with predicted results.  For a given time, some processes
 * of some LWPs each do random acts.  They fork, execute programs, kill each
 * other, and handle and mask signals.  They map and unmap memory, share pipes
 * and descriptors, and wait for each other in every way.  They also run out of
 * memory and move between CPUs.
 *
 *     chaos [MILLISECONDS [SEED [LIFE]]]      of the machine's own clock
 *
 * LIFE is the longest time in milliseconds that a process may live, by default
 * 1,000.  It must be longer if CPUs are slow against the clock, as an
 * emulator's threads are.
 *
 * Each call has the result that the model of its act predicts.  Nothing hangs
 * or leaks, and each process ends in an allowed way.
 */
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <payload.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/processor.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/image/test.h"

#define MILLISECONDS 100
#define NPROC        4
#define MS           1000000LL
#define POLL_MS      2
#define LIFE_MS      1000
#define ENOUGH_MS    1500

TEST_KEEPS(16);

static struct {
	pid_t pid;
	hrtime_t since;
	bool asked; /* it was asked what it is doing */
} procs[NPROC];
static unsigned started, reports;
static hrtime_t life;

static void __attribute__((constructor)) become_process(void)
{
	chaos_become();
}

static void
start_process(unsigned i)
{
	uint64_t seed = chaos_below(UINT64_MAX);

	procs[i].since = gethrtime();
	procs[i].asked = false;
	procs[i].pid = fork();
	if (procs[i].pid == 0)
		chaos_process(seed);
	if (procs[i].pid > 0)
		started++;
	else
		EXPECT(errno == ENOMEM || errno == EAGAIN);
}

static void
note_reports(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct chaos_report r;

	while (poll(&pfd, 1, ms) == 1 &&
	       EXPECT_EQ(read(fd, &r, sizeof r), sizeof r)) {
		if (reports++ < 10)
			test_note("process %d: %s", (int)r.chr_pid, r.chr_text);
		ms = 0;
	}
}

/* A process that hangs reports its LWPs' acts at SIGQUIT, then is killed. */
static void
end_hanging(unsigned i)
{
	hrtime_t late = gethrtime() - procs[i].since - life;

	if (late < 0)
		return;
	if (!procs[i].asked) {
		test_note("process %d hangs", (int)procs[i].pid);
		EXPECT_EQ(kill(procs[i].pid, SIGQUIT), 0);
		procs[i].asked = true;
		reports++;
	} else if (late > ENOUGH_MS * MS / 4) {
		EXPECT_EQ(kill(procs[i].pid, SIGKILL), 0);
	}
}

/* Start a process for each that has ended.  Returns how many there are. */
static unsigned
replace_processes(void)
{
	unsigned n = 0;
	int status;

	for (unsigned i = 0; i < NPROC; i++) {
		if (procs[i].pid > 0 &&
		    waitpid(procs[i].pid, &status, WNOHANG) == procs[i].pid) {
			if (!EXPECT(chaos_end_allowed(status)))
				test_note("process %d: status %#x",
				    (int)procs[i].pid, (unsigned)status);
			procs[i].pid = 0;
		}
		if (procs[i].pid <= 0 && !chaos_over())
			start_process(i);
		if (procs[i].pid > 0)
			end_hanging(i);
		n += procs[i].pid > 0;
	}
	return n;
}

/* Take any CPU but the first offline for a moment.  EBUSY: it is bound. */
static void
take_offline(void)
{
	if (chaos.ch_cpus < 2 || !chaos_one_in(4))
		return;
	int cpu = 1 + (int)chaos_below((unsigned)chaos.ch_cpus - 1);
	if (p_online(cpu, P_OFFLINE) == -1)
		EXPECT_EQ(errno, EBUSY);
	else if (chaos_one_in(2))
		sched_yield();
	EXPECT(p_online(cpu, P_ONLINE) != -1);
}

/* Copies whose parents were killed may still run for a moment. */
static void
wait_for_orphans(int fd)
{
	hrtime_t enough = gethrtime() + ENOUGH_MS * MS + life;
	struct barecpc_stat st;

	while (payload_stat(&st) == 0 && st.bs_lwps > 1) {
		if (!EXPECT(gethrtime() < enough)) {
			test_note("%u LWPs are left", st.bs_lwps - 1);
			kill(-1, SIGKILL);
			enough += ENOUGH_MS * MS;
			if (gethrtime() > enough)
				return;
		}
		note_reports(fd, POLL_MS);
	}
}

static void
prepare_state(int report)
{
	struct barecpc_stat st = { .bs_cpus = 1 };
	long ms = test_argc > 1 ? atol(test_argv[1]) : MILLISECONDS;

	payload_stat(&st);
	chaos = (struct chaos){
		.ch_root = getpid(),
		.ch_pid = getpid(),
		.ch_seed = test_argc > 2 ? strtoull(test_argv[2], NULL, 0) : 1,
		.ch_until = gethrtime() + ms * MS,
		.ch_report = report,
		.ch_cpus = (int)st.bs_cpus,
	};
	chaos_self.chl_random = chaos.ch_seed;
	life = (test_argc > 3 ? atol(test_argv[3]) : LIFE_MS) * MS;
}

TEST(calls_do_what_their_models_say)
{
	int report[2], high;

	REQUIRE(pipe(report) == 0);
	/* A high number, which the acts on descriptors do not touch. */
	high = fcntl(report[1], F_DUPFD, 60);
	close(report[1]);
	prepare_state(high);
	while (replace_processes() > 0) {
		take_offline();
		note_reports(report[0], POLL_MS);
	}
	wait_for_orphans(report[0]);
	note_reports(report[0], 0);
	EXPECT_EQ(reports, 0);
	EXPECT(started > 0);
	test_note("%u processes of seed %" PRIu64, started, chaos.ch_seed);
	close(high);
	close(report[0]);
}
