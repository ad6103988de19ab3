/*
 * A file of whole pages is mapped as it lies in the archive.  A shared mapping
 * copies nothing, and no process can write to it.  After MADV_DONTNEED a
 * private mapping has the file's content again.
 *
 * A shared mapping takes only its page tables, which have far fewer pages than
 * the file.
 */
#define _GNU_SOURCE /* mremap(2) */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

TEST_KEEPS(8);

#define TABLES 6 /* pages of page tables, at most */

static int table = -1;
static size_t bytes;

/* Open this architecture's event table.  False: the image has none. */
static bool
open_table(void)
{
	struct stat st;

	table = open("/events/intel", O_RDONLY);
	if (table == -1)
		table = open("/events/arm", O_RDONLY);
	if (table == -1 || !EXPECT_EQ(fstat(table, &st), 0))
		return false;
	bytes = (size_t)st.st_size;
	return true;
}

static char *
map_table(int flags, int prot)
{
	return mmap(NULL, bytes, prot, flags, table, 0);
}

#define NEEDS_TABLE()                                                          \
	do {                                                                   \
		if (!open_table())                                             \
			SKIP("no table of events in this image");              \
	} while (0)

TEST(a_mapping_copies_nothing)
{
	uint64_t before = test_free_pages();

	NEEDS_TABLE();
	EXPECT(bytes % 4096 == 0 && bytes / 4096 > 2 * TABLES);
	char *a = map_table(MAP_SHARED, PROT_READ);
	REQUIRE(a != MAP_FAILED);
	char *b = map_table(MAP_SHARED, PROT_READ);
	REQUIRE(b != MAP_FAILED);
	EXPECT(a != b && before - test_free_pages() <= TABLES);
	char *copy = map_table(MAP_PRIVATE, PROT_READ);
	REQUIRE(copy != MAP_FAILED);
	EXPECT(before - test_free_pages() >= bytes / 4096);
	EXPECT(memcmp(a, copy, bytes) == 0);
	EXPECT(memcmp(a, b, bytes) == 0);
	EXPECT_EQ(munmap(copy, bytes), 0);
	EXPECT_EQ(munmap(b, bytes), 0);
	EXPECT_EQ(munmap(a, bytes), 0);
	close(table);
}

/* A child has the parent's mapping, and makes another of the same pages. */
TEST(processes_share_it)
{
	NEEDS_TABLE();
	char *a = map_table(MAP_SHARED, PROT_READ);
	REQUIRE(a != MAP_FAILED);
	uint64_t before = test_free_pages();
	pid_t child = fork();
	if (child == 0) {
		uint64_t now = test_free_pages();
		char *b = map_table(MAP_SHARED, PROT_READ);

		_exit(b == MAP_FAILED || now - test_free_pages() > TABLES ||
		      memcmp(a, b, bytes) != 0 || munmap(a, bytes) != 0);
	}
	EXPECT_EQ(test_wait_status(child), 0);
	/* The child freed its own pages, and not the shared ones. */
	EXPECT_EQ(test_free_pages(), before);
	EXPECT_EQ(a[0], 'B');
	EXPECT_EQ(munmap(a, bytes), 0);
	close(table);
}

TEST(a_shared_mapping_cannot_be_written)
{
	NEEDS_TABLE();
	char *a = map_table(MAP_SHARED, PROT_READ);
	char *own = map_table(MAP_PRIVATE, PROT_READ | PROT_WRITE);
	REQUIRE(a != MAP_FAILED && own != MAP_FAILED);
	EXPECT_EQ(own[0], 'B');
	memset(own, 'x', bytes);
	EXPECT_EQ(a[0], 'B');
	EXPECT_ERRNO(mprotect(a, bytes, PROT_READ | PROT_WRITE), EACCES);
	EXPECT_ERRNO(mprotect(a + 4096, 4096, PROT_WRITE), EACCES);
	EXPECT(map_table(MAP_SHARED, PROT_READ | PROT_WRITE) == MAP_FAILED);
	/* A system call cannot write there, either. */
	EXPECT_ERRNO(pread(table, a, 8, 8), EFAULT);
	EXPECT_EQ(a[0], 'B');
	EXPECT_EQ(munmap(own, bytes), 0);
	EXPECT_EQ(munmap(a, bytes), 0);
	close(table);
}

/* A part of a shared mapping can be changed like a part of any mapping. */
TEST(a_part_is_hidden_moved_and_dropped)
{
	const size_t page = 4096;
	uint64_t before = test_free_pages();

	NEEDS_TABLE();
	char *a = map_table(MAP_SHARED, PROT_READ);
	char *whole = map_table(MAP_SHARED, PROT_READ);
	REQUIRE(a != MAP_FAILED && whole != MAP_FAILED);
	EXPECT_EQ(mprotect(a + page, page, PROT_NONE), 0);
	EXPECT_EQ(mprotect(a + page, page, PROT_READ), 0);
	EXPECT_EQ(madvise(a, 2 * page, MADV_DONTNEED), 0);
	EXPECT(memcmp(a, whole, bytes) == 0);
	EXPECT_EQ(munmap(a + page, page), 0);
	EXPECT(memcmp(a, whole, page) == 0);
	EXPECT(memcmp(a + 2 * page, whole + 2 * page, bytes - 2 * page) == 0);
	char *moved = mremap(a, page, page, MREMAP_MAYMOVE);
	EXPECT(moved == a);
	/* It does not grow: the new part would not be the file's. */
	EXPECT(mremap(a, page, 2 * page, MREMAP_MAYMOVE) == MAP_FAILED);
	EXPECT_EQ(munmap(a, bytes), 0);
	EXPECT_EQ(munmap(whole, bytes), 0);
	close(table);
	EXPECT(before - test_free_pages() <= TABLES);
}

