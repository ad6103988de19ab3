/* The C library's stdio works on the kernel's files, as ISO C says. */
#include "tests/lib/image/test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
prints(const char *want, double value, const char *fmt)
{
	char text[128];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof text, fmt, value);
#pragma GCC diagnostic pop
	if (strcmp(text, want) == 0)
		return true;
	test_note("%s gave \"%s\", not \"%s\"", fmt, text, want);
	return false;
}

TEST(floating_point_is_printed)
{
	EXPECT(prints("0.100000", 0.1, "%f"));
	EXPECT(prints("-1.5", -1.5, "%g"));
	EXPECT(prints("3.141592653589793", 3.141592653589793, "%.15f"));
	EXPECT(prints("1e+300", 1e300, "%g"));
	EXPECT(prints("0x1.8p+1", 3.0, "%a"));
	EXPECT(prints("inf", INFINITY, "%f"));
	/* The double 0.1 exactly, which takes arbitrary precision. */
	EXPECT(prints("0.1000000000000000055511151231257827", 0.1, "%.34f"));
}

TEST(floating_point_is_read_back)
{
	double value = 0;

	EXPECT(strtod("0.1", NULL) == 0.1);
	EXPECT(sscanf("2.5e-3", "%lf", &value) == 1 && value == 0.0025);
	EXPECT(strtod("1e400", NULL) == HUGE_VAL && errno == ERANGE);
}

TEST(integers_are_printed)
{
	char text[64];

	snprintf(text, sizeof text, "%lld|%#x|%-6d|%06d|%c", -(1LL << 62),
	    0xbeefu, 42, 7, 'x');
	EXPECT(
	    strcmp(text, "-4611686018427387904|0xbeef|42    |000007|x") == 0);
}

TEST(unbuffered_and_buffered_output_keep_their_order)
{
	char text[64] = "";
	int ends[2], out = dup(STDOUT_FILENO);

	REQUIRE(pipe(ends) == 0 && out >= 0);
	dup2(ends[1], STDOUT_FILENO);
	EXPECT_EQ(fputs("first, ", stdout), 0);
	EXPECT_EQ(fflush(stdout), 0);
	EXPECT_EQ(write(STDOUT_FILENO, "second, ", 8), 8);
	EXPECT(printf("third\n") == 6);
	EXPECT_EQ(fflush(stdout), 0);
	dup2(out, STDOUT_FILENO);
	close(ends[1]);
	close(out);
	EXPECT_EQ(read(ends[0], text, sizeof text - 1), 21);
	EXPECT(strcmp(text, "first, second, third\n") == 0);
	close(ends[0]);
}

TEST(a_closed_stream_is_an_error)
{
	int fd = dup(STDOUT_FILENO);
	FILE *f = fdopen(fd, "w");

	REQUIRE(f != NULL);
	EXPECT_EQ(write(fd, "", 0), 0);
	EXPECT_EQ(fclose(f), 0);
	EXPECT_ERRNO(write(fd, "", 0), EBADF);
}

TEST(stdin_is_at_its_end)
{
	EXPECT_EQ(getchar(), EOF);
	EXPECT(feof(stdin));
}

TEST_KEEPS(16);
