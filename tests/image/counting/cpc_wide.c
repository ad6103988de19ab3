/*
 * Counts have 64 bits, however wide the counter is.  A count stays exact when
 * the counter wraps, at each place where the count's low bits are all zero.
 * Presets a little below the place reach it at once.  A second request counts
 * the same from 0 and gives the expected value.
 */
#include "tests/lib/image/cpc_test.h"

#include <signal.h>
#include <time.h>

/* Pages of the C library's heap. */
TEST_KEEPS(16);

#define BEFORE 500  /* counts from the preset to the place */
#define LOOP   1000 /* iterations: well past the place */

/* The widths of counters, and of the halves of 64-bit ones. */
static const unsigned place_bits[] = { 31, 32, 40, 47, 48, 63 };

static cpc_t *the_cpc;
static cpc_set_t *the_set;
static cpc_buf_t *the_buf;
static int64_t read_gap; /* instructions between the reads of the two */

static void
close_set(void)
{
	cpc_buf_destroy(the_cpc, the_buf);
	cpc_set_destroy(the_cpc, the_set);
}

/* Request 0's count since its preset, less request 1's, >= at_least. */
static int64_t
count_gap(uint64_t preset, uint64_t at_least)
{
	uint64_t v[2] = { 0, 0 };

	EXPECT_EQ(cpc_set_sample(the_cpc, the_set, the_buf), 0);
	cpc_buf_get(the_cpc, the_buf, 0, &v[0]);
	cpc_buf_get(the_cpc, the_buf, 1, &v[1]);
	EXPECT(v[1] >= at_least);
	return (int64_t)(v[0] - preset - v[1]);
}

/* Request 0 is on `pic` and gets presets; request 1 counts the same from 0. */
static bool
open_set(cpc_t *cpc, uint_t pic, uint_t notify)
{
	char name[] = "picnum";
	cpc_attr_t attr = { name, pic };

	the_cpc = cpc;
	the_set = cpc_set_create(cpc);
	EXPECT_EQ(cpc_set_add_request(cpc, the_set, INS_EVENT, 0,
		      CPC_COUNT_USER | notify, 1, &attr),
	    0);
	EXPECT_EQ(add_flags(cpc, the_set, INS_EVENT, CPC_COUNT_USER), 1);
	the_buf = cpc_buf_create(cpc, the_set);
	if (cpc_bind_curlwp(cpc, the_set, 0) != 0)
		return false;
	count_gap(0, 0); /* the first sample looks names up */
	read_gap = count_gap(0, 0);
	return true;
}

/* Both requests count the same, at a constant distance while they run. */
static bool
counts_agree(uint64_t preset, uint64_t at_least)
{
	bool good = EXPECT_EQ(count_gap(preset, at_least), read_gap);

	EXPECT_EQ(cpc_disable(the_cpc), 0);
	good &= EXPECT_EQ(count_gap(preset, at_least), 0);
	EXPECT_EQ(cpc_enable(the_cpc), 0);
	return good;
}

static void
restart_at(uint64_t preset)
{
	EXPECT_EQ(cpc_request_preset(the_cpc, 0, preset), 0);
	EXPECT_EQ(cpc_set_restart(the_cpc, the_set), 0);
}

/* Cross it in a loop, between samples, around a sleep and a freeze. */
static bool
crosses_place(uint64_t place)
{
	const struct timespec moment = { 0, 100000 };

	restart_at(place - BEFORE);
	spin_loop(LOOP);
	bool good = counts_agree(place - BEFORE, SPIN_INSNS * LOOP);

	restart_at(place - BEFORE);
	for (int i = 1; i <= 20; i++) {
		spin_loop(LOOP / 20);
		good &= counts_agree(
		    place - BEFORE, (uint64_t)i * SPIN_INSNS * (LOOP / 20));
	}

	restart_at(place - BEFORE);
	spin_loop(BEFORE / SPIN_INSNS / 2);
	nanosleep(&moment, NULL);
	spin_loop(LOOP);
	nanosleep(&moment, NULL);
	good &= counts_agree(place - BEFORE, SPIN_INSNS * LOOP);

	restart_at(place - BEFORE);
	spin_loop(LOOP);
	EXPECT_EQ(cpc_disable(the_cpc), 0);
	spin_loop(LOOP);
	EXPECT_EQ(cpc_enable(the_cpc), 0);
	spin_loop(LOOP);
	return good & counts_agree(place - BEFORE, 2 * SPIN_INSNS * LOOP);
}

static void
cross_each_place(cpc_t *cpc, uint_t pic)
{
	if (!EXPECT(open_set(cpc, pic, 0))) {
		close_set();
		return;
	}
	for (unsigned i = 0; i < sizeof place_bits / sizeof *place_bits; i++) {
		/* The first places of this width, and the end of 64 bits. */
		for (uint64_t k = 1; k <= 4; k++) {
			if (!crosses_place(k << place_bits[i]))
				test_note("place: %d << %u, PIC %u", (int)k,
				    place_bits[i], pic);
		}
	}
	crosses_place(0);
	close_set();
}

/* CPC-CTX-04, CPC-PCBE-01, CPC-OVF-15 */
CPC_TEST(a_count_continues_when_its_counter_wraps)
{
	unsigned n = 0;

	NEEDS_USER_INSTRUCTIONS();
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++)
		n += pic_counts(cpc, INS_EVENT, pic);
	if (n < 2)
		SKIP("this PMU has no two PICs for " INS_EVENT);
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (pic_counts(cpc, INS_EVENT, pic))
			cross_each_place(cpc, pic);
	}
}

static volatile int handler_calls;

static void
enable_again(int sig, siginfo_t *si, void *context)
{
	handler_calls++;
	EXPECT_EQ(cpc_enable(the_cpc), 0);
}

/*
 * CPC-OVF-08: the place is the notify overflow of request 0.  The set freezes
 * there and continues after cpc_enable(), with no count lost.  The PIC may
 * overflow again below 2^64, depending on its width; the handler enables the
 * set each time.
 */
CPC_TEST(a_count_continues_after_its_notify_overflow)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	NEEDS_USER_INSTRUCTIONS();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	sa.sa_sigaction = enable_again;
	sigaction(SIGEMT, &sa, NULL);
	REQUIRE(open_set(cpc, 0, CPC_OVF_NOTIFY_EMT));
	for (int i = 1; i <= 5; i++) {
		handler_calls = 0;
		restart_at(-(uint64_t)(100 * i));
		spin_loop(LOOP);
		EXPECT_EQ(handler_calls, 1);
		counts_agree(-(uint64_t)(100 * i), SPIN_INSNS * LOOP);
	}
	close_set();
}
