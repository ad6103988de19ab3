/*
 * A profile of depth 0 sums what the LWPs of the next program count; one whose
 * counters were taken before that program began goes on without.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cpc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/image/cpc_test.h"

TEST_KEEPS(16);

/* The next program. */
static void __attribute__((constructor)) spin_after_exec(void)
{
	cpc_t *cpc;

	if (getenv("AFTER_EXEC") == NULL)
		return;
	/* This tells whether the PMU is software, that spin() has to tell. */
	if ((cpc = test_cpc_open()) == NULL)
		_exit(1);
	spin(1000);
	_exit(0);
}

/* A set bound to a CPU takes the counters from every LWP, for good. */
static bool
revoke(cpc_t *cpc)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	return cpc_bind_cpu(cpc, 0, set, 0) == 0 && cpc_unbind(cpc, set) == 0;
}

static intptr_t
image(int fd, unsigned n, struct cpc_profile_image *im)
{
	return cpc_syscall(
	    CPC_OP_PROFILE_IMAGE, (uintptr_t)fd, n, (uintptr_t)im, 0);
}

static struct cpc_profile_stat
profile(cpc_t *cpc, bool revoked)
{
	char *argv[] = { test_argv[0], NULL },
	     *envv[] = { "AFTER_EXEC=1", NULL };
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int fd = open("/dev/profile", O_RDONLY | O_CLOEXEC), status = -1;
	struct cpc_profile_stat st = { 0 };
	struct cpc_profile_image im;
	pid_t pid;

	EXPECT(fd >= 0);
	if ((pid = fork()) == 0) {
		if (cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT) == 0 &&
		    cpc_syscall(CPC_OP_PROFILE, (uintptr_t)fd, 0, 0, 0) == 0 &&
		    (!revoked || revoke(cpc)))
			execve(test_argv[0], argv, envv);
		_exit(1);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(cpc_syscall(
		      CPC_OP_PROFILE_STAT, (uintptr_t)fd, (uintptr_t)&st, 0, 0),
	    0);
	EXPECT_EQ(image(fd, 0, &im), 0);
	EXPECT(strcmp(im.ci_path, test_argv[0]) == 0);
	EXPECT_EQ(image(fd, 1, &im), -ENOENT);
	EXPECT_EQ(image(fd, CPC_PROFILE_NO_IMAGE, &im), -ENOENT);
	close(fd);
	EXPECT_EQ(image(fd, 0, &im), -EBADF);
	return st;
}

CPC_TEST(the_next_program_is_counted)
{
	struct cpc_profile_stat st = profile(cpc, false);

	EXPECT_EQ(st.ct_lwps, 1);
	EXPECT_EQ(st.ct_revoked, 0);
	EXPECT(st.ct_events != 0);
}

CPC_TEST(what_was_revoked_before_counts_nothing)
{
	struct cpc_profile_stat st = profile(cpc, true);

	EXPECT_EQ(st.ct_lwps, 1);
	EXPECT_EQ(st.ct_revoked, 1);
	EXPECT_EQ(st.ct_events, 0);
}
