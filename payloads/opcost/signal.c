/*
 * The cost of a signal: from its cause to the first instruction of the handler,
 * and from the handler's end back to the program.
 */
#define _GNU_SOURCE /* REG_PC */
#include "payloads/opcost/opcost.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define RUNS 5

/* ARCH/clock.S: one undefined instruction, and the one after it. */
void bench_fault(void);
extern char bench_fault_end[];

static int64_t entered;

static void
handler(int sig, siginfo_t *si, void *context)
{
	int64_t now = (int64_t)bench_clock();
	ucontext_t *uc = context;

	(void)si;
	if (sig == SIGILL)
		uc->uc_mcontext.gregs[REG_PC] =
		    (greg_t)(uintptr_t)bench_fault_end;
	entered = now;
}

static void
kill_self(void)
{
	syscall(SYS_tkill, getpid(), SIGUSR1);
}

static void
row(const char *what, void (*raise_it)(void))
{
	int64_t in = INT64_MAX, out = INT64_MAX, empty, t;

	empty = (int64_t)bench_clock();
	empty = (int64_t)bench_clock() - empty;
	for (int i = 0; i < RUNS; i++) {
		t = (int64_t)bench_clock();
		raise_it();
		in = entered - t < in ? entered - t : in;
		t = (int64_t)bench_clock() - entered;
		out = t < out ? t : out;
	}
	bench_row(what, 0, in - empty);
	if (raise_it == bench_fault)
		bench_row("handler's end", 0, out - empty);
}

void
bench_signals(void)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	sa.sa_sigaction = handler;
	sigaction(SIGILL, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	row("fault to handler", bench_fault);
	row("kill to handler", kill_self);
}
