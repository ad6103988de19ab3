/* perf_event_open(2), for the programs of the image that test it. */
#pragma once

#include "tests/lib/image/cpc_test.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux, include/uapi/linux/perf_event.h, as far as it is used here. */
struct attr {
	uint32_t type, size;
	uint64_t config, period, sample_type, read_format, flags, more[10];
};
enum { HARDWARE, SOFTWARE, CACHE = 3, RAW };
enum { CYCLES, INSTRUCTIONS, BRANCHES = 4 };
enum { TASK_CLOCK = 1, FAULTS, SWITCHES, DUMMY = 9 };
enum { DISABLED = 1, INHERIT = 2, PINNED = 4, EXCLUSIVE = 8 };
enum { NO_KERNEL = 32, AT_EXEC = 1 << 12 };
enum { ENABLED_TIME = 1, RUNNING_TIME = 2, WITH_ID = 4, OF_GROUP = 8 };
enum {
	IOC_ENABLE = 0x2400,
	IOC_DISABLE,
	IOC_REFRESH,
	IOC_RESET,
	IOC_PERIOD = 0x40082404,
	IOC_ID = 0x80082407
};
#define SAMPLE_IP 1

static inline struct attr
attr_of(uint32_t type, uint64_t config, uint64_t format)
{
	return (struct attr){ .type = type,
		.size = sizeof(struct attr),
		.config = config,
		.read_format = format,
		.flags = DISABLED |
		         (own_privilege() == CPC_COUNT_USER ? NO_KERNEL : 0) };
}

static inline int
perf_open(struct attr attr, int group)
{
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);
}
