/* Paths lead where they lead on Linux; /tmp keeps modes, times and owners. */
#include "tests/lib/image/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(8); /* stdio and directories */

#define FILE_NAME "/tmp/paths.f"
#define DIR_NAME  "/tmp/paths.d"
#define MISSING   "/tmp/paths.none"

#ifndef O_PATH
#define O_PATH 010000000
#endif
#define PAGE 4096

static void
make_both(void)
{
	EXPECT_EQ(
	    close(open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0640)), 0);
	EXPECT_EQ(mkdir(DIR_NAME, 0750), 0);
}

static void
remove_both(void)
{
	EXPECT_EQ(unlink(FILE_NAME), 0);
	EXPECT_EQ(rmdir(DIR_NAME), 0);
}

TEST(slashes_after_a_file)
{
	struct stat st;

	make_both();
	EXPECT_ERRNO(stat(FILE_NAME "/", &st), ENOTDIR);
	EXPECT_ERRNO(open(FILE_NAME "//", O_RDONLY), ENOTDIR);
	EXPECT_ERRNO(open(FILE_NAME "/", O_RDWR | O_CREAT, 0600), EISDIR);
	EXPECT_ERRNO(open(MISSING "/", O_RDWR | O_CREAT, 0600), EISDIR);
	EXPECT_ERRNO(open(FILE_NAME "/x", O_RDONLY), ENOTDIR);
	EXPECT_ERRNO(open(FILE_NAME "/x", O_RDWR | O_CREAT, 0600), ENOTDIR);
	EXPECT_ERRNO(unlink(FILE_NAME "/"), ENOTDIR);
	EXPECT_ERRNO(unlink(DIR_NAME "/"), EISDIR);
	EXPECT_ERRNO(unlink(MISSING "/"), ENOENT);
	EXPECT_ERRNO(rmdir(FILE_NAME), ENOTDIR);
	EXPECT_ERRNO(chdir(FILE_NAME), ENOTDIR);
	EXPECT_ERRNO(access(FILE_NAME "/", F_OK), ENOTDIR);
	EXPECT_ERRNO(chmod(FILE_NAME "/", 0600), ENOTDIR);
	EXPECT_ERRNO(rename(FILE_NAME "/", MISSING), ENOTDIR);
	EXPECT_ERRNO(rename(FILE_NAME, MISSING "/"), ENOTDIR);
	EXPECT_ERRNO(mkdir(FILE_NAME "/", 0700), EEXIST);
	EXPECT_EQ(stat(DIR_NAME "//", &st), 0);
	EXPECT_EQ(rename(DIR_NAME "/", MISSING "/"), 0);
	EXPECT_EQ(rmdir(MISSING "/"), 0);
	EXPECT_EQ(mkdir(DIR_NAME "/", 0750), 0);
	remove_both();
}

TEST(dots_need_what_is_before_them)
{
	struct stat st;

	make_both();
	EXPECT_ERRNO(stat(MISSING "/..", &st), ENOENT);
	EXPECT_ERRNO(open(MISSING "/../paths.f", O_RDONLY), ENOENT);
	EXPECT_ERRNO(stat(FILE_NAME "/..", &st), ENOTDIR);
	EXPECT_ERRNO(stat(FILE_NAME "/.", &st), ENOTDIR);
	EXPECT_ERRNO(mkdir(MISSING "/a", 0700), ENOENT);
	EXPECT_EQ(stat(DIR_NAME "/../paths.f", &st), 0);
	EXPECT_EQ(stat("/../..", &st), 0);
	EXPECT_ERRNO(rmdir(DIR_NAME "/."), EINVAL);
	EXPECT_ERRNO(rmdir(DIR_NAME "/.."), ENOTEMPTY);
	EXPECT_ERRNO(rmdir("/"), EBUSY);
	EXPECT_ERRNO(unlink(DIR_NAME "/."), EISDIR);
	EXPECT_ERRNO(rename(DIR_NAME "/.", MISSING), EBUSY);
	EXPECT_ERRNO(mkdir(DIR_NAME "/.", 0700), EEXIST);
	remove_both();
}

