/*
 * A payload runs at the privilege that the command line names.  At system
 * privilege it may use privileged instructions.  At user privilege they end the
 * program, which tests/cli/traps.sh checks.
 */
#include "tests/lib/image/test.h"

#include <payload.h>
#include <stdint.h>
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

TEST(interrupts_can_be_masked)
{
	struct timespec ms = { 0, 1000000 }, before, after;

	if (!at_system())
		SKIP("this is user privilege");
	clock_gettime(CLOCK_MONOTONIC, &before);
	privilege_mask_interrupts();
	EXPECT_EQ(nanosleep(&ms, NULL), 0);
	privilege_unmask_interrupts();
	clock_gettime(CLOCK_MONOTONIC, &after);
	EXPECT((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
		   before.tv_nsec >=
	       1000000);
}
