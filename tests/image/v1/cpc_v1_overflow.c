/* Version 1: an overflow of either counter freezes both, with one SIGEMT. */
#define _GNU_SOURCE
#include "tests/lib/image/v1_test.h"

#include <payload.h>
#include <signal.h>
#include <string.h>

/* Pages of threads' stacks, which the C library keeps. */
TEST_KEEPS(16);

#define PERIOD 1000

static cpc_event_t the_event;
static int the_flags;
static volatile int handler_calls, handler_code, binds_left;
static volatile uint64_t handler_value;

static void
binding_handler(int sig, siginfo_t *si, void *context)
{
	cpc_event_t now, again;

	handler_calls++;
	handler_code = si->si_code;
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT_EQ(cpc_take_sample(&again), 0);
	EXPECT(memcmp(&now, &again, sizeof now) == 0); /* it is frozen */
	handler_value = now.ce_pic[0];
	if (binds_left-- > 0)
		EXPECT_EQ(cpc_bind_event(&the_event, the_flags), 0);
}

/* Counter 0 overflows after PERIOD.  False: none interrupts here. */
static bool
bind_overflowing(cpc_t *cpc, int flags)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0 ||
	    payload_privilege() == PAYLOAD_SYSTEM || cpc_getcpuver() == -1 ||
	    !have_event(cpc, INS_EVENT))
		return false;
	sa.sa_sigaction = binding_handler;
	sigaction(SIGEMT, &sa, NULL);
	handler_calls = 0;
	the_event = v1_event(INS_EVENT, INS_EVENT);
	the_event.ce_pic[0] = UINT64_MAX - (PERIOD - 1);
	the_flags = flags;
	return cpc_bind_event(&the_event, flags) == 0;
}

#define NEEDS_OVERFLOW(flags)                                                  \
	do {                                                                   \
		if (!bind_overflowing(cpc, flags))                             \
			SKIP("overflows of user code do not interrupt two "    \
			     "counters here");                                 \
	} while (0)

/* CPC-V1-08: one signal, and no other without a bind. */
CPC_TEST(an_overflow_signals_once_and_freezes)
{
	binds_left = 0;
	NEEDS_OVERFLOW(CPC_BIND_EMT_OVF);
	spin(10 * PERIOD);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(handler_code, EMT_CPCOVF);
	spin(10 * PERIOD);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(cpc_rele(), 0);
	/* Last, because it binds a set that counts instructions. */
	EXPECT(handler_value < 64);
}

/* CPC-V1-08: a bind in the handler re-arms. */
CPC_TEST(a_bind_in_the_handler_begins_a_period)
{
	binds_left = 4;
	NEEDS_OVERFLOW(CPC_BIND_EMT_OVF);
	spin(10 * PERIOD);
	spin(10 * PERIOD);
	spin(10 * PERIOD);
	spin(10 * PERIOD);
	spin(10 * PERIOD);
	EXPECT_EQ(handler_calls, 5);
	EXPECT_EQ(cpc_rele(), 0);
}

/* Without the flag an overflow sends nothing, and the count goes on. */
CPC_TEST(no_flag_no_signal)
{
	cpc_event_t now;

	binds_left = 0;
	NEEDS_OVERFLOW(0);
	spin(10 * PERIOD);
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT(now.ce_pic[0] >= 19 * PERIOD && now.ce_pic[0] < 30 * PERIOD);
	EXPECT_EQ(handler_calls, 0);
	EXPECT_EQ(cpc_rele(), 0);
}

static volatile uint64_t first_values[2];

static void
first_handler(int sig)
{
	cpc_event_t now;

	handler_calls++;
	EXPECT_EQ(cpc_take_sample(&now), 0);
	first_values[0] = now.ce_pic[0];
	first_values[1] = now.ce_pic[1];
	EXPECT_EQ(cpc_bind_event(&the_event, 0), 0);
}

static void *
signalled_first(void *arg)
{
	cpc_event_t now;

	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(cpc_take_sample(&now), 0);
	EXPECT(now.ce_pic[0] >= the_event.ce_pic[0]);
	return NULL;
}

/* With both flags a new LWP gets SIGEMT first, and finds UINT64_MAX. */
CPC_TEST(a_new_thread_gets_the_signal_first)
{
	binds_left = 0;
	NEEDS_OVERFLOW(CPC_BIND_EMT_OVF | CPC_BIND_LWP_INHERIT);
	the_event.ce_pic[0] = 0;
	EXPECT_EQ(
	    cpc_bind_event(&the_event, CPC_BIND_EMT_OVF | CPC_BIND_LWP_INHERIT),
	    0);
	the_event.ce_pic[0] = 1ULL << 40;
	handler_calls = 0;
	signal(SIGEMT, first_handler);
	as_another_lwp(signalled_first, NULL);
	EXPECT_EQ(handler_calls, 1);
	EXPECT_EQ(first_values[0], UINT64_MAX);
	EXPECT_EQ(first_values[1], UINT64_MAX);
	EXPECT_EQ(cpc_rele(), 0);
	signal(SIGEMT, SIG_DFL);
}

/* The flag needs an interrupt. */
CPC_TEST(without_an_interrupt_the_flag_is_not_supported)
{
	NEEDS_V1();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) != 0)
		SKIP("needs a PMU whose overflows do not interrupt");
	NEEDS_INSTRUCTIONS();
	cpc_event_t event = v1_event(INS_EVENT, INS_EVENT);
	EXPECT_ERRNO(cpc_bind_event(&event, CPC_BIND_EMT_OVF), ENOTSUP);
}