TEST(a_path_may_have_4095_bytes)
{
	static char path[PAGE + 1];
	struct stat st;

	make_both();
	memset(path, '/', PAGE);
	memcpy(path + PAGE - 1 - (sizeof FILE_NAME - 1), FILE_NAME,
	    sizeof FILE_NAME);
	EXPECT_EQ(strlen(path), PAGE - 1);
	EXPECT_EQ(stat(path, &st), 0);
	memmove(path + 1, path, strlen(path) + 1);
	EXPECT_ERRNO(stat(path, &st), ENAMETOOLONG);
	/* One name has at most 255. */
	memset(path, 'n', 255);
	path[255] = '\0';
	EXPECT_EQ(chdir("/tmp"), 0);
	EXPECT_EQ(mkdir(path, 0700), 0);
	EXPECT_EQ(rmdir(path), 0);
	path[255] = 'n';
	path[256] = '\0';
	EXPECT_ERRNO(mkdir(path, 0700), ENAMETOOLONG);
	EXPECT_EQ(chdir("/"), 0);
	remove_both();
}

/* Directories in directories, so that the path has more than 1,023 bytes. */
TEST(a_tree_may_be_deep)
{
	char name[251], path[1500] = "/tmp";
	unsigned depth = 5;

	memset(name, 'd', sizeof name - 1);
	name[0] = '/';
	name[sizeof name - 1] = '\0';
	for (unsigned i = 0; i < depth; i++) {
		strcat(path, name);
		EXPECT_EQ(mkdir(path, 0700), 0);
	}
	EXPECT(strlen(path) > 1023);
	while (depth-- > 0) {
		EXPECT_EQ(rmdir(path), 0);
		*strrchr(path, '/') = '\0';
	}
}

TEST(flags_of_open_say_what_must_be_there)
{
	make_both();
	EXPECT_ERRNO(open(FILE_NAME, O_RDONLY | O_DIRECTORY), ENOTDIR);
	EXPECT_ERRNO(open("/dev/null", O_RDONLY | O_DIRECTORY), ENOTDIR);
	EXPECT(opendir(FILE_NAME) == NULL && errno == ENOTDIR);
	EXPECT_EQ(close(open(DIR_NAME, O_RDONLY | O_DIRECTORY)), 0);
	EXPECT_ERRNO(open(DIR_NAME, O_RDONLY | O_CREAT, 0600), EISDIR);
	EXPECT_ERRNO(
	    open("/dev/null", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
	int fd = creat(MISSING, 0604);
	REQUIRE(fd >= 0);
	EXPECT_EQ(write(fd, "x", 1), 1);
	EXPECT_EQ(close(fd), 0);
#ifdef SYS_creat
	fd = (int)syscall(SYS_creat, MISSING, 0604);
	EXPECT_EQ(lseek(fd, 0, SEEK_END), 0);
	EXPECT_EQ(close(fd), 0);
#endif
	EXPECT_EQ(unlink(MISSING), 0);
	remove_both();
}

TEST(o_path_opens_only_the_place)
{
	struct stat st;
	char c;

	make_both();
	int fd = open(FILE_NAME, O_PATH);
	int dir = open(DIR_NAME, O_PATH);
	REQUIRE(fd >= 0 && dir >= 0);
	EXPECT_ERRNO(read(fd, &c, 1), EBADF);
	EXPECT_ERRNO(write(fd, &c, 1), EBADF);
	EXPECT_ERRNO(lseek(fd, 0, SEEK_SET), EBADF);
	EXPECT_ERRNO(syscall(SYS_fchmod, fd, 0600), EBADF);
	EXPECT_ERRNO(fsync(fd), EBADF);
	EXPECT(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED &&
	       errno == EBADF);
	EXPECT_ERRNO(syscall(SYS_getdents64, dir, &st, sizeof st), EBADF);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(st.st_mode, S_IFREG | 0640);
	int copy = dup(fd);
	EXPECT_EQ(close(copy), 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), 0);
	EXPECT_EQ(close(openat(dir, "../paths.f", O_RDONLY)), 0);
	EXPECT_EQ(fchdir(dir), 0);
	EXPECT_EQ(chdir("/"), 0);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(close(dir), 0);
	remove_both();
}

TEST(unknown_flags_are_refused)
{
	struct stat st;
	char byte;

	EXPECT_ERRNO(
	    syscall(SYS_newfstatat, AT_FDCWD, "/", &st, 0x10000), EINVAL);
	EXPECT_EQ(
	    syscall(SYS_newfstatat, AT_FDCWD, "/", &st, AT_SYMLINK_NOFOLLOW),
	    0);
	EXPECT_ERRNO(syscall(439, AT_FDCWD, "/", F_OK, 0x4000), EINVAL);
	EXPECT_ERRNO(syscall(439, AT_FDCWD, "/", 8, 0), EINVAL);
	EXPECT_EQ(syscall(439, AT_FDCWD, "/", R_OK, AT_EACCESS), 0);
	EXPECT_ERRNO(syscall(SYS_getrandom, &byte, 1, 8), EINVAL);
	EXPECT_ERRNO(syscall(SYS_getrandom, &byte, 1, 6), EINVAL);
	EXPECT_EQ(syscall(SYS_getrandom, &byte, 1, 5), 1);
	EXPECT_ERRNO(utimensat(AT_FDCWD, "/", NULL, 1), EINVAL);
	EXPECT_ERRNO(fchownat(AT_FDCWD, "/", -1, -1, 1), EINVAL);
}

/* The number of an entry in a directory, or 0. */
static ino_t
listed(const char *dir, const char *name)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	ino_t found = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, name) == 0)
			found = e->d_ino;
	}
	closedir(d);
	return found;
}

