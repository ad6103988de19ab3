/* Clocks never go back and agree; a sleep lasts at least as requested. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL

static int64_t
clock_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	EXPECT_EQ(clock_gettime(clock, &ts), 0);
	EXPECT(ts.tv_nsec >= 0 && ts.tv_nsec < 1000000000);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

TEST(time_does_not_go_back)
{
	int64_t last = clock_ns(CLOCK_MONOTONIC), now;
	int i, back = 0;

	for (i = 0; i < 10000; i++) {
		now = clock_ns(CLOCK_MONOTONIC);
		back += now < last;
		last = now;
	}
	EXPECT_EQ(back, 0);
	EXPECT(last > 0);
}

TEST(gethrtime_is_the_monotonic_clock)
{
	int64_t a = clock_ns(CLOCK_MONOTONIC);
	int64_t b = gethrtime();
	int64_t c = clock_ns(CLOCK_MONOTONIC);

	EXPECT(a <= b && b <= c);
}

TEST(a_sleep_lasts_as_long_as_asked)
{
	const int64_t asked[] = { 1, 1000, MS, 20 * MS };

	for (unsigned i = 0; i < sizeof asked / sizeof asked[0]; i++) {
		struct timespec ts = { 0, asked[i] };
		int64_t start = clock_ns(CLOCK_MONOTONIC);

		EXPECT_EQ(nanosleep(&ts, NULL), 0);
		EXPECT(clock_ns(CLOCK_MONOTONIC) - start >= asked[i]);
	}
}

TEST(a_sleep_until_a_time_ends_after_it)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + 5 * MS;
	struct timespec ts = { until / 1000000000, until % 1000000000 };

	EXPECT_EQ(
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL), 0);
	EXPECT(clock_ns(CLOCK_MONOTONIC) >= until);
	/* A time in the past ends the sleep at once. */
	EXPECT_EQ(
	    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL), 0);
}

TEST(impossible_sleeps_are_refused)
{
	struct timespec big = { 0, 1000000000 }, negative = { -1, 0 };

	EXPECT_ERRNO(nanosleep(&big, NULL), EINVAL);
	EXPECT_ERRNO(nanosleep(&negative, NULL), EINVAL);
	EXPECT_ERRNO(clock_gettime(12345, &big), EINVAL);
}

TEST(other_clocks_are_there)
{
	struct timespec res = { -1, -1 };
	struct timeval tv = { 0, 0 };

	EXPECT(clock_ns(CLOCK_REALTIME) > 0);
	EXPECT_EQ(gettimeofday(&tv, NULL), 0);
	EXPECT(time(NULL) >= tv.tv_sec);
	EXPECT_EQ(clock_getres(CLOCK_MONOTONIC, &res), 0);
	EXPECT(res.tv_sec == 0 && res.tv_nsec > 0 && res.tv_nsec <= 1000);
}

TEST(time_passes_while_running)
{
	int64_t start = clock_ns(CLOCK_MONOTONIC);

	for (volatile int i = 0; i < 100000; i++)
		;
	EXPECT(clock_ns(CLOCK_MONOTONIC) > start);
	EXPECT_EQ(sched_yield(), 0);
}

TEST(times_counts_hundredths_of_seconds)
{
	struct tms tms = { -1, -1, -1, -1 };
	clock_t hz = sysconf(_SC_CLK_TCK);
	int64_t before = clock_ns(CLOCK_MONOTONIC);
	int64_t used_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	clock_t now = times(&tms);
	int64_t used_after = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int64_t after = clock_ns(CLOCK_MONOTONIC);

	EXPECT_EQ(hz, 100);
	EXPECT(before / (10 * MS) <= now && now <= after / (10 * MS));
	EXPECT(used_before / (10 * MS) <= tms.tms_utime);
	EXPECT(tms.tms_utime <= used_after / (10 * MS));
	EXPECT_EQ(tms.tms_stime, 0);
	EXPECT_EQ(tms.tms_cutime, 0);
	EXPECT(times(NULL) >= now);
}
