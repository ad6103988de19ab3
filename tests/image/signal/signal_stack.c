/* A handler with SA_ONSTACK runs even if no other stack is left. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

static char altstack[SIGSTKSZ * 4] __attribute__((aligned(16)));
static volatile uintptr_t handler_sp;
static volatile int calls, flags_inside, errno_inside, deep;
static sigjmp_buf out;

static bool
is_alt(uintptr_t sp)
{
	return sp - (uintptr_t)altstack < sizeof altstack;
}

static void
record_stack(int sig)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t ss;
	char here;

	handler_sp = (uintptr_t)&here;
	calls++;
	sigaltstack(NULL, &ss);
	flags_inside = ss.ss_flags;
	errno = 0;
	sigaltstack(&none, NULL);
	errno_inside = errno;
	if (sig == SIGUSR2 && deep++ < 3)
		raise(SIGUSR2);
}

static void
install_handler(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_flags = flags };

	sa.sa_handler = handler;
	sigaction(sig, &sa, NULL);
	calls = deep = 0;
}

static void
use_altstack(void)
{
	const stack_t ss = { .ss_sp = altstack, .ss_size = sizeof altstack };

	EXPECT_EQ(sigaltstack(&ss, NULL), 0);
}

static void
no_altstack(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	EXPECT_EQ(sigaltstack(&none, NULL), 0);
}

TEST(onstack_runs_on_the_alternate_stack)
{
	stack_t ss;

	use_altstack();
	install_handler(SIGUSR1, record_stack, SA_ONSTACK);
	raise(SIGUSR1);
	EXPECT(is_alt(handler_sp));
	EXPECT_EQ(flags_inside, SS_ONSTACK);
	EXPECT_EQ(errno_inside, EPERM); /* it is in use */
	EXPECT_EQ(sigaltstack(NULL, &ss), 0);
	EXPECT_EQ(ss.ss_flags, 0);
	EXPECT(ss.ss_sp == altstack);
	no_altstack();
}

TEST(without_onstack_the_handler_stays_on_the_stack)
{
	use_altstack();
	install_handler(SIGUSR1, record_stack, 0);
	raise(SIGUSR1);
	EXPECT(!is_alt(handler_sp));
	no_altstack();
	install_handler(SIGUSR1, record_stack, SA_ONSTACK);
	raise(SIGUSR1);
	EXPECT(!is_alt(handler_sp));
}

TEST(nested_handlers_share_the_alternate_stack)
{
	use_altstack();
	install_handler(SIGUSR2, record_stack, SA_ONSTACK | SA_NODEFER);
	raise(SIGUSR2);
	EXPECT_EQ(calls, 4);
	EXPECT(is_alt(handler_sp));
	no_altstack();
}

TEST(a_stack_that_is_too_small_is_refused)
{
	stack_t ss = { .ss_sp = altstack, .ss_size = 512 };

	EXPECT_ERRNO(sigaltstack(&ss, NULL), ENOMEM);
	ss.ss_size = sizeof altstack;
	ss.ss_flags = 77;
	EXPECT_ERRNO(sigaltstack(&ss, NULL), EINVAL);
	ss.ss_flags = 0;
	ss.ss_size = SIGSTKSZ; /* the size that programs use */
	EXPECT_EQ(sigaltstack(&ss, NULL), 0);
	install_handler(SIGUSR1, record_stack, SA_ONSTACK);
	raise(SIGUSR1);
	EXPECT_EQ(calls, 1);
	no_altstack();
}

static void
leave_handler(int sig)
{
	char here;

	handler_sp = (uintptr_t)&here;
	calls++;
	siglongjmp(out, 1);
}

static volatile int endless = 1;

static int __attribute__((noinline)) recurse(volatile char *above)
{
	volatile char frame[4096];

	frame[0] = *above;
	return (endless ? recurse(frame) : 0) + frame[0];
}

TEST(a_stack_overflow_is_handled_on_the_alternate_stack)
{
	volatile char c = 1;
	volatile int i;

	use_altstack();
	install_handler(SIGSEGV, leave_handler, SA_ONSTACK);
	for (i = 0; i < 3; i++) {
		if (sigsetjmp(out, 1) == 0)
			recurse(&c);
		EXPECT(is_alt(handler_sp));
	}
	EXPECT_EQ(calls, 3);
	signal(SIGSEGV, SIG_DFL);
	no_altstack();
}

/* No room for a frame: SIGSEGV comes, if its handler has another stack. */
TEST(no_room_for_a_frame_is_a_segmentation_fault)
{
	use_altstack();
	install_handler(SIGSEGV, leave_handler, SA_ONSTACK);
	/* The handler of SIGILL would need the bad stack. */
	install_handler(SIGILL, record_stack, 0);
	if (sigsetjmp(out, 1) == 0) {
#ifdef __x86_64__
		__asm__ volatile("mov $0x20000, %%rsp; ud2" ::: "memory");
#else
		__asm__ volatile("mov x0, #0x20000; mov sp, x0; udf #0" ::
				     : "x0", "memory");
#endif
	}
	EXPECT_EQ(calls, 1);
	EXPECT(is_alt(handler_sp));
	signal(SIGILL, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	no_altstack();
}
