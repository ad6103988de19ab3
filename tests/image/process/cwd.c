/* The working directory, and paths from a descriptor's directory. */
#define _GNU_SOURCE
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
is_in(const char *path)
{
	char buf[64];

	return EXPECT(getcwd(buf, sizeof buf) == buf) && strcmp(buf, path) == 0;
}

static void
make_files(void)
{
	EXPECT_EQ(mkdir("/tmp/cwd", 0777), 0);
	EXPECT_EQ(mkdir("/tmp/cwd/deep", 0777), 0);
	EXPECT_EQ(
	    close(open("/tmp/cwd/deep/file", O_WRONLY | O_CREAT, 0666)), 0);
}

static void
remove_files(void)
{
	EXPECT_EQ(chdir("/"), 0);
	EXPECT_EQ(unlink("/tmp/cwd/deep/file"), 0);
	EXPECT_EQ(rmdir("/tmp/cwd/deep"), 0);
	EXPECT_EQ(rmdir("/tmp/cwd"), 0);
}

TEST(relative_paths_start_at_the_working_directory)
{
	struct stat st;
	char buf[8];

	EXPECT(is_in("/"));
	make_files();
	EXPECT_EQ(chdir("tmp/cwd"), 0);
	EXPECT(is_in("/tmp/cwd"));
	EXPECT_EQ(stat("deep/file", &st), 0);
	EXPECT_EQ(access("./deep/../deep/file", W_OK), 0);
	EXPECT_EQ(chdir("deep"), 0);
	EXPECT_EQ(rename("file", "../moved"), 0);
	EXPECT_EQ(rename("/tmp/cwd/moved", "file"), 0);
	EXPECT_EQ(mkdir("more", 0777), 0);
	EXPECT_EQ(rmdir("/tmp/cwd/deep/more"), 0);
	EXPECT_EQ(chmod("file", 0600), 0);
	EXPECT_EQ(stat("file", &st), 0);
	EXPECT_EQ(st.st_mode, S_IFREG | 0600);
	EXPECT_EQ(chdir(".."), 0);
	EXPECT(is_in("/tmp/cwd"));
	EXPECT_EQ(chdir("../../../.."), 0);
	EXPECT(is_in("/"));
	EXPECT_EQ(chdir("/tmp"), 0);
	EXPECT_ERRNO(readlink("cwd", buf, sizeof buf), EINVAL);
	remove_files();
}

TEST(errors)
{
	char buf[8];

	make_files();
	EXPECT_ERRNO(chdir("/tmp/cwd/deep/file"), ENOTDIR);
	EXPECT_ERRNO(chdir("/tmp/none"), ENOENT);
	EXPECT_ERRNO(chdir(""), ENOENT);
	EXPECT_ERRNO(chdir((const char *)8), EFAULT);
	EXPECT_ERRNO(fchdir(-1), EBADF);
	EXPECT_ERRNO(fchdir(1), ENOTDIR);
	EXPECT_EQ(chdir("/tmp/cwd"), 0);
	EXPECT(getcwd(buf, sizeof buf) == NULL && errno == ERANGE);
	EXPECT_ERRNO(open("file", O_RDONLY), ENOENT);
	remove_files();
}

TEST(paths_start_at_a_descriptor)
{
	struct stat st;
	int dir, fd;

	make_files();
	dir = open("/tmp/cwd", O_RDONLY | O_DIRECTORY);
	EXPECT((fd = openat(dir, "deep/file", O_RDONLY)) >= 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(fstatat(dir, "deep", &st, 0), 0);
	EXPECT_EQ(faccessat(dir, "deep/file", R_OK, 0), 0);
	EXPECT_ERRNO(fstatat(dir, "cwd", &st, 0), ENOENT);
	EXPECT_ERRNO(fstatat(99, "cwd", &st, 0), EBADF);
	EXPECT_ERRNO(openat(1, "cwd", O_RDONLY), ENOTDIR);
	EXPECT_EQ(fstatat(99, "/tmp/cwd", &st, 0), 0);
	/* faccessat2(2) */
	EXPECT_EQ(syscall(439, dir, "deep/file", R_OK, AT_EACCESS), 0);
	EXPECT_EQ(fchdir(dir), 0);
	EXPECT(is_in("/tmp/cwd"));
	/* The directory stays open for the process. */
	EXPECT_EQ(close(dir), 0);
	EXPECT_EQ(access("deep/file", R_OK), 0);
	remove_files();
}

TEST(a_child_inherits_the_directory)
{
	int pid;

	EXPECT_EQ(chdir("/tmp"), 0);
	if ((pid = fork()) == 0)
		_exit(is_in("/tmp") && chdir("/dev") == 0 && is_in("/dev") ? 7
									   : 1);
	EXPECT_EQ(test_wait_status(pid), 7 << 8);
	EXPECT(is_in("/tmp"));
	EXPECT_EQ(chdir("/"), 0);
}

/* The program executes itself: in another directory it ends with 5. */
static int
executes(const char *path)
{
	static char name[] = "cwd", *argv[] = { name, NULL },
		    *envv[] = { NULL };
	int pid = fork();

	if (pid == 0) {
		if (chdir("/tmp") == 0)
			execve(path, argv, envv);
		_exit(1);
	}
	return test_wait_status(pid) >> 8;
}

TEST(execve_finds_the_program)
{
	EXPECT_EQ(executes("../cwd"), 5);
	EXPECT_EQ(executes("/proc/self/exe"), 5);
	EXPECT_EQ(executes("cwd"), 1);
}

static __attribute__((constructor)) void
executed(void)
{
	char buf[8];

	if (getcwd(buf, sizeof buf) != NULL && strcmp(buf, "/tmp") == 0)
		_exit(5);
}
