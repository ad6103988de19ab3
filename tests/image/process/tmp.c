/* Files in /tmp can be made, written, renamed and removed as on Linux. */
#include "tests/lib/image/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_KEEPS(320); /* stdio, directories, copies of an executed program */

#define NAME "/tmp/one"

static off_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : -1;
}

static int
make_file(const char *path, const char *text)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);

	if (fd >= 0)
		EXPECT_EQ(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

TEST(newer_calls_know_the_file)
{
	struct iovec iov[2] = { { (char[3]){ "ab" }, 2 },
		{ (char[3]){ "cd" }, 2 } };
	uint32_t stx[64];
	char buf[8] = "";
	int fd = make_file(NAME, "0123456789"), dir = open("/tmp", O_RDONLY);

	REQUIRE(fd >= 0);
	EXPECT_ERRNO(preadv(dir, iov, 1, 0), EISDIR);
	EXPECT_EQ(close(dir), 0);
	EXPECT_EQ(pwritev(fd, iov, 2, 4), 4);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 10);
	EXPECT_EQ(preadv(fd, iov, 1, 7), 2);
	EXPECT(memcmp(iov[0].iov_base, "d8", 2) == 0);
	EXPECT_ERRNO(preadv(fd, iov, 1, -1), EINVAL);
	EXPECT_ERRNO(preadv(1, iov, 1, 0), ESPIPE);
	EXPECT_EQ(fallocate(fd, 1, 0, 20), 0);
	EXPECT_EQ(size_of(NAME), 10);
	EXPECT_EQ(fallocate(fd, 0, 8, 8), 0);
	EXPECT_EQ(size_of(NAME), 16);
	EXPECT_EQ(pread(fd, buf, 8, 8), 8);
	EXPECT(memcmp(buf, "89\0\0\0\0\0\0", 8) == 0);
	EXPECT_ERRNO(fallocate(fd, 2, 0, 8), ENOTSUP);
	EXPECT_EQ(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL), 0);
	EXPECT_EQ(posix_fadvise(99, 0, 0, POSIX_FADV_SEQUENTIAL), EBADF);
	EXPECT_EQ(syscall(SYS_statx, fd, "", 0x1000, 0x7ff, stx), 0);
	EXPECT_EQ(stx[4], 1);              /* stx_nlink */
	EXPECT_EQ(stx[7], S_IFREG | 0644); /* stx_mode */
	EXPECT_EQ(stx[10], 16);            /* stx_size */
	EXPECT_ERRNO(syscall(SYS_statx, -100, NAME, 1, 0, stx), EINVAL);
	EXPECT_ERRNO(syscall(SYS_statx, fd, "", 0x1000, ~0u, stx), EINVAL);
	EXPECT_ERRNO(syscall(SYS_statx, -100, "/tmp/no", 0, 0, stx), ENOENT);
	EXPECT_ERRNO(syscall(SYS_fgetxattr, fd, "user.x", buf, 8), ENOTSUP);
	EXPECT_EQ(truncate(NAME, 3), 0);
	EXPECT_EQ(size_of(NAME), 3);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
	EXPECT_EQ(getgroups(0, NULL), 0);
	EXPECT_EQ(getresgid(&stx[0], &stx[1], &stx[2]), 0);
	EXPECT(stx[0] == 0 && stx[1] == 0 && stx[2] == 0);
}

