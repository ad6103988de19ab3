/* MAP_SHARED memory of processes: one, until its last mapping ends. */
#define _GNU_SOURCE /* mremap(2) */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sys/barecpc.h>

#define PAGE  4096
#define PAGES 600 /* more than two blocks of the kernel */
#define BYTES ((size_t)PAGES * PAGE)
#define RW    (PROT_READ | PROT_WRITE)

/* Page tables of the ranges that were mapped. */
TEST_KEEPS(16);

static unsigned char *
map_shared(int prot)
{
	return mmap(NULL, BYTES, prot, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Does each page hold the byte `first` + its number? */
static bool
holds(const volatile unsigned char *p, unsigned first)
{
	for (unsigned i = 0; i < PAGES; i++) {
		if (p[(size_t)i * PAGE] != (unsigned char)(first + i))
			return false;
	}
	return true;
}

static void
fill(volatile unsigned char *p, unsigned first)
{
	for (unsigned i = 0; i < PAGES; i++)
		p[(size_t)i * PAGE] = (unsigned char)(first + i);
}

TEST(a_grandchild_writes_what_all_see)
{
	unsigned char *p = map_shared(RW);

	REQUIRE(p != MAP_FAILED);
	EXPECT_EQ(p[0], 0);
	pid_t child = fork();
	if (child == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0) {
			fill(p, 1);
			_exit(0);
		}
		if (test_wait_status(grandchild) != 0 || !holds(p, 1))
			_exit(1);
		fill(p, 2);
		_exit(0);
	}
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT(holds(p, 2));
	EXPECT_EQ(munmap(p, BYTES), 0);
}

TEST(the_last_mapping_frees_it)
{
	int go[2];
	char c;

	REQUIRE(pipe(go) == 0);
	uint64_t before = test_free_pages();
	unsigned char *p = map_shared(RW);
	REQUIRE(p != MAP_FAILED);
	uint64_t mapped = test_free_pages();
	EXPECT(before - mapped >= PAGES && before - mapped < PAGES + 8);
	pid_t child = fork();
	if (child == 0) {
		close(go[1]);
		if (read(go[0], &c, 1) != 0) /* until the parent has unmapped */
			_exit(1);
		_exit(!holds(p, 3) || munmap(p, BYTES) != 0 ||
		      before - test_free_pages() > PAGES / 2);
	}
	REQUIRE(child > 0);
	fill(p, 3);
	EXPECT_EQ(munmap(p, BYTES), 0);
	EXPECT(before - test_free_pages() >= PAGES);
	close(go[1]);
	close(go[0]);
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT(test_free_pages() + 8 > before);
}

/* Rights belong to a process, and the content to all. */
TEST(a_part_is_protected_and_unmapped_in_one_process)
{
	unsigned char *p = map_shared(PROT_NONE), *third = p + 3 * PAGE;
	int zero = open("/dev/zero", O_RDONLY);

	REQUIRE(p != MAP_FAILED);
	EXPECT_EQ(mprotect(p, BYTES, RW), 0);
	fill(p, 4);
	EXPECT_EQ(mprotect(p + PAGE, PAGE, PROT_NONE), 0);
	EXPECT_EQ(mprotect(third, PAGE, PROT_READ), 0);
	pid_t child = fork();
	if (child == 0) {
		/* The child has the parent's rights, and changes its own. */
		bool good = read(zero, third, 1) == -1 && errno == EFAULT &&
		            read(zero, p + PAGE, 1) == -1 &&
		            mprotect(p, BYTES, RW) == 0 && holds(p, 4);

		p[PAGE] = third[0] = 'c';
		good = good && munmap(third, PAGE) == 0 &&
		       read(zero, third, 1) == -1 && p[4 * PAGE] == 8;
		_exit(good ? 0 : 1);
	}
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_EQ(third[0], 'c');
	EXPECT_ERRNO(read(zero, third, 1), EFAULT);
	EXPECT_EQ(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	EXPECT_EQ(p[PAGE], 'c');
	EXPECT_EQ(munmap(p, BYTES), 0);
	close(zero);
}

TEST(it_shrinks_and_does_not_grow)
{
	unsigned char *p = map_shared(RW);

	REQUIRE(p != MAP_FAILED);
	EXPECT(mremap(p, BYTES, BYTES + PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT(mremap(p, BYTES, PAGE, 0) == p);
	pid_t child = fork();
	if (child == 0) {
		p[1] = 'x';
		_exit(0);
	}
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_EQ(p[1], 'x');
	/* Advice that drops private memory keeps what others see. */
	EXPECT_EQ(madvise(p, PAGE, MADV_DONTNEED), 0);
	EXPECT_EQ(p[1], 'x');
	EXPECT_EQ(munmap(p, PAGE), 0);
}

/* A program that is executed has none of it, and the parent keeps it. */
TEST(exec_drops_it)
{
	uint64_t before = test_free_pages();
	unsigned char *p = map_shared(RW);

	REQUIRE(p != MAP_FAILED);
	fill(p, 6);
	pid_t child = fork();
	if (child == 0) {
		execl("mix_exec", "mix_exec", NULL);
		_exit(2);
	}
	/* mix_exec without arguments */
	EXPECT_EQ(test_wait_status(child), 1 << 8);
	EXPECT(holds(p, 6));
	EXPECT_EQ(munmap(p, BYTES), 0);
	EXPECT(before - test_free_pages() < 8);
}

TEST(it_is_refused_without_memory)
{
	uint64_t before = test_free_pages();

	EXPECT(mmap(NULL, (before + 1) * PAGE, RW, MAP_SHARED | MAP_ANONYMOUS,
		   -1, 0) == MAP_FAILED);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_EQ(test_free_pages(), before);
}

/* A child, read() and write() see what a mapping of a file in memory has. */
TEST(a_file_is_its_mapping)
{
	int fd = shm_open("/shared", O_RDWR | O_CREAT | O_EXCL, 0600);
	int only_read = shm_open("/shared", O_RDONLY, 0);
	char *p, *second, text[8] = "";

	REQUIRE(fd != -1 && only_read != -1);
	EXPECT_EQ(access("/dev/shm/../shm/shared", F_OK), 0);
	EXPECT_EQ(write(fd, "content", 7), 7);
	p = mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0);
	REQUIRE(p != MAP_FAILED);
	EXPECT(memcmp(p, "content", 8) == 0);
	EXPECT(mmap(NULL, PAGE, RW, MAP_SHARED, only_read, 0) == MAP_FAILED);
	EXPECT_EQ(errno, EACCES);
	pid_t child = fork();
	if (child == 0) {
		p[0] = 'C';
		_exit(pwrite(fd, "T", 1, 3) != 1);
	}
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT(memcmp(p, "ConTent", 8) == 0);
	/* It grows, and another mapping has the new part. */
	EXPECT_EQ(ftruncate(fd, 3 * PAGE), 0);
	second = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, only_read, 2 * PAGE);
	REQUIRE(second != MAP_FAILED);
	EXPECT_EQ(pwrite(fd, "x", 1, 2 * PAGE), 1);
	EXPECT_EQ(second[0], 'x');
	EXPECT_ERRNO(mprotect(second, PAGE, RW), EACCES);
	EXPECT_EQ(mprotect(p, PAGE, PROT_READ) | mprotect(p, PAGE, RW), 0);
	EXPECT_EQ(msync(p, PAGE, MS_SYNC), 0);
	EXPECT_ERRNO(msync(p + PAGE, 4L << 30, MS_SYNC), ENOMEM);
	EXPECT_EQ(pread(fd, text, 7, 0), 7);
	EXPECT(strcmp(text, "ConTent") == 0);
	/* More than its room is refused, and nothing is lost. */
	EXPECT_ERRNO(ftruncate(fd, 1L << 20), ENOSPC);
	EXPECT_EQ(ftruncate(fd, 0), 0);
	EXPECT_EQ(p[0], 0);
	EXPECT_EQ(shm_unlink("/shared"), 0);
	EXPECT_EQ(close(fd) | close(only_read), 0);
	p[0] = 'k';
	EXPECT_EQ(p[0], 'k');
	EXPECT_EQ(munmap(second, PAGE) | munmap(p, PAGE), 0);
	EXPECT_ERRNO(rmdir("/dev/shm"), EBUSY);
}

TEST(devices)
{
	int zero = open("/dev/zero", O_RDWR);
	int read_only = open("/dev/zero", O_RDONLY);
	unsigned char *p = mmap(NULL, PAGE, RW, MAP_SHARED, zero, 0);

	REQUIRE(p != MAP_FAILED);
	pid_t child = fork();
	if (child == 0) {
		p[0] = 'z';
		_exit(0);
	}
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_EQ(p[0], 'z');
	EXPECT_EQ(munmap(p, PAGE), 0);
	EXPECT(mmap(NULL, PAGE, RW, MAP_SHARED, read_only, 0) == MAP_FAILED);
	EXPECT_EQ(errno, EACCES);
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, read_only, 0);
	EXPECT_ERRNO(mprotect(p, PAGE, PROT_WRITE), EACCES);
	EXPECT_EQ(munmap(p, PAGE), 0);
	EXPECT(mmap(NULL, 2L << 20, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_CONTIG,
		   -1, 0) == MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);
	close(zero);
	close(read_only);
}
