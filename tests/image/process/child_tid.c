/* CLONE_CHILD_SETTID and _CLEARTID write only where the child may. */
#define _GNU_SOURCE /* CLONE_VM */
#include "tests/lib/image/cpc_test.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE  4096
#define WORDS 16 /* bytes that are compared */

TEST_KEEPS(16);

static const char constant[WORDS] = "not to be chang";
static char word[8 + sizeof(int)];

/* Fork a child with its id at the address, in either order of arguments. */
static pid_t
fork_with_tid(uintptr_t at)
{
	return (pid_t)syscall(
	    SYS_clone, CLONE_CHILD_SETTID | SIGCHLD, 0L, 0L, at, at);
}

/* The child must find the same bytes at the address as its parent. */
static void
expect_kept(const char *what, uintptr_t at)
{
	char before[WORDS];

	memcpy(before, (const char *)at, sizeof before);
	pid_t pid = fork_with_tid(at);
	if (pid == 0)
		_exit(memcmp((const char *)at, before, sizeof before) != 0);
	if (!EXPECT(pid > 0) || !EXPECT_EQ(test_exit_code(pid), 0))
		test_note("failed: %s", what);
}

/* The child must run, whatever is at the address. */
static void
expect_ignored(const char *what, uintptr_t at)
{
	pid_t pid = fork_with_tid(at);

	if (pid == 0)
		_exit(42);
	if (!EXPECT(pid > 0) || !EXPECT_EQ(test_exit_code(pid), 42))
		test_note("failed: %s", what);
}

TEST(the_child_finds_its_id)
{
	for (unsigned i = 0; i < 8; i++) {
		pid_t pid = fork_with_tid((uintptr_t)&word[i]);

		if (pid == 0) {
			int tid = 0;

			memcpy(&tid, &word[i], sizeof tid);
			_exit(tid != syscall(SYS_gettid));
		}
		REQUIRE(pid > 0);
		EXPECT_EQ(test_exit_code(pid), 0);
		/* The parent's memory is unchanged. */
		EXPECT_EQ(word[i], 0);
	}
}

TEST(read_only_memory_is_kept)
{
	char *page = test_map(PAGE, PROT_READ | PROT_WRITE);

	expect_kept("text", (uintptr_t)&expect_kept & -(uintptr_t)8);
	expect_kept("a constant", (uintptr_t)constant);
	REQUIRE(page != NULL);
	REQUIRE(mprotect(page, PAGE, PROT_READ) == 0);
	expect_kept("a page of mprotect(2)", (uintptr_t)page);
	munmap(page, PAGE);
}

TEST(the_counter_page_is_kept)
{
	/* These addresses are never used, because no read sequence runs. */
	intptr_t page = cpc_syscall(CPC_OP_PAGE, 0x1000, 0x1000, 0x1000, 0);

	if (page < 0)
		SKIP("this PMU has no counter page");
	expect_kept("its end", (uintptr_t)page + PAGE - WORDS);
	expect_kept("its clock", (uintptr_t)page + 32);
}

TEST(a_child_survives_an_unwritable_address)
{
	char *page = test_map(2 * PAGE, PROT_READ | PROT_WRITE);

	expect_ignored("NULL", 0);
	expect_ignored("the first page", 8);
	expect_ignored("the kernel", (uintptr_t)0 - PAGE);
	expect_ignored("an address that no CPU has", (uintptr_t)1 << 62);
	REQUIRE(page != NULL);
	REQUIRE(munmap(page + PAGE, PAGE) == 0);
	expect_ignored("an unmapped page", (uintptr_t)page + PAGE);
	expect_ignored("its edge", (uintptr_t)page + PAGE - 2);
	REQUIRE(mprotect(page, PAGE, PROT_NONE) == 0);
	expect_ignored("PROT_NONE", (uintptr_t)page);
	munmap(page, PAGE);
}

/* The same for threads.  The kernel also clears the word when they end. */

static volatile int arrived;

static int
record_arrival(void)
{
	arrived = 1;
	return 0;
}

#define THREAD                                                                 \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |    \
	    CLONE_SYSVSEM | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)

static void
thread_with_tid(const char *what, uintptr_t at)
{
	static char stack[8192] __attribute__((aligned(16)));
	long tid;

	arrived = 0;
	tid = clone_thread(
	    record_arrival, stack + sizeof stack, THREAD, (void *)at);
	if (!EXPECT(tid > 0)) {
		test_note("failed: %s", what);
		return;
	}
	while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
		sched_yield();
	EXPECT_EQ(arrived, 1);
}

TEST(the_same_holds_for_threads)
{
	uintptr_t text = (uintptr_t)&expect_kept & -(uintptr_t)8;
	char before[WORDS];

	memcpy(before, (const char *)text, sizeof before);
	thread_with_tid("text", text);
	EXPECT_EQ(memcmp((const char *)text, before, sizeof before), 0);
	thread_with_tid("a constant", (uintptr_t)constant);
	EXPECT_EQ(strcmp(constant, "not to be chang"), 0);
	thread_with_tid("the first page", 8);
	thread_with_tid("the kernel", (uintptr_t)0 - PAGE);
	memset(word, 1, sizeof word);
	thread_with_tid("a word", (uintptr_t)word);
	EXPECT_EQ(word[0], 0); /* cleared */
	memset(word, 0, sizeof word);
}
