/* Files of the archive, special files, and descriptors, as on Linux. */
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
#include <sys/uio.h>
#include <unistd.h>

/* This program itself is a file of the archive: an ELF file. */
#define SELF "/files"
/* The same path, longer than two machine words. */
#define SELF_AGAIN "/././././././" SELF

static int self = -1;

static void __attribute__((constructor)) open_self(void)
{
	self = open(SELF, O_RDONLY);
}

TEST(a_file_is_read)
{
	char head[4] = { 0 }, again[4] = { 0 };

	REQUIRE(self >= 3);
	EXPECT_EQ(read(self, head, 4), 4);
	EXPECT(memcmp(head, "\177ELF", 4) == 0);
	EXPECT_EQ(lseek(self, 0, SEEK_CUR), 4);
	EXPECT_EQ(pread(self, again, 4, 0), 4);
	EXPECT(memcmp(again, head, 4) == 0);
	EXPECT_EQ(lseek(self, 0, SEEK_CUR), 4);
}

TEST(a_file_ends_at_its_size)
{
	struct stat st;
	off_t end = lseek(self, 0, SEEK_END);
	char c;

	EXPECT_EQ(fstat(self, &st), 0);
	EXPECT(end > 1000 && S_ISREG(st.st_mode) && st.st_mtime == 1);
	EXPECT_EQ(st.st_size, end);
	EXPECT_EQ(read(self, &c, 1), 0);
	EXPECT_EQ(lseek(self, 100, SEEK_END), end + 100);
	EXPECT_EQ(read(self, &c, 1), 0);
	EXPECT_EQ(lseek(self, -1, SEEK_END), end - 1);
	EXPECT_EQ(read(self, &c, 2), 1);
	EXPECT_ERRNO(lseek(self, -end - 1, SEEK_END), EINVAL);
	EXPECT_EQ(stat(SELF, &st), 0);
	EXPECT_EQ(st.st_size, end);
}

TEST(readv_fills_one_after_the_other)
{
	char a[2], b[2], c[100];
	struct iovec iov[] = { { a, 2 }, { NULL, 0 }, { b, 2 }, { c, 100 } };

	EXPECT_EQ(lseek(self, 0, SEEK_SET), 0);
	EXPECT_EQ(readv(self, iov, 4), 104);
	EXPECT(a[1] == 'E' && b[0] == 'L' && b[1] == 'F');
	EXPECT_ERRNO(readv(self, iov, -1), EINVAL);
}

TEST(stdio_reads_files)
{
	FILE *f = fopen(SELF, "r");
	long bytes = 0;

	REQUIRE(f != NULL);
	while (getc(f) != EOF)
		bytes++;
	EXPECT_EQ(bytes, lseek(self, 0, SEEK_END));
	EXPECT_EQ(fclose(f), 0);
}

TEST(the_archive_is_read_only)
{
	struct flock lock = { .l_type = F_RDLCK };
	int fd = open(SELF, O_RDWR);

	EXPECT(fd == -1 && (errno == EROFS || errno == EACCES));
	fd = open("/new", O_WRONLY | O_CREAT, 0666);
	EXPECT(fd == -1 && (errno == EROFS || errno == EACCES));
	EXPECT_ERRNO(write(self, "x", 1), EBADF);
	EXPECT_EQ(fcntl(self, F_SETLK, &lock), 0);
	lock.l_whence = 3;
	EXPECT_ERRNO(fcntl(self, F_SETLK, &lock), EINVAL);
	lock = (struct flock){ .l_type = F_WRLCK };
	EXPECT_ERRNO(fcntl(self, F_SETLK, &lock), EBADF);
	lock.l_type = 3;
	EXPECT_ERRNO(fcntl(self, F_SETLK, &lock), EINVAL);
}

TEST(missing_files_and_descriptors)
{
	struct stat st;

	EXPECT_ERRNO(open("/nothing", O_RDONLY), ENOENT);
	EXPECT_ERRNO(open("", O_RDONLY), ENOENT);
	EXPECT_ERRNO(stat("/nothing", &st), ENOENT);
	EXPECT_ERRNO(access("/nothing", F_OK), ENOENT);
	EXPECT_EQ(access(SELF, R_OK), 0);
	EXPECT_ERRNO(open(SELF "/below", O_RDONLY), ENOTDIR);
	EXPECT_ERRNO(read(1000, &st, 1), EBADF);
	EXPECT_ERRNO(read(-1, &st, 1), EBADF);
	EXPECT_ERRNO(close(1000), EBADF);
}

TEST(a_long_name_is_refused)
{
	static char name[8192];

	memset(name, 'a', sizeof name - 1);
	EXPECT_ERRNO(open(name, O_RDONLY), ENAMETOOLONG);
}

/* Put the path at this place, with other letters before and after it. */
static const char *
path_at(char *at, size_t room)
{
	memset(at - 16, 'x', 16 + room);
	return strcpy(at, SELF_AGAIN);
}

