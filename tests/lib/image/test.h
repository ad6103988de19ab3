/*
 * Tests that boot.  Included by those of tests/image/, each a program;
 * test.c gives it a main() that runs its TESTs in the order of the file,
 * prints TAP 13, and exits 0 where none failed.
 *
 * The last test of every program is that nothing leaked: contexts, PICs,
 * LWPs and pages are what they were before the first.
 */
#ifndef TESTS_LIB_IMAGE_TEST_H
#define TESTS_LIB_IMAGE_TEST_H

#include <stdbool.h>
#include <stdint.h>

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

/* A false expectation fails the test, says so, and lets it go on. */
#define EXPECT(e) test_expect((e) ? true : false, __FILE__, __LINE__, #e)
#define EXPECT_EQ(got, want)                                                   \
	test_expect_eq(                                                        \
	    (int64_t)(got), (int64_t)(want), __FILE__, __LINE__, #got, #want)
/* got < 0 and errno: what a failing system call leaves. */
#define EXPECT_ERRNO(got, want)                                                \
	test_expect_errno((int64_t)(got), (want), __FILE__, __LINE__, #got)
/* The same, and leave the test: what follows makes no sense without it. */
#define REQUIRE(e)                                                             \
	do {                                                                   \
		if (!EXPECT(e))                                                \
			return;                                                \
	} while (0)
/* This machine cannot run the test, for this reason. */
#define SKIP(...)                                                              \
	do {                                                                   \
		test_skip(__VA_ARGS__);                                        \
		return;                                                        \
	} while (0)

/*
 * Pages a program may end with fewer of, having given back all it took:
 * TEST_KEEPS(n), once.  The C library's allocator keeps some after the last
 * free(), the kernel the page tables of what was mapped, one for 2 MiB.
 * Both go with the process; that the launcher checks, to the page.
 */
#define TEST_KEEPS(n) unsigned test_keeps = (n)
extern unsigned test_keeps;

/* main()'s arguments. */
extern int test_argc;
extern char **test_argv;

void test_register(struct test *t);
void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Say more, behind the test's verdict. */
void test_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * For a process that has no main() of the tests': false where an expectation
 * was false, which is said on standard error.
 */
bool test_was_good(void);
/*
 * CPUS=alone: tests/list knows where QEMU 7.2 may run one CPU and no other
 * (docs/design.md, "LWPs on CPUs").
 */
bool test_cpus_alone(void);
bool test_expect(bool holds, const char *file, int line, const char *text);
bool test_expect_eq(int64_t got, int64_t want, const char *file, int line,
    const char *got_text, const char *want_text);
bool test_expect_errno(
    int64_t got, int want, const char *file, int line, const char *text);

#endif /* TESTS_LIB_IMAGE_TEST_H */
