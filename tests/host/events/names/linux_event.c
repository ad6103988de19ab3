/* Linux's perf_event_open(2) events on each PMU: their codes and PICs. */
#include "events/pmu.h"
#include "include/sys/cpc.h"
#include "tests/lib/host/test.h"

#include <errno.h>

#define GENERAL 0x0fU
#define OWN(n)  (0x10U << (n))

static const struct {
	int kind;
	unsigned family;
	uint32_t type;
	uint64_t config, code;
	uint32_t pics;
	int err;
} rows[] = {
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 0, 0x3c, GENERAL | OWN(1), 0 },
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 1, 0xc0, GENERAL | OWN(0), 0 },
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 2, 0x4f2e, GENERAL, 0 },
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 4, 0xc4, GENERAL, 0 },
	/* CPUID says that mispredicted branches are absent. */
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 5, 0, 0, ENOENT },
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 7, 0, 0, ENOENT },
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 9, INTEL_FIXED_CODE(2), OWN(2), 0 },
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 10, 0, 0, EINVAL },
	{ CPC_PMU_INTEL, 6, LINUX_HARDWARE, 1ULL << 32, 0, 0, EINVAL },
	{ CPC_PMU_INTEL, 6, LINUX_CACHE, 0, 0, 0, ENOENT },
	{ CPC_PMU_INTEL, 6, LINUX_RAW, 0x1d1, 0x1d1, GENERAL, 0 },
	{ CPC_PMU_INTEL, 6, LINUX_RAW, 0xc0, 0xc0, GENERAL | OWN(0), 0 },
	{ CPC_PMU_INTEL, 6, LINUX_RAW, INTEL_FIXED_CODE(0), 0, 0, EINVAL },
	/* A count mask, and AMD's events of twelve bits. */
	{ CPC_PMU_INTEL, 6, LINUX_RAW, 0xff0001c2, 0xff0001c2, GENERAL, 0 },
	{ CPC_PMU_AMD, 0x17, LINUX_RAW, 0x1000000c7, 0x1000000c7, GENERAL, 0 },
	{ CPC_PMU_AMD, 0x10, LINUX_HARDWARE, 2, 0x077d, GENERAL, 0 },
	{ CPC_PMU_AMD, 0x17, LINUX_HARDWARE, 2, 0xff60, GENERAL, 0 },
	{ CPC_PMU_AMD, 0x17, LINUX_HARDWARE, 1, 0xc0, GENERAL, 0 },
	/* Bulldozer: three of its PICs count full load queues. */
	{ CPC_PMU_AMD, 0x15, LINUX_HARDWARE, 1, 0xc0, GENERAL, 0 },
	{ CPC_PMU_AMD, 0x15, LINUX_RAW, 0x23, 0x23, 0x7, 0 },
	{ CPC_PMU_ARM, 0x41, LINUX_HARDWARE, 0, 0x11, GENERAL, 0 },
	{ CPC_PMU_ARM, 0x41, LINUX_HARDWARE, 4, 0x21, GENERAL, 0 },
	{ CPC_PMU_ARM, 0x41, LINUX_HARDWARE, 5, 0, 0, ENOENT },
	{ CPC_PMU_ARM, 0x41, LINUX_CACHE, 0, 0x04, GENERAL, 0 },
	{ CPC_PMU_ARM, 0x41, LINUX_CACHE, 1 << 16, 0x03, GENERAL, 0 },
	{ CPC_PMU_ARM, 0x41, LINUX_CACHE, 1 << 8, 0, 0, ENOENT },
	{ CPC_PMU_ARM, 0x41, LINUX_CACHE, 6, 0, 0, ENOENT },
	{ CPC_PMU_ARM, 0x41, LINUX_RAW, 0x8a, 0x8a, GENERAL, 0 },
	{ CPC_PMU_SOFTWARE, 0, LINUX_HARDWARE, 1, SOFT_CODE(0), OWN(0), 0 },
	{ CPC_PMU_SOFTWARE, 0, LINUX_HARDWARE, 2, 0, 0, ENOENT },
	{ CPC_PMU_SOFTWARE, 0, LINUX_RAW, SOFT_CODE(9), 0, 0, EINVAL },
	{ CPC_PMU_INTEL, 6, LINUX_SOFTWARE, 9, 0, 0, 0 },
	{ CPC_PMU_INTEL, 6, LINUX_SOFTWARE, 7, 0, 0, ENOENT },
	{ CPC_PMU_INTEL, 6, 99, 0, 0, 0, ENOENT },
};

/* Arm's cycles, instructions, L1D and its refills, and BR_RETIRED. */
#define ARM_EVENTS (1 << 0x11 | 1 << 0x08 | 1 << 0x04 | 1 << 0x03)

TEST(codes_and_pics)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool arm = rows[i].kind == CPC_PMU_ARM;
		const struct linux_attr attr = { .type = rows[i].type,
			.config = rows[i].config };
		const struct cpc_pmu pm = { .pm_kind = (uint32_t)rows[i].kind,
			.pm_family = rows[i].family,
			.pm_general = GENERAL,
			.pm_own = { OWN(0), OWN(1), OWN(2) },
			.pm_events = { arm ? ARM_EVENTS : 0x3f, 2 } };
		struct cpc_packreq pr = { .cr_picnum = 0 };
		int err = events_linux(&pm, &attr, false, &pr);

		if (err != rows[i].err ||
		    (err == 0 && (pr.cr_event.ce_code != rows[i].code ||
				     pr.cr_event.ce_pics != rows[i].pics)))
			fail_msg("row %zu: %d, %#llx on %#x", i, err,
			    (unsigned long long)pr.cr_event.ce_code,
			    pr.cr_event.ce_pics);
	}
}

TEST(privileges_and_config1)
{
	struct cpc_pmu pm = { .pm_kind = CPC_PMU_AMD, .pm_general = GENERAL };
	struct linux_attr attr = { .config = 1 };
	struct cpc_packreq pr;

	assert_int_equal(events_linux(&pm, &attr, true, &pr), 0);
	assert_int_equal(pr.cr_flags, CPC_COUNT_USER | CPC_COUNT_SYSTEM);
	attr.flags = LINUX_NO_USER;
	assert_int_equal(events_linux(&pm, &attr, true, &pr), 0);
	assert_int_equal(pr.cr_flags, CPC_COUNT_SYSTEM);
	attr.flags = LINUX_NO_KERNEL;
	assert_int_equal(events_linux(&pm, &attr, false, &pr), 0);
	assert_int_equal(pr.cr_flags, CPC_COUNT_USER);
	assert_int_equal(events_linux(&pm, &attr, true, &pr), EOPNOTSUPP);
	attr = (struct linux_attr){ LINUX_RAW, .config = 0x1b7, .config1 = 1 };
	assert_int_equal(events_linux(&pm, &attr, false, &pr), 0);
	pm.pm_kind = CPC_PMU_INTEL; /* nothing sets MSR_OFFCORE_RSP_0 */
	assert_int_equal(events_linux(&pm, &attr, false, &pr), EINVAL);
}
