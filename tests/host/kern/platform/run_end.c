/* deadline= ends a run that takes longer, but not one that is ending. */
#include "tests/lib/host/support.h"

#include <setjmp.h>
#include <string.h>

#include "kern/arch.h"
#include "kern/platform/console.h"
#include "kern/platform/results/keep.h"
#include "kern/platform/run_end.h"

uint64_t boot_entry_tick = 7;

static uint64_t now;
static unsigned nstatus;
static char status[12];
static bool slow; /* the deadline passes while the status is printed */
static jmp_buf halted;

uint64_t
arch_tick(void)
{
	return now;
}

uint64_t
arch_tick_hz(void)
{
	return 1000;
}

void
arch_halt(bool passed)
{
	longjmp(halted, 1);
}

void
boottime_print(void)
{
}

void
keep_variables(void)
{
}

void
keep_end(void)
{
}

void
cons_seize(bool broken)
{
	assert_false(broken);
}

void
cons_write(enum stream s, const char *p, size_t n)
{
	assert_int_equal(s, STREAM_EXIT);
	nstatus++;
	memcpy(status, p, n);
	status[n] = '\0';
	if (slow) {
		slow = false;
		now = run_deadline + 1;
		run_deadline_check(NULL);
	}
}

TEST(the_deadline_does_not_end_an_end)
{
	run_deadline_set(3);
	assert_int_equal(run_deadline, 3007);
	slow = true;
	if (setjmp(halted) == 0)
		run_end(0);
	assert_int_equal(nstatus, 1);
	assert_string_equal(status, "0");
	/* It may take 10 s more. */
	run_deadline_set(3);
	now = run_deadline + 10000;
	run_deadline_check(NULL);
	now++;
	if (setjmp(halted) == 0) {
		run_deadline_check(NULL);
		fail();
	}
	assert_int_equal(nstatus, 1);
}
