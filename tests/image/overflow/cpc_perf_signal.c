/*
 * perf_event_open(2): each end of a period sends a signal, and nothing is lost.
 */
#define _GNU_SOURCE /* F_SETSIG, gettid() */
#include "tests/lib/image/perf.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>

#define LATE 64 /* instructions after the last of a period, on x86 */
#define SIG  (SIGRTMIN + 2)

TEST_KEEPS(32);

static volatile int hits;
static siginfo_t last;

static void
on_period(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
	last = *si;
	hits++;
}

/* A disabled group: a period's event, for which signals come, and another. */
static void
open_group(int fd[2], uint64_t period)
{
	struct f_owner_ex self = { F_OWNER_TID, gettid() };
	struct sigaction sa = { .sa_flags = SA_SIGINFO };
	struct attr attr = attr_of(HARDWARE, INSTRUCTIONS, OF_GROUP);

	attr.sample_type = SAMPLE_IP;
	attr.period = period;
	fd[0] = perf_open(attr, -1);
	attr.period = 0;
	attr.flags &= ~(uint64_t)DISABLED;
	fd[1] = perf_open(attr, fd[0]);
	sa.sa_sigaction = on_period;
	sigaction(SIG, &sa, NULL);
	EXPECT_EQ(fcntl(fd[0], F_SETFL, O_ASYNC), 0);
	EXPECT_EQ(fcntl(fd[0], F_GETFL), O_RDWR | O_ASYNC);
	EXPECT_EQ(fcntl(fd[0], F_SETOWN_EX, &self), 0);
	EXPECT_EQ(fcntl(fd[0], F_SETSIG, SIG), 0);
}

CPC_TEST(each_period_sends_a_signal)
{
	static const uint64_t periods[] = { 10000, 5000, 777 };
	uint64_t v[3], before = 0;
	int fd[2], want = 0;

	NEEDS_USER_INSTRUCTIONS();
	NEEDS_EXACT_OVERFLOW();
	open_group(fd, 1);
	for (int n = 1; n <= 3; n++) {
		uint64_t period = periods[n - 1];

		EXPECT_EQ(ioctl(fd[0], IOC_PERIOD, &period), 0);
		EXPECT_EQ(ioctl(fd[0], IOC_REFRESH, n), 0);
		spin(20000);
		EXPECT_EQ(hits, want += n);
		EXPECT(last.si_fd == fd[0] && last.si_signo == SIG);
		EXPECT(last.si_code == POLL_HUP && last.si_band == 0x18);
		EXPECT_EQ(read(fd[0], v, sizeof v), sizeof v);
		EXPECT_EQ(v[1], v[2]);
		EXPECT(v[1] - before - (uint64_t)n * period < LATE);
		before = v[1];
	}
	/* Without a limit. */
	EXPECT_EQ(ioctl(fd[0], IOC_PERIOD, &periods[2]), 0);
	EXPECT_EQ(ioctl(fd[0], IOC_ENABLE, 0), 0);
	spin(20000);
	EXPECT_EQ(ioctl(fd[0], IOC_DISABLE, 0), 0);
	EXPECT_EQ(read(fd[0], v, sizeof v), sizeof v);
	EXPECT_EQ((uint64_t)(hits - want), (v[1] - before) / periods[2]);
	EXPECT(last.si_code == POLL_IN && last.si_band == 0x41);
	EXPECT_EQ(v[1], v[2]);
	close(fd[0]);
	close(fd[1]);
}

CPC_TEST(errors_are_those_of_linux)
{
	struct attr attr = attr_of(SOFTWARE, TASK_CLOCK, 0);
	struct f_owner_ex nobody = { F_OWNER_TID, 1 << 30 };
	uint64_t none = 0, one = 1;
	int fd[2];

	NEEDS_EXACT_OVERFLOW();
	open_group(fd, 1);
	attr.period = 1;
	EXPECT_ERRNO(perf_open(attr, -1), EOPNOTSUPP);
	EXPECT_ERRNO(ioctl(fd[0], IOC_PERIOD, NULL), EFAULT);
	EXPECT_ERRNO(ioctl(fd[0], IOC_PERIOD, &none), EINVAL);
	EXPECT_ERRNO(ioctl(fd[1], IOC_PERIOD, &one), EINVAL);
	EXPECT_ERRNO(ioctl(fd[1], IOC_REFRESH, 1), EINVAL);
	EXPECT_ERRNO(fcntl(fd[0], F_SETSIG, 65), EINVAL);
	EXPECT_ERRNO(fcntl(fd[0], F_SETOWN_EX, &nobody), ESRCH);
	close(fd[0]);
	close(fd[1]);
}
