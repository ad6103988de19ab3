/*
 * A C program that unwinds links with musl and runs: libgcc's unwinder finds
 * the frames by the program's own table (cpc/musl/find_object.c).
 */
#include "tests/lib/image/test.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unwind.h>

TEST_KEEPS(64);

#define DEPTH 5

struct trace {
	unsigned n;
	bool saw_caller;
	uintptr_t from, to; /* the code of the function looked for */
};

static _Unwind_Reason_Code
see_frame(struct _Unwind_Context *context, void *arg)
{
	struct trace *t = arg;
	uintptr_t pc = _Unwind_GetIP(context);

	t->n++;
	if (pc >= t->from && pc < t->to)
		t->saw_caller = true;
	return t->n < 100 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static struct trace trace;

static __attribute__((noinline)) void
recurse(int depth)
{
	if (depth > 0)
		recurse(depth - 1);
	else
		_Unwind_Backtrace(see_frame, &trace);
	__asm__ volatile("" : : : "memory"); /* no tail call */
}

/* DEPTH + 1 frames of recurse(), this test, main() and the start. */
TEST(backtrace)
{
	trace = (struct trace){ .from = (uintptr_t)recurse,
		.to = (uintptr_t)recurse + 256 };
	recurse(DEPTH);
	EXPECT(trace.n >= DEPTH + 3);
	EXPECT(trace.n < 20);
	EXPECT(trace.saw_caller);
}

static sigjmp_buf back;

static void
handler(int sig)
{
	_Unwind_Backtrace(see_frame, &trace);
	siglongjmp(back, 1);
}

static __attribute__((noinline)) void
trap_in_here(void)
{
	__asm__ volatile("" : : : "memory");
	__builtin_trap();
}

/* The C library's own functions have no unwind table: the signal is a fault. */
TEST(backtrace_through_a_handler)
{
	struct sigaction sa = { .sa_handler = handler };

	sigaction(SIGTRAP, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	trace = (struct trace){ .from = (uintptr_t)trap_in_here,
		.to = (uintptr_t)trap_in_here + 16 };
	if (sigsetjmp(back, 1) == 0)
		trap_in_here();
	EXPECT(trace.saw_caller);
}

static int cleaned;

static void
clean_up(int *arg)
{
	cleaned += *arg;
}

static _Unwind_Reason_Code
stop_at(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
    struct _Unwind_Exception *object, struct _Unwind_Context *context,
    void *arg)
{
	if (cleaned == DEPTH)
		__builtin_longjmp(arg, 1);
	return _URC_NO_REASON;
}

static struct _Unwind_Exception exception;
static void *jump[5];

static __attribute__((noinline)) void
unwind_from(int depth)
{
	__attribute__((cleanup(clean_up))) int one = 1;

	if (depth > 1)
		unwind_from(depth - 1);
	else
		_Unwind_ForcedUnwind(&exception, stop_at, jump);
	__asm__ volatile("" : "+r"(one));
}

/* Each frame's cleanup runs once.  The file is compiled with -fexceptions. */
TEST(forced_unwind_runs_cleanups)
{
	cleaned = 0;
	if (__builtin_setjmp(jump) == 0)
		unwind_from(DEPTH);
	EXPECT_EQ(cleaned, DEPTH);
}
