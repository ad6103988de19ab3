/* Bad addresses in the counters' system call: EFAULT, and nothing changes. */
#include "events/machine.h"
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <string.h>
#include <sys/cpc.h>
#include <sys/mman.h>
#include <unistd.h>

TEST_KEEPS(16);

#define SET 0x7777 /* an id that the library gave to no set */

static struct {
	struct cpc_pack head;
	struct cpc_packreq req;
} pack;
static char scratch[256];

static const uintptr_t bad[] = { 8, 0xffff, (uintptr_t)1 << 45,
	0x00007ffffffffff8, 0x0000800000000000, 0x8000000000000000,
	0xffff000000000000, 0xffffffff80000000, (uintptr_t)-8 };
#define NBAD (sizeof bad / sizeof bad[0])

static long
cpc_call(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	return syscall(BARECPC_SYS_CPC, (long)op, a, b, c, d);
}

/* Make a set of one request, as the library packs it. */
static bool
make_pack(void)
{
	memset(&pack, 0, sizeof pack);
	pack.head.cp_set = SET;
	pack.head.cp_nreqs = 1;
	pack.req.cr_flags = CPC_COUNT_USER;
	pack.req.cr_picnum = -1;
	return machine_name(machine_here(), ANY_EVENT, &pack.req.cr_event);
}

/* Every operation that reads or writes memory, with each bad address. */
CPC_TEST(bad_addresses_are_efault)
{
	const uintptr_t all = sizeof scratch;

	REQUIRE(make_pack());
	for (unsigned i = 0; i < NBAD; i++) {
		uintptr_t p = bad[i];

		EXPECT_ERRNO(cpc_call(CPC_OP_BIND, p, SET, 0, 0), EFAULT);
		EXPECT_ERRNO(
		    cpc_call(CPC_OP_BIND, p, SET, CPC_TARGET_CPU(0), 0),
		    EFAULT);
		EXPECT_ERRNO(cpc_call(CPC_OP_PMU, p, 0, 0, 0), EFAULT);
		EXPECT_ERRNO(cpc_call(CPC_OP_IMPL_NAME, 0, p, all, 0), EFAULT);
		EXPECT_ERRNO(cpc_call(CPC_OP_CPUREF, 0, p, all, 0), EFAULT);
	}
	EXPECT_ERRNO(cpc_disable(cpc), EINVAL); /* nothing was bound */
}

/* Operations on a bound set, which continues to count. */
CPC_TEST(bad_addresses_for_a_bound_set)
{
	EXPECT(make_pack());
	EXPECT_EQ(cpc_call(CPC_OP_BIND, (uintptr_t)&pack, SET, 0, 0), 0);
	for (unsigned i = 0; i < NBAD; i++) {
		EXPECT_ERRNO(
		    cpc_call(CPC_OP_SAMPLE, SET, bad[i], 1, 0), EFAULT);
		EXPECT_ERRNO(cpc_call(CPC_OP_WHERE, SET, 0, bad[i], 0), EFAULT);
	}
	EXPECT_EQ(cpc_call(CPC_OP_SAMPLE, SET, (uintptr_t)scratch, 1, 0), 0);
	EXPECT_EQ(cpc_call(CPC_OP_RELE, SET, 0, 0, 0), 0);
}

/* Its subcode cannot be stored either: the call fails with EFAULT. */
CPC_TEST(no_place_for_the_subcode)
{
	EXPECT(make_pack());
	pack.req.cr_picnum = 1000;
	for (unsigned i = 0; i < NBAD; i++)
		EXPECT_ERRNO(
		    cpc_call(CPC_OP_BIND, (uintptr_t)&pack, SET, 0, bad[i]),
		    EFAULT);
	EXPECT_ERRNO(cpc_disable(cpc), EINVAL);
}

/* Objects that begin in memory and end in a hole. */
CPC_TEST(objects_that_end_in_a_hole)
{
	const size_t page = 4096;
	char *p = test_map(2 * page, PROT_READ | PROT_WRITE);
	char *end = p + page;

	REQUIRE(p != NULL && munmap(end, page) == 0);
	EXPECT(make_pack());
	memcpy(end - sizeof pack + 8, &pack, sizeof pack - 8);
	EXPECT_ERRNO(cpc_call(CPC_OP_BIND, (uintptr_t)(end - sizeof pack + 8),
			 SET, 0, 0),
	    EFAULT);
	memcpy(end - sizeof pack, &pack, sizeof pack);
	EXPECT_EQ(
	    cpc_call(CPC_OP_BIND, (uintptr_t)(end - sizeof pack), SET, 0, 0),
	    0);
	EXPECT_ERRNO(
	    cpc_call(CPC_OP_SAMPLE, SET, (uintptr_t)(end - 8), 1, 0), EFAULT);
	EXPECT_EQ(cpc_call(CPC_OP_RELE, SET, 0, 0, 0), 0);
	EXPECT_ERRNO(
	    cpc_call(CPC_OP_PMU, (uintptr_t)(end - 8), 0, 0, 0), EFAULT);
	EXPECT_EQ(munmap(p, page), 0);
}

/* A read sequence continues at an address of the program, or is refused. */
CPC_TEST(read_sequences_outside_the_program)
{
	const uintptr_t mine = (uintptr_t)scratch;

	for (unsigned i = 3; i < NBAD; i++) {
		if (bad[i] < 0x0000800000000000)
			continue;
		EXPECT(cpc_call(CPC_OP_PAGE, bad[i], mine, mine, 0) < 0);
		EXPECT(cpc_call(CPC_OP_PAGE, mine, bad[i], mine, 0) < 0);
		EXPECT(cpc_call(CPC_OP_PAGE, mine, mine, bad[i], 0) < 0);
	}
}
