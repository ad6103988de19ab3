/* capget(2): no process has a capability; each version is accepted. */
#define _GNU_SOURCE /* syscall() */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Linux, include/uapi/linux/capability.h. */
#define VERSION_1 0x19980330
#define VERSION_2 0x20071026
#define VERSION_3 0x20080522
#define WORDS     6 /* of two struct __user_cap_data_struct */

struct header {
	uint32_t version;
	int pid;
};

static uint32_t data[WORDS];

/* Fills data with ones before the call. */
static long
get(uint32_t version, int pid)
{
	struct header head = { version, pid };

	memset(data, 0xff, sizeof data);
	return syscall(SYS_capget, &head, data);
}

/* The first n words became 0, and no others. */
static bool
zeroed(unsigned n)
{
	for (unsigned i = 0; i < WORDS; i++) {
		if (data[i] != (i < n ? 0 : UINT32_MAX))
			return false;
	}
	return true;
}

TEST(no_capability_in_any_version)
{
	EXPECT_EQ(get(VERSION_1, 0), 0);
	EXPECT(zeroed(3));
	EXPECT_EQ(get(VERSION_2, 0), 0);
	EXPECT(zeroed(6));
	EXPECT_EQ(get(VERSION_3, getpid()), 0);
	EXPECT(zeroed(6));
}

TEST(another_process)
{
	pid_t child = fork();

	if (child == 0) {
		for (;;)
			pause();
	}
	REQUIRE(child > 0);
	EXPECT_EQ(get(VERSION_3, child), 0);
	EXPECT(zeroed(6));
	EXPECT_EQ(kill(child, SIGKILL), 0);
	EXPECT_EQ(waitpid(child, NULL, 0), child);
	EXPECT_ERRNO(get(VERSION_3, child), ESRCH);
	EXPECT_ERRNO(get(VERSION_3, -1), EINVAL);
	EXPECT(zeroed(0));
}

/* Programs ask for the newest version by one that does not exist. */
TEST(the_newest_version_is_told)
{
	struct header head = { 0, 0 };

	EXPECT_EQ(syscall(SYS_capget, &head, NULL), 0);
	EXPECT_EQ(head.version, VERSION_3);
	head.version = 1;
	EXPECT_ERRNO(syscall(SYS_capget, &head, data), EINVAL);
	EXPECT_EQ(head.version, VERSION_3);
}

TEST(bad_pointers)
{
	static const struct header unknown = { 1, 0 };
	struct header head = { VERSION_3, 0 };

	EXPECT_ERRNO(syscall(SYS_capget, 8, data), EFAULT);
	EXPECT_ERRNO(syscall(SYS_capget, &head, 8), EFAULT);
	EXPECT_ERRNO(syscall(SYS_capget, &unknown, NULL), EFAULT);
}
