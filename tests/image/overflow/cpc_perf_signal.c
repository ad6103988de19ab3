/*
 * perf_event_open(2): each end of a period sends a signal and writes a sample,
 * and nothing is lost.  A mapped page gives counts without a system call.
 */
#define _GNU_SOURCE /* F_SETSIG, gettid() */
#include "tests/lib/image/perf.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define LATE 64 /* instructions after the last of a period, on x86 */
#define SIG  (SIGRTMIN + 2)

TEST_KEEPS(32);

static volatile int hits;
static siginfo_t last;

static void
on_period(int sig, siginfo_t *si, void *context)
{
	last = *si;
	hits++;
}

/* A disabled group: a period's event, for which signals come, and another. */
static void
open_group(int fd[2], uint64_t period)
{
	struct f_owner_ex self = { F_OWNER_TID, gettid() };
	struct sigaction sa = { .sa_flags = SA_SIGINFO };
	struct attr attr = attr_of(HARDWARE, INSTRUCTIONS, OF_GROUP);

	attr.sample_type = SAMPLE_IP;
	attr.period = period;
	fd[0] = perf_open(attr, -1);
	attr.period = 0;
	attr.flags &= ~(uint64_t)DISABLED;
	fd[1] = perf_open(attr, fd[0]);
	sa.sa_sigaction = on_period;
	sigaction(SIG, &sa, NULL);
	EXPECT_EQ(fcntl(fd[0], F_SETFL, O_ASYNC), 0);
	EXPECT_EQ(fcntl(fd[0], F_GETFL), O_RDWR | O_ASYNC);
	EXPECT_EQ(fcntl(fd[0], F_SETOWN_EX, &self), 0);
	EXPECT_EQ(fcntl(fd[0], F_SETSIG, SIG), 0);
}

/* struct perf_event_mmap_page. */
struct page {
	uint32_t version, compat, lock, index;
	uint64_t offset, enabled, running, caps;
	uint16_t width;
	char more[974];
	uint64_t head, tail;
};

static void *
map(int fd, size_t pages, int how)
{
	return mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, how, fd, 0);
}

CPC_TEST(each_period_sends_a_signal)
{
	static const uint64_t periods[] = { 10000, 5000, 100 };
	uint64_t v[3], before = 0;
	struct page *page;
	int fd[2], want = 0;

	NEEDS_USER_INSTRUCTIONS();
	NEEDS_EXACT_OVERFLOW();
	if (software_pmu)
		SKIP("no PMU of hardware: one of software counts many at once");
	open_group(fd, 1);
	page = map(fd[0], 2, MAP_SHARED);
	REQUIRE(page != MAP_FAILED);
	munmap(mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd[0], 0), 8192);
	const uint64_t *samples = (uint64_t *)page + 512;
	for (int n = 1; n <= 3; n++) {
		uint64_t period = periods[n - 1];

		EXPECT_EQ(ioctl(fd[0], IOC_PERIOD, &period), 0);
		EXPECT_EQ(ioctl(fd[0], IOC_REFRESH, n), 0);
		spin(20000);
		EXPECT_EQ(hits, want += n);
		EXPECT(last.si_fd == fd[0] && last.si_signo == SIG);
		EXPECT(last.si_code == POLL_HUP && last.si_band == 0x18);
		EXPECT_EQ(read(fd[0], v, sizeof v), sizeof v);
		EXPECT_EQ(v[1], v[2]);
		EXPECT_EQ(page->head, (uint64_t)hits * 16);
		EXPECT_EQ(
		    samples[page->head / 8 - 2], 9 | 2UL << 32 | 16UL << 48);
		EXPECT(samples[page->head / 8 - 1] - (uintptr_t)spin_loop < 64);
		EXPECT(v[1] - before - (uint64_t)n * period < LATE);
		before = v[1];
	}
	/* Without a limit.  The page of samples is full, and stays so. */
	EXPECT_EQ(ioctl(fd[0], IOC_PERIOD, &periods[2]), 0);
	EXPECT_EQ(ioctl(fd[0], IOC_ENABLE, 0), 0);
	spin(20000);
	EXPECT_EQ(ioctl(fd[0], IOC_DISABLE, 0), 0);
	EXPECT_EQ(read(fd[0], v, sizeof v), sizeof v);
	EXPECT_EQ((uint64_t)(hits - want), (v[1] - before) / periods[2]);
	EXPECT(last.si_code == POLL_IN && last.si_band == 0x41);
	EXPECT_EQ(v[1], v[2]);
	EXPECT(hits > 256 && page->head == 4096);
	munmap(page, 8192);
	close(fd[0]);
	close(fd[1]);
}

