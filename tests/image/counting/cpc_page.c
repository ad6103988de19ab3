/* A sample by the counter page equals one by the system call, on each PIC. */
#include <pthread.h>
#include <stdio.h>
#include <sys/cpc.h>
#include <sys/processor.h>

#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(32);

/* At least so many events come between a bind and a sample. */
#define ROUND 20

static uint64_t
buf_value(cpc_t *cpc, cpc_buf_t *buf, int index)
{
	uint64_t v = 0;

	EXPECT_EQ(cpc_buf_get(cpc, buf, index, &v), 0);
	return v;
}

struct sample {
	struct cpc_sample head;
	uint64_t value[CPC_PAGE_REQS];
};

/* A sample by the system call, without the library. */
static struct sample
sample_by_call(cpc_set_t *set, int n)
{
	struct sample s;

	EXPECT_EQ(cpc_syscall(CPC_OP_SAMPLE, (uintptr_t)set >> 24,
		      (uintptr_t)&s, (uintptr_t)n, 0),
	    0);
	return s;
}

static uint64_t
by_call(cpc_set_t *set, int n)
{
	return sample_by_call(set, n).value[n - 1];
}

/* Presets: PICs begin at another value than 0, or wrap before the sample. */
static const uint64_t presets[] = {
	1,
	1ULL << 31,
	1ULL << 32,
	1ULL << 39 | 0x89abcdef,
	1ULL << 47 | 1ULL << 31,
	1ULL << 48 | 1,
	1ULL << 63,
	/* The last NROUND overflow, which the kernel handles, counted. */
	(1ULL << 32) - ROUND,
	(1ULL << 40) - ROUND,
	(1ULL << 48) - ROUND,
	0 - ROUND,
};
#define NSTARTS (sizeof presets / sizeof presets[0])
#define NROUND  4

/* Counts from the bind to three samples: by page, kernel, page. */
struct seen {
	uint64_t page, kernel, again;
};

static struct seen
seen_from(cpc_t *cpc, const char *event, uint_t pic, uint64_t start)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char name[] = "picnum";
	cpc_attr_t attr = { name, pic };
	struct seen seen;

	EXPECT_EQ(cpc_set_add_request(
		      cpc, set, event, start, own_privilege(), 1, &attr),
	    0);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	spin_loop(ROUND);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	seen.page = buf_value(cpc, buf, 0) - start;
	seen.kernel = by_call(set, 1) - start;
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	seen.again = buf_value(cpc, buf, 0) - start;
	cpc_set_destroy(cpc, set);
	return seen;
}

/* With every preset, the PIC's samples are those with preset 0. */
static void
check_pic(cpc_t *cpc, const char *event, uint_t pic)
{
	unsigned i, n = NSTARTS;
	struct seen zero, seen;

	if (own_privilege() == CPC_COUNT_SYSTEM)
		n -= NROUND;
	seen_from(cpc, event, pic, 0);
	zero = seen_from(cpc, event, pic, 0);
	EXPECT(zero.page < zero.kernel && zero.kernel < zero.again);
	for (i = 0; i < n; i++) {
		seen = seen_from(cpc, event, pic, presets[i]);
		if (!EXPECT_EQ(seen.page, zero.page) ||
		    !EXPECT_EQ(seen.kernel, zero.kernel) ||
		    !EXPECT_EQ(seen.again, zero.again))
			test_note("event: %s, PIC %u, preset %#llx", event, pic,
			    (unsigned long long)presets[i]);
	}
}

/* By each index and width.  Cycles are the same only in an emulator. */
CPC_TEST(page_and_kernel_agree_on_every_pic)
{
	static const char *const events[] = { INS_EVENT, "PAPI_tot_cyc",
		"cpu_clk_unhalted.ref" };
	unsigned n = emulated() ? sizeof events / sizeof events[0] : 1, i;
	uint_t pic, read = 0;

	NEEDS_DIRECT_READS();
	for (pic = 0; pic < cpc_npic(cpc); pic++) {
		for (i = 0; i < n && !pic_counts(cpc, events[i], pic); i++)
			;
		if (i == n)
			continue;
		check_pic(cpc, events[i], pic);
		read++;
	}
	printf("# %u of %u PICs were read\n", read, cpc_npic(cpc));
	EXPECT(read > 0);
}

/* CPC-SMP-05: samples by page and kernel in turn never go back. */
CPC_TEST(page_and_kernel_use_one_clock)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t time = 0, tick = 0, count = 0;
	unsigned i, back = 0;
	struct sample s;

	NEEDS_DIRECT_READS();
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	for (i = 0; i < 1000; i++) {
		EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
		s = sample_by_call(set, 1);
		back += (uint64_t)cpc_buf_hrtime(cpc, buf) < time ||
		        s.head.cs_hrtime < cpc_buf_hrtime(cpc, buf) ||
		        cpc_buf_tick(cpc, buf) <= tick ||
		        s.head.cs_tick <= cpc_buf_tick(cpc, buf) ||
		        buf_value(cpc, buf, 0) < count ||
		        s.value[0] < buf_value(cpc, buf, 0);
		count = s.value[0];
		time = (uint64_t)s.head.cs_hrtime;
		tick = s.head.cs_tick;
	}
	EXPECT_EQ(back, 0);
}

/* All LWPs of a process share 1,008 addresses for counter pages. */
#define NSTAY 600
#define NGO   600
#define STACK 16384

static pthread_barrier_t all_have_pages;
static unsigned lwps_without_page;

/* An LWP that may not read PICs gets an error. */
static intptr_t
page_get(void)
{
	return cpc_syscall(CPC_OP_PAGE, 0x1000, 0x1000, 0x1000, 0);
}

static void *
have_page(void *stays)
{
	if (page_get() <= 0)
		lwps_without_page++; /* no race: the LWPs share a CPU */
	if (stays != NULL)
		pthread_barrier_wait(&all_have_pages);
	return NULL;
}

static bool
start_lwp(pthread_t *t, void *stays)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	int err = pthread_create(t, &attr, have_page, stays);
	pthread_attr_destroy(&attr);
	return EXPECT_EQ(err, 0);
}

/* With many LWPs at the same time, and after many others. */
CPC_TEST(every_lwp_has_a_page)
{
	static pthread_t stay[NSTAY];
	pthread_t go;

	NEEDS_DIRECT_READS();
	EXPECT_EQ(processor_bind(P_PID, P_MYID, 0, NULL), 0);
	pthread_barrier_init(&all_have_pages, NULL, NSTAY + 1);
	for (unsigned n = 0; n < NSTAY; n++)
		REQUIRE(start_lwp(&stay[n], stay));
	for (unsigned n = 0; n < NGO && start_lwp(&go, NULL); n++)
		pthread_join(go, NULL);
	pthread_barrier_wait(&all_have_pages);
	for (unsigned n = 0; n < NSTAY; n++)
		pthread_join(stay[n], NULL);
	pthread_barrier_destroy(&all_have_pages);
	EXPECT_EQ(lwps_without_page, 0);
	processor_bind(P_PID, P_MYID, PBIND_NONE, NULL);
}