static const volatile char *read_byte;
static volatile bool stop_reading, was_zero;

static void *
read_on(void *arg)
{
	while (!stop_reading)
		was_zero |= *read_byte == 0;
	return NULL;
}

/* Another thread may read the pages, on another CPU if there is one. */
TEST(dropped_pages_are_never_seen_as_zeros)
{
	pthread_t t;

	NEEDS_TABLE();
	char *own = map_table(MAP_PRIVATE, PROT_READ);
	REQUIRE(own != MAP_FAILED);
	read_byte = own;
	while (*read_byte == 0)
		read_byte++;
	stop_reading = was_zero = false;
	REQUIRE(pthread_create(&t, NULL, read_on, NULL) == 0);
	for (int i = 0; i < 200; i++)
		EXPECT_EQ(madvise(own, 8 * 4096, MADV_DONTNEED), 0);
	stop_reading = true;
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT(!was_zero);
	EXPECT_EQ(munmap(own, bytes), 0);
	close(table);
}

/* Only the pages that are dropped lose what was written to them. */
TEST(dropped_pages_have_the_content_of_the_file_again)
{
	const size_t page = 4096;
	char *own, *whole;

	NEEDS_TABLE();
	own = mmap(NULL, bytes - page, PROT_READ | PROT_WRITE, MAP_PRIVATE,
	    table, (off_t)page);
	whole = map_table(MAP_SHARED, PROT_READ);
	REQUIRE(own != MAP_FAILED && whole != MAP_FAILED);
	whole += page;
	memset(own, 'x', 4 * page);
	EXPECT_EQ(madvise(own + page, page, MADV_DONTNEED), 0);
	EXPECT_EQ(own[page - 1], 'x');
	EXPECT(memcmp(own + page, whole + page, page) == 0);
	EXPECT_EQ(own[2 * page], 'x');
	/* Pages without access, which are freed. */
	EXPECT_EQ(mprotect(own + 2 * page, page, PROT_NONE), 0);
	EXPECT_EQ(madvise(own + 2 * page, page, MADV_DONTNEED), 0);
	EXPECT_EQ(mprotect(own + 2 * page, page, PROT_READ), 0);
	EXPECT(memcmp(own + page, whole + page, 2 * page) == 0);
	pid_t child = fork();
	if (child == 0)
		_exit(own[3 * page] != 'x' ||
		      madvise(own, 4 * page, MADV_DONTNEED) != 0 ||
		      memcmp(own, whole, bytes - page) != 0);
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_EQ(own[3 * page], 'x');
	EXPECT_ERRNO(madvise(own, page, MADV_WIPEONFORK), EINVAL);
	EXPECT(mremap(own, page, bytes, MREMAP_MAYMOVE) == MAP_FAILED);
	EXPECT_EQ(madvise(own, bytes - page, MADV_DONTNEED), 0);
	EXPECT(memcmp(own, whole, bytes - page) == 0);
	EXPECT_EQ(munmap(own, bytes - page), 0);
	EXPECT_EQ(munmap(whole - page, bytes), 0);
	close(table);
}

/* A page that the file fills in part is zero after the end of the file. */
TEST(the_last_page_of_a_file_ends_in_zeros)
{
	const size_t page = 4096;
	int self = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	char want[4096] = { 0 }, *own;

	REQUIRE(self != -1 && fstat(self, &st) == 0);
	size_t last = (size_t)st.st_size % page;
	size_t at = (size_t)st.st_size - last;
	EXPECT(last != 0);
	EXPECT_EQ(pread(self, want, last, (off_t)at), last);
	own = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, self,
	    (off_t)at);
	REQUIRE(own != MAP_FAILED);
	memset(own, 'x', 2 * page);
	EXPECT_EQ(madvise(own, 2 * page, MADV_DONTNEED), 0);
	EXPECT(memcmp(own, want, page) == 0);
	EXPECT(own[page] == 0 && own[2 * page - 1] == 0);
	EXPECT_EQ(munmap(own, 2 * page), 0);
	/* A shared mapping of such a page is a copy, and cannot be written. */
	own = mmap(NULL, page, PROT_READ, MAP_SHARED, self, (off_t)at);
	REQUIRE(own != MAP_FAILED);
	pid_t child = fork();
	if (child == 0)
		_exit(mprotect(own, page, PROT_WRITE) == 0);
	EXPECT_EQ(test_wait_status(child), 0);
	EXPECT_ERRNO(mprotect(own, page, PROT_READ | PROT_WRITE), EACCES);
	EXPECT_EQ(munmap(own, page), 0);
	close(self);
}

static char data[2 * 4096] __attribute__((aligned(4096))) = { 'd' };

static int __attribute__((noinline, aligned(4096))) answer(void)
{
	return 42;
}

/* The program's own segments are private mappings of its file, too. */
TEST(dropped_pages_of_the_program_are_as_in_its_file)
{
	data[0] = data[4096] = 'x';
	EXPECT_EQ(madvise(data, sizeof data, MADV_DONTNEED), 0);
	EXPECT_EQ(data[0], 'd');
	EXPECT_EQ(data[4096], 0);
	EXPECT_EQ(madvise((void *)answer, 4096, MADV_DONTNEED), 0);
	EXPECT_EQ(answer(), 42);
}
