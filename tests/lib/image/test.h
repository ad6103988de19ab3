/*
 * A test program that boots.  Each program of tests/image/ includes this
 * header.  The main() of test.c runs its TESTs in the order of the file, prints
 * TAP 13, and exits 0 if none failed.
 *
 * The last test of every program checks that nothing leaked: contexts, PICs,
 * LWPs and pages are as they were at the start.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A fake, a handler or a thread has the parameters of its interface. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct test {
	const char *t_name;
	void (*t_fn)(void);
	struct test *t_next;
};

/* Define a test: TEST(name) { ... } */
#define TEST(name)                                                             \
	static void test_##name(void);                                         \
	static struct test test_entry_##name = { #name, test_##name, 0 };      \
	static void __attribute__((constructor)) test_constructor_##name(void) \
	{                                                                      \
		test_register(&test_entry_##name);                             \
	}                                                                      \
	static void test_##name(void)

/* A false expectation fails the test, which continues with a note. */
#define EXPECT(e) test_expect((e) ? true : false, __FILE__, __LINE__, #e)
#define EXPECT_EQ(got, want)                                                   \
	test_expect_eq(                                                        \
	    (int64_t)(got), (int64_t)(want), __FILE__, __LINE__, #got, #want)
/* Expect a failed system call: got < 0, and errno is want. */
#define EXPECT_ERRNO(got, want)                                                \
	test_expect_errno((int64_t)(got), (want), __FILE__, __LINE__, #got)
/* Like EXPECT, but leave the test: the rest makes no sense without it. */
#define REQUIRE(e)                                                             \
	do {                                                                   \
		if (!EXPECT(e))                                                \
			return;                                                \
	} while (0)
/* This machine cannot run the test, for the reason given. */
#define SKIP(...)                                                              \
	do {                                                                   \
		test_skip(__VA_ARGS__);                                        \
		return;                                                        \
	} while (0)

/*
 * State once in a program how many free pages fewer than at its start it may
 * leave: TEST_KEEPS(n).  The C library's allocator keeps some pages after the
 * last free().  The kernel keeps page tables, one for each 2 MiB that was
 * mapped.  Both are freed with the process, which the launcher checks to the
 * page.
 */
#define TEST_KEEPS(n) unsigned test_keeps = (n)
extern unsigned test_keeps;
/*
 * For a program whose tests can run again: TEST_TWICE().  They run once before
 * the pages are counted, so that what stays for good is there.  Pages
 * that the second time leaves are a leak.
 */
#define TEST_TWICE() bool test_twice = true
extern bool test_twice;

/* main()'s arguments. */
extern int test_argc;
extern char **test_argv;

void test_register(struct test *t);
void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print a note after the test's verdict. */
void test_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * For a claim about time: does it hold in one of ten tries?  A hypervisor may
 * run something else in the middle of some tries.  A wrong kernel fails them
 * all.
 */
bool test_holds_once(bool (*claim)(void));
/*
 * For a process that does not run the tests' main(): returns false if an
 * expectation was false, and then prints the notes on standard error.
 */
bool test_was_good(void);
/* A handler that counts its calls, and keeps the last signal. */
extern volatile int test_nsignal, test_last_signal;
void test_note_signal(int sig);
/* CLOCK_MONOTONIC. */
int64_t test_now_ns(void);
/* Let this LWP run on that CPU alone. */
void test_run_on(int cpu);
/* New private memory, or NULL. */
void *test_map(size_t bytes, int prot);
/* The free pages of the machine; 0: this is not barecpc. */
uint64_t test_free_pages(void);
/* Wait until a child ends.  Returns its wait status, or -1 without a child. */
int test_wait_status(pid_t child);
/* The same, but its exit status, or -1 if it has none. */
int test_exit_code(pid_t child);
/*
 * Make an LWP with clone(2).  It calls fn() on the stack that ends at `top`,
 * and exits with its result.  CLONE_CHILD_SETTID and CLONE_CHILD_CLEARTID write
 * to `tid`.  Returns the LWP's id or a negative errno.  Since musl 1.2.5 the C
 * library's clone() refuses CLONE_THREAD.
 */
long clone_thread(int (*fn)(void), void *top, unsigned long flags, void *tid);
/*
 * vfork(2), which not every C library has.  The child shares the memory, runs
 * fn(arg) on its own stack, and ends with the result as its status.  Returns
 * the child's number when it executes a program or ends, or -1.
 */
pid_t test_vfork(int (*fn)(void *arg), void *arg);
bool test_expect(bool holds, const char *file, int line, const char *text);
bool test_expect_eq(int64_t got, int64_t want, const char *file, int line,
    const char *got_text, const char *want_text);
bool test_expect_errno(
    int64_t got, int want, const char *file, int line, const char *text);