static ino_t
number_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_ino : 0;
}

TEST(a_directory_has_its_mode_and_one_number)
{
	struct stat st;
	mode_t mask = umask(022);

	make_both();
	EXPECT_EQ(stat("/tmp", &st), 0);
	EXPECT_EQ(st.st_mode, S_IFDIR | 01777);
	EXPECT_EQ(stat(DIR_NAME, &st), 0);
	EXPECT_EQ(st.st_mode, S_IFDIR | 0750);
	EXPECT_EQ(chmod(DIR_NAME, 02711), 0);
	EXPECT_EQ(stat(DIR_NAME, &st), 0);
	EXPECT_EQ(st.st_mode, S_IFDIR | 02711);
	EXPECT_EQ(st.st_ino, listed("/tmp", "paths.d"));
	EXPECT_EQ(st.st_ino, listed(DIR_NAME, "."));
	EXPECT_EQ(number_of("/tmp"), listed(DIR_NAME, ".."));
	EXPECT_EQ(number_of("/tmp"), listed("/tmp", "."));
	EXPECT_EQ(number_of(FILE_NAME), listed("/tmp", "paths.f"));
	EXPECT_EQ(number_of("/"), listed("/", ".."));
	umask(mask);
	remove_both();
}

TEST(times_and_owners_stay)
{
	const struct timespec set[2] = { { 1000, 1 }, { 2000, 999999999 } };
	struct timespec one[2] = { { 5, 5 }, { 0, UTIME_OMIT } };
	struct stat st;

	make_both();
	EXPECT_EQ(utimensat(AT_FDCWD, FILE_NAME, set, 0), 0);
	EXPECT_EQ(stat(FILE_NAME, &st), 0);
	EXPECT(st.st_atim.tv_sec == 1000 && st.st_atim.tv_nsec == 1);
	EXPECT(st.st_mtim.tv_sec == 2000 && st.st_mtim.tv_nsec == 999999999);
	int fd = open(FILE_NAME, O_WRONLY);
	EXPECT_EQ(futimens(fd, one), 0);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT(st.st_atim.tv_sec == 5 && st.st_mtim.tv_sec == 2000);
	EXPECT_EQ(write(fd, "x", 1), 1);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT(st.st_mtim.tv_sec != 2000);
	EXPECT_EQ(st.st_mtim.tv_sec, st.st_ctim.tv_sec);
	EXPECT_EQ(futimens(fd, NULL), 0);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT(st.st_atim.tv_sec == st.st_mtim.tv_sec);
	one[0].tv_nsec = 1000000000;
	EXPECT_ERRNO(futimens(fd, one), EINVAL);
	EXPECT_ERRNO(utimensat(AT_FDCWD, MISSING, set, 0), ENOENT);
	EXPECT_EQ(fchmod(fd, 06770), 0);
	EXPECT_EQ(fchown(fd, 7, 8), 0);
	EXPECT_EQ(chown(FILE_NAME, -1, 9), 0);
	EXPECT_EQ(lchown(DIR_NAME, 5, -1), 0);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT(st.st_uid == 7 && st.st_gid == 9 && st.st_mode == 0100770);
	EXPECT_EQ(fchmod(fd, 06760), 0);
	EXPECT_EQ(fchown(fd, -1, -1), 0);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(st.st_mode, 0102760);
	EXPECT_EQ(stat(DIR_NAME, &st), 0);
	EXPECT(st.st_uid == 5 && st.st_gid == 0);
	/* New files have the group of a set-group-ID directory. */
	EXPECT_EQ(chown(DIR_NAME, -1, 8), 0);
	EXPECT_EQ(chmod(DIR_NAME, 02755), 0);
	EXPECT_EQ(mkdir(DIR_NAME "/sub", 0700), 0);
	EXPECT_EQ(stat(DIR_NAME "/sub", &st), 0);
	EXPECT(st.st_gid == 8 && st.st_mode == 0042700);
	EXPECT_EQ(rmdir(DIR_NAME "/sub"), 0);
	EXPECT_EQ(close(fd), 0);
	remove_both();
}

