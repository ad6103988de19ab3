/* The cost of a signal: from its cause to the handler, and back. */
#define _GNU_SOURCE /* REG_PC */
#include "tests/opcost/opcost.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define RUNS 5

/* ARCH/clock.S: one undefined instruction, and the one after it. */
void cost_fault(void);
extern char cost_fault_end[];

static int64_t entered;

static void
on_signal(int sig, siginfo_t *si, void *context)
{
	int64_t now = (int64_t)cost_clock();
	ucontext_t *uc = context;

	(void)si;
	if (sig == SIGILL)
		uc->uc_mcontext.gregs[REG_PC] =
		    (greg_t)(uintptr_t)cost_fault_end;
	entered = now;
}

static void
kill_self(void)
{
	syscall(SYS_tkill, getpid(), SIGUSR1);
}

static void
print_rows(const char *what, void (*raise_it)(void))
{
	int64_t in = INT64_MAX, out = INT64_MAX, empty, t;

	empty = (int64_t)cost_clock();
	empty = (int64_t)cost_clock() - empty;
	for (int i = 0; i < RUNS; i++) {
		t = (int64_t)cost_clock();
		raise_it();
		in = entered - t < in ? entered - t : in;
		t = (int64_t)cost_clock() - entered;
		out = t < out ? t : out;
	}
	cost_row(what, 0, in - empty);
	if (raise_it == cost_fault)
		cost_row("handler's end", 0, out - empty);
}

void
cost_signals(void)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	sa.sa_sigaction = on_signal;
	sigaction(SIGILL, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	print_rows("fault to handler", cost_fault);
	print_rows("kill to handler", kill_self);
}
