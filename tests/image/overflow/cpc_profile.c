/*
 * A profile of depth 0 takes no samples.  It sums the counts of the next
 * program's LWPs.  If its counters were taken away before, the program runs
 * uncounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cpc.h>
#include <unistd.h>

#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(16);

/* The program that execve(2) starts. */
static void __attribute__((constructor)) spin_after_exec(void)
{
	cpc_t *cpc;

	if (getenv("AFTER_EXEC") == NULL)
		return;
	/* Detects a software PMU, which spin() must know. */
	if ((cpc = test_cpc_open()) == NULL)
		_exit(1);
	spin(1000);
	_exit(0);
}

/* A set bound to a CPU takes the counters from every LWP for good. */
static bool
revoke_counters(cpc_t *cpc)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	return cpc_bind_cpu(cpc, 0, set, 0) == 0 && cpc_unbind(cpc, set) == 0;
}

static intptr_t
profile_image(int fd, unsigned n, struct cpc_profile_image *im)
{
	return cpc_syscall(
	    CPC_OP_PROFILE_IMAGE, (uintptr_t)fd, n, (uintptr_t)im, 0);
}

static struct cpc_profile_stat
run_profiled(cpc_t *cpc, bool revoked)
{
	char *argv[] = { test_argv[0], NULL },
	     *envv[] = { "AFTER_EXEC=1", NULL };
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int fd = open("/dev/profile", O_RDONLY | O_CLOEXEC);
	struct cpc_profile_stat st = { 0 };
	struct cpc_profile_image im;
	pid_t pid;

	EXPECT(fd >= 0);
	if ((pid = fork()) == 0) {
		if (cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT) == 0 &&
		    cpc_syscall(CPC_OP_PROFILE, (uintptr_t)fd, 0, 0, 0) == 0 &&
		    (!revoked || revoke_counters(cpc)))
			execve(test_argv[0], argv, envv);
		_exit(1);
	}
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_EQ(cpc_syscall(
		      CPC_OP_PROFILE_STAT, (uintptr_t)fd, (uintptr_t)&st, 0, 0),
	    0);
	EXPECT_EQ(profile_image(fd, 0, &im), 0);
	EXPECT(strcmp(im.ci_path, test_argv[0]) == 0);
	EXPECT_EQ(profile_image(fd, 1, &im), -ENOENT);
	EXPECT_EQ(profile_image(fd, CPC_PROFILE_NO_IMAGE, &im), -ENOENT);
	close(fd);
	EXPECT_EQ(profile_image(fd, 0, &im), -EBADF);
	return st;
}

CPC_TEST(the_next_program_is_counted)
{
	struct cpc_profile_stat st = run_profiled(cpc, false);

	EXPECT_EQ(st.ct_lwps, 1);
	EXPECT_EQ(st.ct_revoked, 0);
	EXPECT(st.ct_events != 0);
}

CPC_TEST(a_revoked_profile_counts_nothing)
{
	struct cpc_profile_stat st = run_profiled(cpc, true);

	EXPECT_EQ(st.ct_lwps, 1);
	EXPECT_EQ(st.ct_revoked, 1);
	EXPECT_EQ(st.ct_events, 0);
}