TEST(what_is_written_is_read)
{
	char buf[16] = "";
	struct stat st;
	int fd = make_file(NAME, "hello, world");

	REQUIRE(fd >= 0);
	EXPECT_EQ(lseek(fd, 7, SEEK_SET), 7);
	EXPECT_EQ(read(fd, buf, sizeof buf), 5);
	EXPECT(strcmp(buf, "world") == 0);
	EXPECT_EQ(pwrite(fd, "W", 1, 7), 1);
	EXPECT_EQ(pread(fd, buf, 5, 7), 5);
	EXPECT(strcmp(buf, "World") == 0);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(st.st_size, 12);
	EXPECT_EQ(st.st_mode, S_IFREG | 0644);
	EXPECT_EQ(fsync(fd), 0);
	EXPECT_EQ(fdatasync(fd), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
	EXPECT_ERRNO(open(NAME, O_RDONLY), ENOENT);
}

TEST(a_hole_reads_as_zeros)
{
	char buf[8192], zero[8192] = { 0 };
	int fd = make_file(NAME, "x");

	REQUIRE(fd >= 0);
	EXPECT_EQ(pwrite(fd, "y", 1, 100000), 1);
	EXPECT_EQ(size_of(NAME), 100001);
	EXPECT_EQ(pread(fd, buf, sizeof buf, 50000), (long)sizeof buf);
	EXPECT(memcmp(buf, zero, sizeof buf) == 0);
	/* Bytes that were cut off do not come back. */
	EXPECT_EQ(ftruncate(fd, 1), 0);
	EXPECT_EQ(ftruncate(fd, 200000), 0);
	EXPECT_EQ(pread(fd, buf, 2, 99999), 2);
	EXPECT(buf[0] == 0 && buf[1] == 0);
	EXPECT_EQ(pread(fd, buf, 1, 0), 1);
	EXPECT_EQ(buf[0], 'x');
	EXPECT_ERRNO(ftruncate(fd, -1), EINVAL);
	EXPECT_ERRNO(pwrite(fd, "x", 1, -1), EINVAL);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
}

/* A write that fails in the middle leaves no byte after the file's end. */
TEST(a_bad_address_changes_nothing_after_the_end)
{
	char *two = test_map(8192, PROT_READ | PROT_WRITE);
	char buf[64], zero[64] = { 0 };
	int fd = make_file(NAME, "abc");

	REQUIRE(fd >= 0 && two != NULL);
	memset(two, 'z', 8192);
	EXPECT_EQ(mprotect(two + 4096, 4096, PROT_NONE), 0);
	EXPECT_ERRNO(write(fd, two + 4096 - 64, 128), EFAULT);
	EXPECT_EQ(size_of(NAME), 3);
	EXPECT_EQ(ftruncate(fd, 100), 0);
	EXPECT_EQ(pread(fd, buf, sizeof buf, 3), (long)sizeof buf);
	EXPECT(memcmp(buf, zero, sizeof buf) == 0);
	EXPECT_EQ(munmap(two, 8192), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
}

TEST(flags_of_open)
{
	char buf[8] = "";
	int fd = make_file(NAME, "abc"), again;

	REQUIRE(fd >= 0);
	EXPECT_ERRNO(open(NAME, O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
	again = open(NAME, O_WRONLY | O_APPEND);
	REQUIRE(again >= 0);
	EXPECT_EQ(write(again, "de", 2), 2);
	EXPECT_EQ(read(fd, buf, sizeof buf), 2); /* fd is after "abc" */
	EXPECT(memcmp(buf, "de", 2) == 0);
	EXPECT_ERRNO(read(again, buf, 1), EBADF);
	EXPECT_EQ(close(again), 0);
	again = open(NAME, O_RDONLY);
	EXPECT_ERRNO(write(again, "x", 1), EBADF);
	EXPECT_EQ(close(again), 0);
	EXPECT_EQ(close(open(NAME, O_WRONLY | O_TRUNC)), 0);
	EXPECT_EQ(size_of(NAME), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
}

TEST(an_open_file_outlives_its_name)
{
	char buf[4] = "";
	int fd = make_file(NAME, "abc");

	REQUIRE(fd >= 0);
	EXPECT_EQ(unlink(NAME), 0);
	EXPECT_ERRNO(unlink(NAME), ENOENT);
	EXPECT_EQ(pread(fd, buf, 3, 0), 3);
	EXPECT(strcmp(buf, "abc") == 0);
	EXPECT_EQ(write(fd, "d", 1), 1);
	EXPECT_EQ(close(fd), 0);
}

TEST(directories)
{
	struct dirent *d;
	unsigned seen = 0, others = 0;
	DIR *dir;

	EXPECT_EQ(mkdir("/tmp/d", 0777), 0);
	EXPECT_ERRNO(mkdir("/tmp/d", 0777), EEXIST);
	EXPECT_ERRNO(mkdir("/tmp", 0777), EEXIST);
	EXPECT_ERRNO(mkdir("/tmp/none/d", 0777), ENOENT);
	EXPECT_ERRNO(mkdir("/d", 0777), EROFS);
	EXPECT_EQ(close(make_file("/tmp/d/a", "a")), 0);
	EXPECT_EQ(close(make_file("/tmp/d/b", "b")), 0);
	EXPECT_ERRNO(mkdir("/tmp/d/a/c", 0777), ENOTDIR);
	EXPECT_ERRNO(open("/tmp/d", O_WRONLY), EISDIR);
	REQUIRE((dir = opendir("/tmp/d")) != NULL);
	while ((d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, "a") == 0 || strcmp(d->d_name, "b") == 0)
			seen += d->d_type == DT_REG;
		else if (d->d_name[0] != '.')
			others++;
	}
	EXPECT_EQ(closedir(dir), 0);
	EXPECT_EQ(seen, 2);
	EXPECT_EQ(others, 0);
	EXPECT_ERRNO(rmdir("/tmp/d"), ENOTEMPTY);
	EXPECT_ERRNO(unlink("/tmp/d"), EISDIR);
	EXPECT_ERRNO(rmdir("/tmp/d/a"), ENOTDIR);
	EXPECT_EQ(unlink("/tmp/d/a"), 0);
	EXPECT_EQ(unlink("/tmp/d/b"), 0);
	EXPECT_EQ(rmdir("/tmp/d"), 0);
	EXPECT_ERRNO(rmdir("/tmp"), EBUSY);
}

TEST(renaming)
{
	EXPECT_EQ(close(make_file("/tmp/a", "a")), 0);
	EXPECT_EQ(close(make_file("/tmp/b", "bb")), 0);
	EXPECT_EQ(rename("/tmp/a", "/tmp/b"), 0);
	EXPECT_EQ(size_of("/tmp/a"), -1);
	EXPECT_EQ(size_of("/tmp/b"), 1);
	EXPECT_EQ(mkdir("/tmp/d", 0777), 0);
	EXPECT_EQ(rename("/tmp/b", "/tmp/d/c"), 0);
	EXPECT_EQ(rename("/tmp/d", "/tmp/e"), 0);
	EXPECT_EQ(size_of("/tmp/e/c"), 1);
	EXPECT_ERRNO(rename("/tmp/e", "/tmp/e/f"), EINVAL);
	EXPECT_ERRNO(rename("/tmp/e/c", "/tmp/e"), EISDIR);
	EXPECT_ERRNO(rename("/tmp/e", "/tmp/e/c"), EINVAL);
	EXPECT_ERRNO(rename("/tmp/none", "/tmp/x"), ENOENT);
	EXPECT_ERRNO(rename("/tmp/e/c", "/x"), EXDEV);
	EXPECT_ERRNO(rename("/tmp/e/c", "/tmp/none/x"), ENOENT);
	EXPECT_EQ(rename("/tmp/e/c", "/tmp/e/c"), 0);
	EXPECT_EQ(unlink("/tmp/e/c"), 0);
	EXPECT_EQ(rmdir("/tmp/e"), 0);
}

TEST(permissions_are_kept)
{
	struct stat st;
	mode_t was = umask(027);
	int fd = make_file(NAME, "");

	REQUIRE(fd >= 0);
	EXPECT_EQ(was, 022);
	EXPECT_EQ(umask(was), 027);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(st.st_mode & 0777, 0640);
	EXPECT_EQ(chmod(NAME, 0755), 0);
	EXPECT(fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0755);
	EXPECT_EQ(access(NAME, X_OK), 0);
	EXPECT_EQ(fchmod(fd, 0400), 0);
	EXPECT(fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0400);
	EXPECT_EQ(access(NAME, W_OK), 0);
	EXPECT_ERRNO(access(NAME, X_OK), EACCES);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
}

TEST(a_mapping_is_a_copy)
{
	int fd = make_file(NAME, "mapped");

	REQUIRE(fd >= 0);
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	REQUIRE(p != MAP_FAILED);
	EXPECT(strcmp(p, "mapped") == 0);
	p[0] = 'x';
	EXPECT_EQ(munmap(p, 4096), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
}

TEST(a_child_writes_what_its_parent_reads)
{
	char buf[8] = "";
	int fd = make_file(NAME, "");

	REQUIRE(fd >= 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(write(fd, "child", 5) == 5 ? 0 : 1);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	/* They share the open file with its offset. */
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 5);
	EXPECT_EQ(pread(fd, buf, 5, 0), 5);
	EXPECT(strcmp(buf, "child") == 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
}

TEST(temporary_files_of_the_c_library)
{
	FILE *f = tmpfile();
	char line[32] = "";

	REQUIRE(f != NULL);
	EXPECT(fprintf(f, "line %d\n", 1) > 0);
	rewind(f);
	EXPECT(fgets(line, sizeof line, f) != NULL);
	EXPECT(strcmp(line, "line 1\n") == 0);
	EXPECT_EQ(fclose(f), 0);
}

TEST(a_file_larger_than_memory_is_refused)
{
	int fd = make_file(NAME, "x");

	REQUIRE(fd >= 0);
	EXPECT_ERRNO(ftruncate(fd, 1L << 40), ENOSPC);
	EXPECT_ERRNO(pwrite(fd, "x", 1, 1L << 40), ENOSPC);
	EXPECT_EQ(size_of(NAME), 1);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(unlink(NAME), 0);
}

/* An entry keeps its position while others go, so none is left out. */
TEST(removing_each_entry_that_is_read_removes_all)
{
	enum { FILES = 300 };
	struct dirent *de;
	char name[32];
	int removed = 0;
	DIR *dir;

	EXPECT_EQ(mkdir("/tmp/many", 0755), 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof name, "/tmp/many/%d", i);
		EXPECT_EQ(close(make_file(name, "")), 0);
	}
	REQUIRE((dir = opendir("/tmp/many")) != NULL);
	while ((de = readdir(dir)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "/tmp/many/%.8s", de->d_name);
		removed += unlink(name) == 0;
	}
	EXPECT_EQ(removed, FILES);
	EXPECT_EQ(closedir(dir), 0);
	EXPECT_EQ(rmdir("/tmp/many"), 0);
}

static int
status_of(const char *path)
{
	pid_t child = fork();

	if (child == 0) {
		execl(path, path, NULL);
		_exit(errno);
	}
	return test_wait_status(child) >> 8;
}

/* A copy of this program returns 1 or, if it has another path, 2. */
static void __attribute__((constructor)) tell_path(void)
{
	char path[16] = "";

	if (readlink("/proc/self/exe", path, sizeof path) == sizeof NAME - 1 &&
	    memcmp(path, "/tmp/", 5) == 0)
		_exit(strcmp(path, NAME) == 0 ? 1 : 2);
}

/* A program is executed as it is then. */
TEST(programs_are_executed)
{
	static char buf[1 << 20];
	int from = open("/proc/self/exe", O_RDONLY);
	ssize_t n = read(from, buf, sizeof buf);
	int to = open(NAME, O_RDWR | O_CREAT, 0644);

	REQUIRE(n > 0 && to >= 0);
	EXPECT_EQ(write(to, buf, (size_t)n), n);
	EXPECT_EQ(status_of(NAME), EACCES);
	EXPECT_EQ(fchmod(to, 0755), 0);
	EXPECT_EQ(status_of(NAME), 1);
	EXPECT_EQ(status_of(NAME), 1);
	EXPECT_EQ(rename(NAME, "/tmp/two"), 0);
	EXPECT_EQ(status_of("/tmp/two"), 2);
	EXPECT_EQ(rename("/tmp/two", NAME), 0);
	/* After a shared mapping, as a linker's, one more copy is kept. */
	char *p = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, to, 0);
	REQUIRE(p != MAP_FAILED);
	p[0] = '?';
	EXPECT_EQ(status_of(NAME), ENOEXEC);
	p[0] = buf[0];
	EXPECT_EQ(status_of(NAME), 1);
	EXPECT_EQ(munmap(p, 4096), 0);
	EXPECT_EQ(status_of(NAME), 1);
	uint64_t before = test_free_pages();
	EXPECT_EQ(status_of(NAME), 1);
	EXPECT_EQ(test_free_pages(), before);
	close(make_file("/tmp/script", "#! " NAME " option\n"));
	EXPECT_EQ(status_of("/tmp/script"), EACCES);
	EXPECT_EQ(chmod("/tmp/script", 0755), 0);
	EXPECT_EQ(status_of("/tmp/script"), 1);
	EXPECT_EQ(ftruncate(to, 100), 0);
	EXPECT_EQ(status_of(NAME), ENOEXEC);
	EXPECT_EQ(close(from) | close(to), 0);
	EXPECT_EQ(unlink(NAME) | unlink("/tmp/script"), 0);
}
