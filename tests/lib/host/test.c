/* The main program of tests on the build machine. */
#include "tests/lib/host/test.h"

#include <stdlib.h>

#define MOST_TESTS 64

/* The value for a program without TEST_FIRST(). */
CMFixtureFunction __attribute__((weak)) test_first;

/* cmocka ignores entries without a function. */
static struct CMUnitTest tests[MOST_TESTS];
static unsigned ntest;

void
test_register(const struct CMUnitTest *test)
{
	if (ntest == MOST_TESTS)
		abort();
	tests[ntest++] = *test;
}

int __attribute__((weak)) main(void)
{
	return cmocka_run_group_tests(tests, test_first, NULL);
}
