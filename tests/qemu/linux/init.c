/*
 * An independent test: the first and only process of the distribution's Linux
 * kernel.  Linux's perf driver knows nothing of this project.  Its counts of a
 * loop of known length must be exact.
 *
 * perf_event_open(2).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYSLOG_READ_ALL 3
#define TURNS           1000000u
#define PERIOD          100000u
#define SAMPLED_TURNS   5000000u /* ten million instructions */
#define RING_PAGES      8

static unsigned ntests, nfailed;
static volatile sig_atomic_t nsignals;

static void
check(const char *name, uint64_t got, uint64_t want)
{
	printf("%sok %u - %s\n", got == want ? "" : "not ", ++ntests, name);
	if (got != want) {
		nfailed++;
		printf("# expected %llu, got %llu\n", (unsigned long long)want,
		    (unsigned long long)got);
	}
}

/* Two instructions per turn, one of them a branch */
static void
run_turns(uint64_t turns)
{
#ifdef __x86_64__
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns) : : "cc");
#else
	__asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(turns) : : "cc");
#endif
}

static int
event_open(uint64_t config, uint64_t period, bool user_only)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.sample_type = period != 0 ? PERF_SAMPLE_IP : 0,
		.wakeup_events = 1,
		.disabled = 1,
		.exclude_kernel = user_only,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint64_t
count_loop(uint64_t config, uint64_t turns)
{
	uint64_t count = 0;
	int fd = event_open(config, 0, true);

	if (fd < 0)
		return (uint64_t)-errno;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run_turns(turns);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		count = 0;
	close(fd);
	return count;
}

#ifdef __x86_64__
static bool
is_intel(void)
{
	uint32_t a = 0, b, c, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return b == 0x756e6547; /* "Genu" */
}
#endif

/* The count of a million more turns */
static uint64_t
count_million(uint64_t config)
{
	uint64_t once = count_loop(config, TURNS);

	return count_loop(config, 2 * TURNS) - once;
}

static void
on_signal(int signo)
{
	(void)signo;
	nsignals++;
}

/* The number of samples in a ring from which nothing was read yet */
static unsigned
samples_in(struct perf_event_mmap_page *page)
{
	char *data = (char *)page + page->data_offset;
	uint64_t at = 0;
	unsigned n = 0;

	while (at < page->data_head) {
		struct perf_event_header *h =
		    (struct perf_event_header *)(data + at);

		n += h->type == PERF_RECORD_SAMPLE;
		at += h->size;
	}
	return n;
}

static void
test_sampling(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct sigaction sa = { .sa_handler = on_signal };
	uint64_t count = 0;
	void *ring;

	int fd = event_open(PERF_COUNT_HW_INSTRUCTIONS, PERIOD, true);
	check("an event that samples opens", fd >= 0, true);
	if (fd < 0)
		return;
	ring = mmap(NULL, (RING_PAGES + 1) * page_bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	check("its ring maps", ring != MAP_FAILED, true);
	if (ring == MAP_FAILED)
		return;
	sigaction(SIGIO, &sa, NULL);
	fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
	fcntl(fd, F_SETOWN, getpid());
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run_turns(SAMPLED_TURNS);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	check("the count is readable",
	    read(fd, &count, sizeof(count)) == sizeof(count), true);
	check("signals in ten million instructions by 100000",
	    (uint64_t)nsignals, 2ull * SAMPLED_TURNS / PERIOD);
	check("samples", samples_in(ring), 2ull * SAMPLED_TURNS / PERIOD);
	check("count in periods", count / PERIOD, (uint64_t)nsignals);
	close(fd);
}

/* The lines of the kernel's log about its PMU */
static void
show_log(void)
{
	static char buf[1 << 18];
	static const char *const what[] = { "Performance Events", "PMU",
		"perfmon", "NMI watchdog", "... ", "hw perfevents" };
	bool broken = false;
	int n = klogctl(SYSLOG_READ_ALL, buf, sizeof(buf) - 1);

	buf[n > 0 ? n : 0] = '\0';
	for (char *line = strtok(buf, "\n"); line != NULL;
	     line = strtok(NULL, "\n")) {
		char *text = strchr(line, ']');

		broken |= strstr(line, "Broken PMU") != NULL;
		for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
			if (strstr(line, what[i]) != NULL) {
				printf("# linux:%s\n", text ? text + 1 : line);
				break;
			}
	}
	check("the kernel finds no fault with the PMU", broken, false);
}

int
main(void)
{
	puts("TAP version 13");
	show_log();
	check("instructions:u of a million turns",
	    count_million(PERF_COUNT_HW_INSTRUCTIONS), 2 * TURNS);
#ifdef __x86_64__
	check("branches:u", count_million(PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
	    TURNS);
	check("cycles:u, two per instruction",
	    count_million(PERF_COUNT_HW_CPU_CYCLES), 4 * TURNS);
	if (is_intel())
		check("cache misses are refused, because CPUID lists none",
		    count_loop(PERF_COUNT_HW_CACHE_MISSES, 1),
		    (uint64_t)-ENOENT);
#else
	check("cycles:u", count_million(PERF_COUNT_HW_CPU_CYCLES), 2 * TURNS);
#endif
	uint64_t n = count_loop(PERF_COUNT_HW_INSTRUCTIONS, TURNS);
	check("a repeated count is the same",
	    count_loop(PERF_COUNT_HW_INSTRUCTIONS, TURNS), n);
	test_sampling();
	printf("1..%u\n", ntests);
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return nfailed != 0;
}
