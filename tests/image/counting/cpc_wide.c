/*
 * Counts are 64 bits wide whatever their counters have: they go on to the
 * digit where a counter goes round, at each of the places above it where its
 * low bits are all zero.  Presets a little before such a place lead there at
 * once; another request, which started with the first, tells what was counted.
 */
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <signal.h>
#include <time.h>

/* The C library's heap keeps what it took. */
TEST_KEEPS(16);

#define BEFORE 500  /* counts to the place */
#define LOOP   1000 /* turns of the loop: well past it */

/* Any counter's width, and the two 32-bit halves of those that have more. */
static const unsigned bits[] = { 31, 32, 40, 47, 48, 63 };

static cpc_t *the_cpc;
static cpc_set_t *set;
static cpc_buf_t *buf;
static int64_t apart; /* the reads of the two, in instructions */

static void
close_set(void)
{
	cpc_buf_destroy(the_cpc, buf);
	cpc_set_destroy(the_cpc, set);
}

/* How much further request 0 is than request 1, which it must be. */
static int64_t
further(uint64_t preset, uint64_t at_least)
{
	uint64_t v[2] = { 0, 0 };

	EXPECT_EQ(cpc_set_sample(the_cpc, set, buf), 0);
	cpc_buf_get(the_cpc, buf, 0, &v[0]);
	cpc_buf_get(the_cpc, buf, 1, &v[1]);
	EXPECT(v[1] >= at_least);
	return (int64_t)(v[0] - preset - v[1]);
}

/* Request 0 with its preset; request 1 counts the same from 0. */
static bool
open_set(cpc_t *cpc, uint_t pic, uint_t notify)
{
	char name[] = "picnum";
	cpc_attr_t attr = { name, pic };

	the_cpc = cpc;
	set = cpc_set_create(cpc);
	EXPECT_EQ(cpc_set_add_request(cpc, set, INS_EVENT, 0,
		      CPC_COUNT_USER | notify, 1, &attr),
	    0);
	EXPECT_EQ(add_flags(cpc, set, INS_EVENT, CPC_COUNT_USER), 1);
	buf = cpc_buf_create(cpc, set);
	if (cpc_bind_curlwp(cpc, set, 0) != 0)
		return false;
	further(0, 0); /* the first time, names are looked up */
	apart = further(0, 0);
	return true;
}

/*
 * Both requests tell of the same number of events: of one that runs they are
 * read one after the other, which is as far each time; frozen they agree.
 */
static bool
right(uint64_t preset, uint64_t at_least)
{
	bool good = EXPECT_EQ(further(preset, at_least), apart);

	EXPECT_EQ(cpc_disable(the_cpc), 0);
	good &= EXPECT_EQ(further(preset, at_least), 0);
	EXPECT_EQ(cpc_enable(the_cpc), 0);
	return good;
}

static void
restart_at(uint64_t preset)
{
	EXPECT_EQ(cpc_request_preset(the_cpc, 0, preset), 0);
	EXPECT_EQ(cpc_set_restart(the_cpc, set), 0);
}

/* Past the place in one go, by samples, off the CPU, and frozen. */
static bool
crosses(uint64_t place)
{
	const struct timespec moment = { 0, 100000 };
	bool good;

	restart_at(place - BEFORE);
	spin_loop(LOOP);
	good = right(place - BEFORE, SPIN_INSNS * LOOP);

	restart_at(place - BEFORE);
	for (int i = 1; i <= 20; i++) {
		spin_loop(LOOP / 20);
		good &= right(
		    place - BEFORE, (uint64_t)i * SPIN_INSNS * (LOOP / 20));
	}

	restart_at(place - BEFORE);
	spin_loop(BEFORE / SPIN_INSNS / 2);
	nanosleep(&moment, NULL);
	spin_loop(LOOP);
	nanosleep(&moment, NULL);
	good &= right(place - BEFORE, SPIN_INSNS * LOOP);

	restart_at(place - BEFORE);
	spin_loop(LOOP);
	EXPECT_EQ(cpc_disable(the_cpc), 0);
	spin_loop(LOOP);
	EXPECT_EQ(cpc_enable(the_cpc), 0);
	spin_loop(LOOP);
	return good & right(place - BEFORE, 2 * SPIN_INSNS * LOOP);
}

#define NEEDS_TWO()                                                            \
	do {                                                                   \
		if (own_privilege() != CPC_COUNT_USER)                         \
			SKIP("its own code is not at user privilege");         \
		if (!have_event(cpc, INS_EVENT))                               \
			SKIP("this PMU does not count " INS_EVENT);            \
	} while (0)

static void
each_place(cpc_t *cpc, uint_t pic)
{
	if (!open_set(cpc, pic, 0)) {
		close_set();
		return; /* a lone PIC counts this event */
	}
	for (unsigned i = 0; i < sizeof bits / sizeof *bits; i++) {
		/* The first place, the next ones, and the end of 64 bits. */
		for (uint64_t k = 1; k <= 4; k++) {
			if (!crosses(k << bits[i]))
				test_note("that was %d << %u, PIC %u", (int)k,
				    bits[i], pic);
		}
	}
	crosses(0);
	close_set();
}

/* CPC-CTX-04, CPC-PCBE-01, CPC-OVF-15 */
CPC_TEST(a_count_goes_on_where_its_counter_goes_round)
{
	NEEDS_TWO();
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (pic_counts(cpc, INS_EVENT, pic))
			each_place(cpc, pic);
	}
}

static volatile int calls;

static void
go_on(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)si;
	(void)context;
	calls++;
	EXPECT_EQ(cpc_enable(the_cpc), 0);
}

/*
 * CPC-OVF-08.  The place is a notify request's end: it stops there, goes on
 * behind it, and has lost nothing.  Its own counter's next ends are below
 * 2^64 and told or not by its width; cpc_enable() goes on from each.
 */
CPC_TEST(a_count_goes_on_behind_its_end)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	NEEDS_TWO();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	sa.sa_sigaction = go_on;
	sigaction(SIGEMT, &sa, NULL);
	REQUIRE(open_set(cpc, 0, CPC_OVF_NOTIFY_EMT));
	for (int i = 1; i <= 5; i++) {
		calls = 0;
		restart_at(-(uint64_t)(100 * i));
		spin_loop(LOOP);
		EXPECT_EQ(calls, 1);
		right(-(uint64_t)(100 * i), SPIN_INSNS * LOOP);
	}
	close_set();
}
