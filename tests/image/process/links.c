/* Symbolic and hard links in /tmp, as on Linux: symlink(7), link(2). */
#define _GNU_SOURCE /* O_PATH */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST_KEEPS(8);

static int
make_file(const char *path, const char *text)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);

	if (fd >= 0)
		EXPECT_EQ(write(fd, text, strlen(text)), strlen(text));
	return close(fd);
}

/* Does the file begin with this text? */
static bool
has(const char *path, const char *text)
{
	char buf[16] = "";
	int fd = open(path, O_RDONLY);
	bool same = fd >= 0 && read(fd, buf, sizeof buf - 1) >= 0 &&
	            strcmp(buf, text) == 0;

	close(fd);
	return same;
}

TEST(a_symbolic_link_leads_to_its_target)
{
	struct stat st;
	char to[8];

	EXPECT_EQ(mkdir("/tmp/dir", 0755), 0);
	EXPECT_EQ(make_file("/tmp/dir/file", "text"), 0);
	EXPECT_EQ(symlink("dir/file", "/tmp/link"), 0);
	EXPECT_ERRNO(symlink("x", "/tmp/link"), EEXIST);
	EXPECT_ERRNO(symlink("", "/tmp/empty"), ENOENT);
	EXPECT_ERRNO(symlink("x", "/link"), EROFS);
	EXPECT(has("/tmp/link", "text"));
	EXPECT_EQ(stat("/tmp/link", &st), 0);
	EXPECT_EQ(st.st_mode, S_IFREG | 0644);
	EXPECT_EQ(lstat("/tmp/link", &st), 0);
	EXPECT_EQ(st.st_mode, S_IFLNK | 0777);
	EXPECT_EQ(st.st_size, 8);
	EXPECT_EQ(readlink("/tmp/link", to, sizeof to), 8);
	EXPECT(memcmp(to, "dir/file", 8) == 0);
	EXPECT_EQ(readlink("/tmp/link", to, 3), 3);
	EXPECT_ERRNO(open("/tmp/link", O_RDONLY | O_NOFOLLOW), ELOOP);
	int fd = open("/tmp/link", O_PATH | O_NOFOLLOW);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(st.st_mode, S_IFLNK | 0777);
	EXPECT_EQ(readlinkat(fd, "", to, 3), 3);
	EXPECT_ERRNO(read(fd, to, 1), EBADF);
	EXPECT_EQ(close(fd), 0);
	EXPECT_ERRNO(
	    open("/tmp/link", O_RDWR | O_CREAT | O_EXCL, 0644), EEXIST);
	EXPECT_EQ(rename("/tmp/link", "/tmp/dir/link"), 0);
	EXPECT_ERRNO(open("/tmp/dir/link", O_RDONLY), ENOENT);
	EXPECT_EQ(unlink("/tmp/dir/link"), 0);
	EXPECT(has("/tmp/dir/file", "text"));
}

TEST(a_link_may_be_a_directory_or_a_circle)
{
	struct stat st;

	EXPECT_EQ(symlink("/tmp/dir/", "/tmp/d"), 0);
	EXPECT_EQ(symlink("../d/../link", "/tmp/dir/up"), 0);
	EXPECT(has("/tmp/d/file", "text"));
	EXPECT(has("/tmp/d/../dir/./file", "text"));
	EXPECT_EQ(lstat("/tmp/d/", &st), 0);
	EXPECT(S_ISDIR(st.st_mode));
	EXPECT_ERRNO(rmdir("/tmp/d"), ENOTDIR);
	/* Calls that change a name do not follow it: slashes or not. */
	EXPECT_ERRNO(rmdir("/tmp/d//"), ENOTDIR);
	EXPECT_ERRNO(unlink("/tmp/d/"), ENOTDIR);
	EXPECT_ERRNO(rename("/tmp/d/", "/tmp/e"), ENOTDIR);
	EXPECT_ERRNO(mkdir("/tmp/d/", 0755), EEXIST);
	/* A file that is made through a link is made at its target. */
	EXPECT_EQ(symlink("new", "/tmp/link"), 0);
	EXPECT_EQ(close(open("/tmp/dir/up", O_WRONLY | O_CREAT, 0600)), 0);
	EXPECT_EQ(lstat("/tmp/new", &st), 0);
	EXPECT_EQ(symlink("b", "/tmp/a"), 0);
	EXPECT_EQ(symlink("a", "/tmp/b"), 0);
	EXPECT_ERRNO(open("/tmp/a", O_RDONLY), ELOOP);
	/* faccessat2(2) */
	EXPECT_EQ(syscall(439, 0, "/tmp/a", 0, AT_SYMLINK_NOFOLLOW), 0);
	EXPECT_ERRNO(stat("/tmp/b/c", &st), ELOOP);
	EXPECT_EQ(chdir("/tmp/d"), 0);
	EXPECT(has("file", "text"));
	EXPECT_EQ(chdir("/"), 0);
}

TEST(names_share_a_file)
{
	struct stat st;

	EXPECT_EQ(make_file("/tmp/first", "one"), 0);
	EXPECT_EQ(link("/tmp/first", "/tmp/second"), 0);
	EXPECT_ERRNO(link("/tmp/first", "/tmp/second"), EEXIST);
	EXPECT_ERRNO(link("/tmp/dir", "/tmp/third"), EPERM);
	EXPECT_ERRNO(link("/tmp/absent", "/tmp/third"), ENOENT);
	EXPECT_ERRNO(link("/links", "/tmp/third"), EXDEV);
	EXPECT_EQ(stat("/tmp/first", &st), 0);
	ino_t ino = st.st_ino;
	EXPECT_EQ(st.st_nlink, 2);
	EXPECT_EQ(stat("/tmp/second", &st), 0);
	EXPECT_EQ(st.st_ino, ino);
	EXPECT_EQ(rename("/tmp/first", "/tmp/second"), 0); /* the same file */
	EXPECT_EQ(unlink("/tmp/first"), 0);
	EXPECT(has("/tmp/second", "one"));
	EXPECT_EQ(link("/tmp/second", "/tmp/dir/third"), 0);
	EXPECT_EQ(unlink("/tmp/second"), 0);
	EXPECT(has("/tmp/dir/third", "one"));
	EXPECT_EQ(stat("/tmp/dir/third", &st), 0);
	EXPECT_EQ(st.st_nlink, 1);
	EXPECT_EQ(truncate("/tmp/dir/third", 2), 0);
	EXPECT(has("/tmp/dir/third", "on"));
}

TEST(what_was_made_can_be_removed)
{
	static const char *const names[] = { "dir/third", "dir/file", "dir/up",
		"new", "link", "d", "a", "b" };
	char path[32];

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "/tmp/%s", names[i]);
		EXPECT_EQ(unlink(path), 0);
	}
	EXPECT_EQ(rmdir("/tmp/dir"), 0);
}
