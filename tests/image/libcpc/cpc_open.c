/* Handles open, close, report errors, and are independent of each other. */
#include "tests/lib/image/cpc_test.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/lwp.h>
#include <ucontext.h>

TEST_KEEPS(16);

/* CPC-OPEN-01, CPC-OPEN-03, CPC-PCBE-07: a handle, or ENOSYS. */
TEST(open_gives_a_handle_or_enosys)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	EXPECT(cpc != NULL || errno == ENOSYS);
	cpc_close(cpc);
}

static void
refuses_version(int version)
{
	errno = 0;
	EXPECT(cpc_open(version) == NULL);
	EXPECT_EQ(errno, EINVAL);
}

/* CPC-OPEN-02, CPC-OPEN-04: with and without a PMU. */
TEST(open_refuses_other_versions)
{
	refuses_version(CPC_VER_NONE);
	refuses_version(CPC_VER_1);
	refuses_version(3);
	refuses_version(-1);
}

/* CPC-OPEN-05 */
CPC_TEST(two_handles_are_independent)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	REQUIRE(other != NULL);
	EXPECT(other != cpc);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_close(other), 0);
	work();
	EXPECT(sampled(cpc, set, 0) > 0);
}

/* CPC-CLOSE-01, CPC-CLOSE-02 */
CPC_TEST(close_unbinds)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);

	REQUIRE(other != NULL);
	cpc_set_t *set = set_of(other, ANY_EVENT);
	EXPECT(cpc_buf_create(other, set) != NULL);
	EXPECT_EQ(cpc_bind_curlwp(other, set, 0), 0);
	EXPECT_EQ(cpc_close(other), 0);
	EXPECT_ERRNO(cpc_enable(cpc), EINVAL);
}

/* CPC-CLOSE-05 */
TEST(close_of_null_is_0)
{
	EXPECT_EQ(cpc_close(NULL), 0);
}

static int
bad_add(cpc_t *cpc)
{
	return cpc_set_add_request(
	    cpc, cpc_set_create(cpc), "no such event", 0, 0, 0, NULL);
}

/* The line is `text`, or that, a colon and a reason, by the CPU's table. */
static bool
is_line_of(const char *line, const char *text)
{
	size_t n = strlen(text);
	const char *end = strchr(line, '\n');

	return strncmp(line, text, n) == 0 &&
	       (line[n] == '\n' || strncmp(line + n, ": ", 2) == 0) &&
	       end != NULL && end[1] == '\0';
}

/* CPC-ERR-02, CPC-ERR-06, CPC-ERR-07 */
CPC_TEST(handler_is_called_once)
{
	EXPECT_REPORTED(
	    bad_add(cpc), EINVAL, "cpc_set_add_request", CPC_INVALID_EVENT);
	EXPECT(is_line_of(test_detail.text, "Unknown event"));
	EXPECT_SILENT(cpc_bind_curlwp(cpc, cpc_set_create(cpc), 0), EINVAL);
}

static cpc_t *failing_handle;

static void
use_the_library(const char *fn, int subcode, const char *fmt, va_list ap)
{
	EXPECT(cpc_npic(failing_handle) >= 1);
	EXPECT(cpc_set_create(failing_handle) != NULL);
	errno = 0;
}

/* CPC-ERR-03, CPC-ERR-08 */
CPC_TEST(handler_may_use_the_library_and_errno)
{
	failing_handle = cpc;
	EXPECT_EQ(cpc_seterrhndlr(cpc, use_the_library), 0);
	EXPECT_ERRNO(bad_add(cpc), EINVAL);
}

/* CPC-ERR-05 */
CPC_TEST(handlers_belong_to_their_handle)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);

	REQUIRE(other != NULL);
	failing_handle = other;
	cpc_seterrhndlr(other, use_the_library);
	EXPECT_SILENT(bad_add(other), EINVAL);
	cpc_close(other);
}

/* CPC-CONST-01, CPC-CONST-02, CPC-CONST-04, with the image's C library. */
TEST(constants_have_their_values)
{
	ucontext_t uc;

	memset(&uc, 0, sizeof uc);
	EXPECT_EQ(CPC_VER_CURRENT, 2);
	EXPECT_EQ(CPC_OVF_NOTIFY_EMT | CPC_COUNT_USER << 4 |
		      CPC_COUNT_SYSTEM << 8 | CPC_COUNT_HV << 12,
	    0x8421);
	EXPECT_EQ(SIGEMT, 16);
	EXPECT_EQ(EMT_CPCOVF, 1);
	uc.uc_mcontext.gregs[REG_PC] = 1;
	uc.uc_mcontext.gregs[REG_SP] = 2;
#ifdef __aarch64__
	EXPECT_EQ(uc.uc_mcontext.pc, 1);
	EXPECT_EQ(uc.uc_mcontext.sp, 2);
#else
	EXPECT_EQ(uc.uc_mcontext.gregs[16], 1); /* RIP */
	EXPECT_EQ(uc.uc_mcontext.gregs[15], 2); /* RSP */
#endif
	EXPECT_EQ(offsetof(cpc_attr_t, ca_name), 0);
	EXPECT_EQ(sizeof((cpc_attr_t *)0)->ca_val, 8);
}

/* With and without a PMU: LWP ids of a process start at 1. */
TEST(first_lwp_is_1)
{
	EXPECT_EQ(_lwp_self(), 1);
}
