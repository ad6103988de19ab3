/*
 * The cost of an overflow: to the handler of SIGEMT, to the handler and back
 * with the work of a profiler, and without a signal.  The overflow happens in
 * the sled, a row of nop instructions of equal size.  So the interrupted
 * address says how many of them have retired.
 */
#define _GNU_SOURCE /* REG_PC */
#include "tests/opcost/opcost.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/cpc.h>

#include <payload.h>

#include "payloads/common/usage.h"

#define RUNS 5
/*
 * Instructions from the start of counting to the overflow.  There are fewer
 * from bind to the sled, so that the overflow is in the sled.  There are fewer
 * from the overflow to unbind, so that there is only one overflow.  The
 * kernel's instructions are included if they are counted.
 */
#define PERIOD 4000
#define SLED   4500

/*
 * ARCH/clock.S.  cost_sled() reads the clock and runs SLED nops.  cost_note()
 * is a handler.  cost_empty() is the difference of two adjacent clock reads.
 */
uint64_t cost_sled(void);
extern char cost_sled_first[], cost_sled_end[];
void cost_note(int sig, siginfo_t *si, void *context);
uint64_t cost_empty(void);
/* Stored by cost_note(): the clock, and the interrupted instruction. */
struct {
	uint64_t clock;
	uintptr_t pc;
} cost_noted;

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

	set = fail_unless_room(cpc_set_create(cpc));
	if (cpc_set_add_request(cpc, set, "PAPI_tot_ins", preset,
		flags | notify, 0, NULL) == -1 ||
	    (buf = cpc_buf_create(cpc, set)) == NULL)
		fail(1, "PAPI_tot_ins: %s", strerror(errno));
}

static int64_t
through_sled(int expected)
{
	signals = 0;
	cost_bind(cpc, set);
	int64_t start = (int64_t)cost_clock();
	cost_sled();
	start = (int64_t)cost_clock() - start;
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

/* From the overflowing instruction to the handler's first, less the sled. */
static int64_t
to_handler(void)
{
	uintptr_t first = (uintptr_t)cost_sled_first;
	uintptr_t end = (uintptr_t)cost_sled_end;
	int64_t best = INT64_MAX, t;
	uint64_t start;

	for (int i = 0; i < RUNS; i++) {
		cost_noted.pc = 0;
		cost_bind(cpc, set);
		start = cost_sled();
		cpc_unbind(cpc, set);
		if (cost_noted.pc <= first || cost_noted.pc >= end)
			fail(1, "the overflow was not in the sled");
		t = (int64_t)(cost_noted.clock - start - cost_empty() -
			      (cost_noted.pc - first) / ((end - first) / SLED));
		best = t < best ? t : best;
	}
	return best;
}

/* Check that the last sample's count has wrapped past 64 bits. */
static void
require_overflow(void)
{
	uint64_t value;

	cpc_buf_get(cpc, buf, 0, &value);
	if (value >= UINT64_MAX - PERIOD)
		fail(1, "no overflow in the sled");
}

void
cost_overflows(cpc_t *c)
{
	const uint64_t preset = UINT64_MAX - PERIOD + 1;

	cpc = c;
	count_from(0, 0);
	int64_t plain = least_through_sled(0);
	cpc_set_destroy(cpc, set);

	count_from(preset, CPC_OVF_NOTIFY_EMT);
	on_overflow(NULL, cost_note);
	cost_row("overflow to handler", 1, to_handler());
	on_overflow(sample_and_restart, NULL);
	int64_t cost = least_through_sled(1) - plain;
	cost_row("overflow round trip", 1, cost);
	cpc_set_destroy(cpc, set);

	count_from(preset, 0);
	cost = least_through_sled(0) - plain;
	require_overflow();
	cost_row("silent overflow", 1, cost);
	cpc_set_destroy(cpc, set);
}
