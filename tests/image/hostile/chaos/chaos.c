/*
 * System calls at random: for as long as the argument says, some processes at
 * a time, of some LWPs each, fork, execute programs, end each other, handle
 * and mask signals, map and unmap, share pipes and descriptors, wait for each
 * other in every way there is, run out of memory, and move from CPU to CPU.
 *
 *     chaos [MILLISECONDS [SEED [LIFE]]]      of the machine's own clock
 *
 * LIFE is how long a process takes at most, 1,000 if it does not hang; more
 * where CPUs are slow against the clock, as an emulator's threads are.
 * What they find must be what the model of each act says; nothing hangs, every
 * process ends in a way somebody has asked for, and nothing is left behind.
 */
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <payload.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/wait.h>
#include <time.h>
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
	bool asked; /* what it is doing */
} procs[NPROC];
static unsigned started, reports;
static hrtime_t life;

static void __attribute__((constructor)) be(void)
{
	chaos_be();
}

static void
start(unsigned i)
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
listen_for(int fd, int ms)
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

/*
 * What hangs is asked what it is at, which its handler of SIGQUIT says, and
 * then ended.
 */
static void
end_who_hangs(unsigned i)
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

/* Others take the place of those that have ended; how many there are. */
static unsigned
replace(void)
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
			start(i);
		if (procs[i].pid > 0)
			end_who_hangs(i);
		n += procs[i].pid > 0;
	}
	return n;
}

/* Any CPU but the first.  EBUSY: an LWP is bound to it. */
static void
take_offline(void)
{
	int cpu;

	if (chaos.ch_cpus < 2 || !chaos_one_in(4))
		return;
	cpu = 1 + (int)chaos_below((unsigned)chaos.ch_cpus - 1);
	if (p_online(cpu, P_OFFLINE) == -1)
		EXPECT_EQ(errno, EBUSY);
	else if (chaos_one_in(2))
		sched_yield();
	EXPECT(p_online(cpu, P_ONLINE) != -1);
}

/* Copies whose parents were ended go on by themselves for a moment. */
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
		listen_for(fd, POLL_MS);
	}
}

static void
prepare(int report)
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
	/* Out of the way of descriptors that come and go. */
	high = fcntl(report[1], F_DUPFD, 60);
	close(report[1]);
	prepare(high);
	while (replace() > 0) {
		take_offline();
		listen_for(report[0], POLL_MS);
	}
	wait_for_orphans(report[0]);
	listen_for(report[0], 0);
	EXPECT_EQ(reports, 0);
	EXPECT(started > 0);
	test_note("%u processes of seed %" PRIu64, started, chaos.ch_seed);
	close(high);
	close(report[0]);
}