static uint64_t
read_pic(uint32_t n)
{
	uint64_t v;
#ifdef __x86_64__
	uint32_t high;

	__asm__ volatile("rdpmc" : "=a"(v), "=d"(high) : "c"(n));
	v |= (uint64_t)high << 32;
#else
	__asm__ volatile("msr pmselr_el0, %1; isb; mrs %0, pmxevcntr_el0"
			 : "=r"(v)
			 : "r"((uint64_t)n));
#endif
	return v;
}

/* The count, by the page alone; as the page's user does it. */
ONE_COPY static uint64_t
direct(const volatile struct page *page)
{
	uint64_t count;
	uint32_t lock;

	do {
		lock = page->lock;
		count = page->offset;
		if (page->index != 0)
			count += read_pic(page->index - 1);
	} while (page->lock != lock);
	return count;
}

ONE_COPY static uint64_t
direct_spin(const volatile struct page *page, uint64_t n)
{
	uint64_t before = direct(page);

	spin(n);
	return direct(page) - before;
}

CPC_TEST(direct_reads_are_the_counts)
{
	struct attr attr = attr_of(HARDWARE, INSTRUCTIONS, 0);
	struct page *page;
	uint64_t v = 0;
	int fd;

	NEEDS_DIRECT_READS();
	NEEDS_USER_INSTRUCTIONS();
	fd = perf_open(attr, -1);
	EXPECT_EQ((intptr_t)map(fd, 1, MAP_PRIVATE), -1);
	EXPECT_EQ((intptr_t)map(fd, 4, MAP_SHARED), -1);
	page = map(fd, 1, MAP_SHARED);
	REQUIRE(page != MAP_FAILED);
	EXPECT_EQ((intptr_t)map(fd, 2, MAP_SHARED), -1);
	munmap(page, 4096);
	page = map(fd, 2, MAP_SHARED);
	REQUIRE(page != MAP_FAILED);
	EXPECT((page->caps & 4) != 0 && page->index == 0 && page->width == 64);
	read_pic(0); /* of another event, or of none: it does not fault */
	ioctl(fd, IOC_ENABLE, 0);
	EXPECT(page->index != 0);
	direct_spin(page, 1000);
	v = direct_spin(page, 1000);
	sched_yield();
	EXPECT_EQ(direct_spin(page, 3000) - v, 2000 * SPIN_INSNS);
	ioctl(fd, IOC_DISABLE, 0);
	EXPECT_EQ(read(fd, &v, sizeof v), sizeof v);
	EXPECT(page->index == 0 && page->offset == v && v > 8000);
	ioctl(fd, IOC_RESET, 0);
	EXPECT_EQ(direct(page), 0);
	munmap(page, 2 * 4096);
	close(fd);
}

CPC_TEST(errors_are_those_of_linux)
{
	struct attr attr = attr_of(SOFTWARE, TASK_CLOCK, 0);
	struct f_owner_ex nobody = { F_OWNER_TID, 1 << 30 };
	uint64_t none = 0, one = 1;
	struct page *page;
	int fd[2];

	NEEDS_EXACT_OVERFLOW();
	open_group(fd, 1);
	page = mmap((void *)((uintptr_t)spin_loop & -4096UL), 8192, PROT_READ,
	    MAP_SHARED | MAP_FIXED_NOREPLACE, fd[0], 0);
	EXPECT_ERRNO((intptr_t)page, EEXIST);
	EXPECT_EQ(ioctl(fd[0], IOC_REFRESH, 1), 0);
	page = mmap(NULL, 4096, PROT_NONE, MAP_SHARED, fd[0], 0);
	EXPECT_EQ(mprotect(page, 4096, PROT_READ), 0);
	EXPECT_EQ(page->width, 64);
	EXPECT(software_pmu || page->offset > 0);
	EXPECT_EQ(ioctl(fd[0], IOC_RESET, 0), 0);
	EXPECT_EQ(page->offset, 0);
	attr.period = 1;
	EXPECT_ERRNO(perf_open(attr, -1), EOPNOTSUPP);
	EXPECT_ERRNO(ioctl(fd[0], IOC_PERIOD, NULL), EFAULT);
	EXPECT_ERRNO(ioctl(fd[0], IOC_PERIOD, &none), EINVAL);
	EXPECT_ERRNO(ioctl(fd[1], IOC_PERIOD, &one), EINVAL);
	EXPECT_ERRNO(ioctl(fd[1], IOC_REFRESH, 1), EINVAL);
	EXPECT_ERRNO(fcntl(fd[0], F_SETSIG, 65), EINVAL);
	EXPECT_ERRNO(fcntl(fd[0], F_SETOWN_EX, &nobody), ESRCH);
	/* Events of the kernel end each period, and yet the program goes on. */
	attr = attr_of(HARDWARE, INSTRUCTIONS, 0);
	attr.flags = 0;
	attr.period = 20;
	close(perf_open(attr, -1));
	close(fd[0]);
	close(fd[1]);
}
