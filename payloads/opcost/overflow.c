/*
 * The cost of an overflow: to the handler of SIGEMT, to the handler and back
 * with the work of a profiler, and without a signal.  The overflow falls into
 * a row of nop instructions of equal size.  So the interrupted address says
 * how many of them retired before.
 */
#define _GNU_SOURCE /* REG_PC */
#include "payloads/opcost/opcost.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/cpc.h>
#include <ucontext.h>

#include <payload.h>

#include "payloads/common/usage.h"

#define RUNS 5
/*
 * Instructions from the start of counting to the overflow.  It is more than
 * lie between bind and sled, so that the overflow falls into the longer sled.
 * It is more than follow from the first overflow to unbind, the kernel's
 * included if they count, so that there is one overflow only.
 */
#define PERIOD 4000
#define SLED   4500

/*
 * ARCH/clock.S: the clock before SLED times nop; a handler; and the difference
 * of two reads of the clock in a row.
 */
uint64_t bench_sled(void);
extern char bench_sled_first[], bench_sled_end[];
void bench_note(int sig, siginfo_t *si, void *context);
uint64_t bench_empty(void);
/* The handler's: the clock, and where the program was interrupted. */
struct {
	uint64_t clock;
	uintptr_t pc;
} bench_noted;

static cpc_t *cpc;
static cpc_set_t *set;
static cpc_buf_t *buf;
static int signals;

static void
sample_and_restart(int sig)
{
	(void)sig;
	cpc_set_sample(cpc, set, buf);
	cpc_set_restart(cpc, set);
	signals++;
}

static void
on_overflow(void (*handler)(int), void (*action)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_handler = handler };

	if (action != NULL) {
		sa.sa_flags = SA_SIGINFO;
		sa.sa_sigaction = action;
	}
	sigaction(SIGEMT, &sa, NULL);
}

static void
count_from(uint64_t preset, uint_t notify)
{
	uint_t flags = payload_privilege() == PAYLOAD_USER ? CPC_COUNT_USER
	                                                   : CPC_COUNT_SYSTEM;

	set = cpc_set_create(cpc);
	if (cpc_set_add_request(cpc, set, "PAPI_tot_ins", preset,
		flags | notify, 0, NULL) == -1 ||
	    (buf = cpc_buf_create(cpc, set)) == NULL)
		fail(1, "PAPI_tot_ins: %s", strerror(errno));
}

static int64_t
through_sled(int expected)
{
	int64_t start;

	signals = 0;
	bench_bind(cpc, set);
	start = (int64_t)bench_clock();
	bench_sled();
	start = (int64_t)bench_clock() - start;
	cpc_set_sample(cpc, set, buf);
	cpc_unbind(cpc, set);
	if (signals != expected)
		fail(1, "%d signals in the sled, not %d", signals, expected);
	return start;
}

static int64_t
least_through_sled(int expected)
{
	int64_t best = INT64_MAX, t;

	for (int i = 0; i < RUNS; i++) {
		t = through_sled(expected);
		best = t < best ? t : best;
	}
	return best;
}

/*
 * From the instruction that overflows to the handler's first: what is between
 * two clocks, without the sled's instructions.
 */
static int64_t
to_handler(void)
{
	uintptr_t first = (uintptr_t)bench_sled_first;
	uintptr_t end = (uintptr_t)bench_sled_end;
	int64_t best = INT64_MAX, t;
	uint64_t start;

	for (int i = 0; i < RUNS; i++) {
		bench_noted.pc = 0;
		bench_bind(cpc, set);
		start = bench_sled();
		cpc_unbind(cpc, set);
		if (bench_noted.pc <= first || bench_noted.pc >= end)
			fail(1, "overflow beside the sled");
		t = (int64_t)(bench_noted.clock - start - bench_empty() -
			      (bench_noted.pc - first) /
				  ((end - first) / SLED));
		best = t < best ? t : best;
	}
	return best;
}

/* The last sample must be of a request beyond its 64 bits. */
static void
require_overflow(void)
{
	uint64_t value;

	cpc_buf_get(cpc, buf, 0, &value);
	if (value >= UINT64_MAX - PERIOD)
		fail(1, "no overflow in the sled");
}

void
bench_overflows(cpc_t *c)
{
	const uint64_t preset = UINT64_MAX - PERIOD + 1;
	int64_t plain, cost;

	cpc = c;
	count_from(0, 0);
	plain = least_through_sled(0);
	cpc_set_destroy(cpc, set);

	count_from(preset, CPC_OVF_NOTIFY_EMT);
	on_overflow(NULL, bench_note);
	bench_row("overflow to handler", 1, to_handler());
	on_overflow(sample_and_restart, NULL);
	cost = least_through_sled(1) - plain;
	bench_row("overflow round trip", 1, cost);
	cpc_set_destroy(cpc, set);

	count_from(preset, 0);
	cost = least_through_sled(0) - plain;
	require_overflow();
	bench_row("silent overflow", 1, cost);
	cpc_set_destroy(cpc, set);
}
