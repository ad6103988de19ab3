/*
 * A test on the build machine.  Each test program of tests/host/ includes this
 * header.  The main() of test.c runs its TESTs in the order of the file, and
 * prints what cmocka prints.  A program that takes words has its own main().
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A fake, a handler or a thread has the parameters of its interface. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Define a test: TEST(name) { ... } */
#define TEST(name) TEST_WITH(name, NULL, NULL)
/* The same, with what cmocka calls before and after it, or NULL. */
#define TEST_WITH(name, up, down)                                              \
	static void name(void **state);                                        \
	static void __attribute__((constructor)) test_constructor_##name(void) \
	{                                                                      \
		static const struct CMUnitTest test =                          \
		    cmocka_unit_test_setup_teardown(name, up, down);           \
		test_register(&test);                                          \
	}                                                                      \
	static void name(void **state __attribute__((unused)))
/* State once in a program what runs before its first test: TEST_FIRST(fn). */
#define TEST_FIRST(fn) CMFixtureFunction test_first = (fn)
extern CMFixtureFunction test_first;

void test_register(const struct CMUnitTest *test);