/* A path may cross pages, or end before an unmapped one: EFAULT, no NUL. */
TEST(a_path_lies_anywhere)
{
	const size_t page = 4096, bytes = sizeof SELF_AGAIN;
	char *p = test_map(2 * page, PROT_READ | PROT_WRITE);
	char *border = p + page;

	REQUIRE(p != NULL);
	for (char *at = border - 32; at < border + 16; at++)
		EXPECT_EQ(access(path_at(at, 64), R_OK), 0);
	EXPECT_EQ(munmap(border, page), 0);
	for (char *at = border - 32; at <= border - bytes; at++)
		EXPECT_EQ(access(path_at(at, (size_t)(border - at)), R_OK), 0);
	for (size_t n = 1; n < bytes; n++) {
		memcpy(border - n, SELF_AGAIN, n);
		EXPECT_ERRNO(access(border - n, R_OK), EFAULT);
	}
	EXPECT_EQ(munmap(p, page), 0);
}

TEST(descriptors_are_duplicated)
{
	int fd = dup(self), high;

	REQUIRE(fd > self);
	EXPECT_EQ(lseek(self, 7, SEEK_SET), 7);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 7); /* one offset for both */
	EXPECT_EQ(dup2(self, 40), 40);
	EXPECT_ERRNO(syscall(SYS_dup3, self, 40, O_NONBLOCK), EINVAL);
	EXPECT_ERRNO(syscall(SYS_dup3, self, self, 0), EINVAL);
	EXPECT_EQ(lseek(40, 0, SEEK_CUR), 7);
	high = fcntl(self, F_DUPFD, 50);
	EXPECT_EQ(high, 50);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(close(40), 0);
	EXPECT_EQ(close(high), 0);
	EXPECT_ERRNO(lseek(40, 0, SEEK_CUR), EBADF);
	EXPECT_EQ(lseek(self, 0, SEEK_CUR), 7);
}

TEST(descriptors_run_out)
{
	static const char name[] = "/tmp/one-too-many";
	int fd, n = 0, highest = -1;

	while ((fd = dup(self)) != -1 && n < 10000) {
		highest = fd;
		n++;
	}
	EXPECT_ERRNO(fd, EMFILE);
	EXPECT_ERRNO(open(name, O_CREAT | O_WRONLY, 0600), EMFILE);
	EXPECT_ERRNO(access(name, F_OK), ENOENT);
	for (fd = self + 1; fd <= highest; fd++)
		close(fd);
	EXPECT_EQ(dup(self), self + 1);
	EXPECT_EQ(close(self + 1), 0);
}

TEST(null_and_zero)
{
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR);
	char bytes[64];
	size_t i;

	REQUIRE(null >= 0 && zero >= 0);
	EXPECT_EQ(read(null, bytes, sizeof bytes), 0);
	EXPECT_EQ(write(null, bytes, sizeof bytes), sizeof bytes);
	memset(bytes, 1, sizeof bytes);
	EXPECT_EQ(read(zero, bytes, sizeof bytes), sizeof bytes);
	for (i = 0; i < sizeof bytes && bytes[i] == 0; i++)
		;
	EXPECT_EQ(i, sizeof bytes);
	EXPECT_EQ(write(zero, bytes, 3), 3);
	EXPECT_EQ(close(null), 0);
	EXPECT_EQ(close(zero), 0);
}

TEST(the_machine_describes_itself)
{
	static char text[8192];
	int fd = open("/dev/machine", O_RDONLY);

	REQUIRE(fd >= 0);
	ssize_t n = read(fd, text, sizeof text - 1);
	EXPECT(n > 0 && n < (ssize_t)sizeof text - 1);
	/* Members of a JSON object: "name":... , no braces, no line end. */
	EXPECT(text[0] == '"' && strstr(text, "\":") != NULL);
	EXPECT(strstr(text, "\"priv\":\"") != NULL);
	EXPECT_EQ(close(fd), 0);
}

TEST(directories_list_the_archive)
{
	DIR *d = opendir("/");
	struct dirent *e;
	int found = 0;

	REQUIRE(d != NULL);
	while ((e = readdir(d)) != NULL)
		found += strcmp(e->d_name, SELF + 1) == 0;
	EXPECT_EQ(found, 1);
	EXPECT_EQ(closedir(d), 0);
}

/* Whatever their open() needs. */
TEST(a_file_system_has_room)
{
	struct statfs of_path = { 0 }, of_fd = { 0 };
	int fd = open(SELF, O_RDONLY);

	EXPECT_EQ(statfs("/tmp", &of_path), 0);
	EXPECT_EQ(fstatfs(fd, &of_fd), 0);
	EXPECT(of_path.f_bfree > 0 && of_path.f_bfree < of_path.f_blocks);
	EXPECT_EQ(of_path.f_blocks, of_fd.f_blocks);
	EXPECT_EQ(of_path.f_bsize, 4096);
	EXPECT_ERRNO(statfs("/none", &of_path), ENOENT);
	EXPECT_EQ(close(fd), 0);
	EXPECT_ERRNO(fstatfs(fd, &of_fd), EBADF);
}

TEST(every_device_has_a_state)
{
	DIR *d = opendir("/dev");
	struct dirent *e;
	struct stat st;
	int devices = 0;

	REQUIRE(d != NULL);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		devices++;
		if (!EXPECT_EQ(fstatat(dirfd(d), e->d_name, &st, 0), 0))
			test_note("%s", e->d_name);
		if (strcmp(e->d_name, "shm") != 0)
			EXPECT_EQ(st.st_mode & S_IFMT, S_IFCHR);
	}
	EXPECT(devices > 5);
	EXPECT_EQ(closedir(d), 0);
}

TEST_KEEPS(16);
