/*
 * A payload runs at the privilege that the command line names.  At system
 * privilege it may use privileged instructions.  At user privilege they end the
 * program, which tests/cli/kernel/traps.sh checks.
 */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <payload.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* tests/lib/image/ARCH/privilege.S */
extern const int privilege_user, privilege_system; /* as the CPU reports it */
extern const int privilege_seen_by_user; /* may user code ask the CPU? */
int privilege_now(void);
uint64_t privilege_page_tables(void);
void privilege_mask_interrupts(void);
void privilege_unmask_interrupts(void);

static bool
at_system(void)
{
	return payload_privilege() == PAYLOAD_SYSTEM;
}

TEST(the_cpu_reports_this_privilege)
{
	if (!at_system() && !privilege_seen_by_user)
		SKIP("user code cannot ask this CPU");
	EXPECT_EQ(
	    privilege_now(), at_system() ? privilege_system : privilege_user);
	/* The privilege is the same after a system call. */
	getppid();
	EXPECT_EQ(
	    privilege_now(), at_system() ? privilege_system : privilege_user);
}

TEST(privileged_registers_can_be_read)
{
	if (!at_system())
		SKIP("this is user privilege");
	EXPECT(privilege_page_tables() != 0);
}

#define MS 1000000

static volatile sig_atomic_t alarms;

static void
on_alarm(int sig)
{
	alarms = sig;
}

/* A timer that is due does not interrupt until the quiet time ends. */
TEST(the_timer_can_be_quiet)
{
	struct itimerval it = { { 0, 0 }, { 0, 2000 } };
	struct barecpc_interrupts before, after;

	if (!at_system()) {
		EXPECT_EQ(payload_quiet(0), -1);
		EXPECT_EQ(errno, EPERM);
		SKIP("this is user privilege");
	}
	EXPECT_EQ(payload_quiet(BARECPC_QUIET_MAX + 1), -1);
	EXPECT_EQ(errno, EINVAL);
	signal(SIGALRM, on_alarm);
	alarms = 0;
	EXPECT_EQ(setitimer(ITIMER_REAL, &it, NULL), 0);
	EXPECT_EQ(payload_quiet(BARECPC_QUIET_MAX), 0);
	EXPECT_EQ(payload_interrupts(&before), 0);
	for (int64_t end = test_now_ns() + 5 * MS; test_now_ns() < end;)
		continue;
	EXPECT_EQ(payload_interrupts(&after), 0);
	EXPECT_EQ(after.by_interrupts - before.by_interrupts, 0);
	EXPECT_EQ(alarms, 0);
	EXPECT_EQ(payload_quiet(0), 0);
	for (int64_t end = test_now_ns() + 5 * MS;
	     test_now_ns() < end && alarms == 0;)
		continue;
	EXPECT_EQ(alarms, SIGALRM);
}

TEST(interrupts_can_be_masked)
{
	struct timespec ms = { 0, MS };

	if (!at_system())
		SKIP("this is user privilege");
	int64_t before = test_now_ns();
	privilege_mask_interrupts();
	EXPECT_EQ(nanosleep(&ms, NULL), 0);
	privilege_unmask_interrupts();
	EXPECT(test_now_ns() - before >= MS);
}