TEST(only_files_are_synchronised)
{
	struct statfs fs;
	int null = open("/dev/null", O_RDWR), end[2];

	EXPECT_ERRNO(fdatasync(null), EINVAL);
	EXPECT_ERRNO(fsync(null), EINVAL);
	EXPECT_EQ(close(null), 0);
	EXPECT_EQ(pipe(end), 0);
	EXPECT_ERRNO(fsync(end[1]), EINVAL);
	close(end[0]);
	close(end[1]);
	EXPECT_EQ(statfs("/tmp", &fs), 0);
	EXPECT(fs.f_files > 0 && fs.f_ffree <= fs.f_files);
	EXPECT_EQ(fs.f_namelen, 255);
}

TEST(a_file_opened_for_writing_is_not_mapped)
{
	make_both();
	int fd = open(FILE_NAME, O_WRONLY);
	EXPECT(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED &&
	       errno == EACCES);
	EXPECT(mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE, fd, 0) == MAP_FAILED &&
	       errno == EACCES);
	EXPECT_EQ(close(fd), 0);
	remove_both();
}

/* As rm -r does: readdir and unlink by turns. */
TEST(a_directory_is_emptied_while_it_is_read)
{
	char name[64];
	struct dirent *e;
	DIR *d;

	make_both();
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, DIR_NAME "/%d", i);
		EXPECT_EQ(close(creat(name, 0600)), 0);
	}
	d = opendir(DIR_NAME);
	REQUIRE(d != NULL);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] != '.')
			EXPECT_EQ(unlinkat(dirfd(d), e->d_name, 0), 0);
	}
	closedir(d);
	remove_both();
}

/* Entries before the end of the buffer are returned, and none is lost. */
TEST(getdents_stops_at_unmapped_memory)
{
	char *p = test_map(2 * PAGE, PROT_READ | PROT_WRITE);
	int fd = open("/dev", O_RDONLY | O_DIRECTORY);
	long n, all = 0, last;

	REQUIRE(p != NULL && fd >= 0);
	EXPECT_EQ(munmap(p + PAGE, PAGE), 0);
	while ((last = syscall(SYS_getdents64, fd, p, PAGE)) > 0)
		all += last;
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	n = syscall(SYS_getdents64, fd, p + PAGE - 60, PAGE);
	EXPECT(n >= 24 && n <= 60);
	EXPECT_ERRNO(syscall(SYS_getdents64, fd, p + PAGE, PAGE), EFAULT);
	while ((last = syscall(SYS_getdents64, fd, p, PAGE)) > 0)
		n += last;
	EXPECT_EQ(n, all);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(munmap(p, PAGE), 0);
}
