/* The kernel's string functions and printf return what the host's do. */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The host's functions, before kernel_names.h renames them. */
static int (*const host_snprintf)(char *, size_t, const char *, ...) = snprintf;
static unsigned long (*const host_strtoul)(
    const char *, char **, int) = strtoul;
static void *(*const host_memmove)(void *, const void *, size_t) = memmove;
static int (*const host_strcmp)(const char *, const char *) = strcmp;

#include "tests/lib/host/kernel_names.h"

#include "lib/printf.h"
#include "lib/string.h"

#define SAME(...)                                                              \
	do {                                                                   \
		char ours[256], theirs[256];                                   \
		int n = snprintf(ours, sizeof ours, __VA_ARGS__);              \
		int m = host_snprintf(theirs, sizeof theirs, __VA_ARGS__);     \
		assert_string_equal(ours, theirs);                             \
		assert_int_equal(n, m);                                        \
	} while (0)

TEST(printf_integers)
{
	SAME("%d %d %u", -5, 0, 7u);
	SAME("%5d|%-5d|%05d|%05d", 42, 42, 42, -42);
	SAME("%d %d", (-2147483647 - 1), 2147483647);
	SAME("%ld %lld %zd", -1L, -2LL, (ssize_t)3);
	SAME("%lu %llx %zu", ~0UL, ~0ULL, ~(size_t)0);
	SAME("%x %#x %#x", 48879, 48879, 0);
	SAME("%#010x|%#-10x|%10x", 255, 255, 255);
	SAME("%*d|%-*d|%*d", 6, 1, 6, 2, -6, 3);
}

TEST(printf_text)
{
	SAME("%s|%10s|%-10s|%.2s|%10.2s", "abc", "abc", "abc", "abc", "abc");
	SAME("%c%c|%5c|%-5c|%%", 'a', 'b', 'c', 'd');
	SAME("%p", (void *)0x1234);
	SAME("%.*s", 3, "abcdef");
	SAME("%s", "");
}

TEST(printf_truncates)
{
	char buf[8];

	assert_int_equal(snprintf(buf, sizeof buf, "0123456789"), 10);
	assert_string_equal(buf, "0123456");
	assert_int_equal(snprintf(buf, 1, "abc"), 3);
	assert_string_equal(buf, "");
	assert_int_equal(snprintf(NULL, 0, "%d", 12345), 5);
}

/* Text that is not a conversion is printed as it is.  NULL is not a string. */
TEST(printf_oddities)
{
	char buf[32];
	/* Variables, because the compiler would warn about the literals. */
	const char *volatile bad = "%y %", *volatile null = "%s";

	snprintf(buf, sizeof buf, bad, 1);
	assert_string_equal(buf, "%y %");
	snprintf(buf, sizeof buf, null, (char *)NULL);
	assert_string_equal(buf, "(null)");
}

/* Every start and length around the word size; bytes outside do not change. */
TEST(mem_functions)
{
	unsigned char from[160], to[160], want[160];

	for (unsigned i = 0; i < sizeof from; i++)
		from[i] = (unsigned char)(i * 7 + 1);
	for (unsigned a = 0; a < 9; a++) {
		for (unsigned b = 0; b < 9; b++) {
			for (unsigned n = 0; n < 140; n += n < 20 ? 1 : 13) {
				for (unsigned i = 0; i < sizeof to; i++)
					to[i] = want[i] = (unsigned char)i;
				for (unsigned i = 0; i < n; i++)
					want[b + i] = from[a + i];
				memcpy(to + b, from + a, n);
				assert_memory_equal(to, want, sizeof to);
				host_memmove(want + a, want + b, n);
				memmove(to + a, to + b, n);
				assert_memory_equal(to, want, sizeof to);
				for (unsigned i = 0; i < n; i++)
					want[a + i] = 0xa5;
				memset(to + a, 0x3a5, n);
				assert_memory_equal(to, want, sizeof to);
			}
		}
	}
}

static int
sign(int v)
{
	return (v > 0) - (v < 0);
}

TEST(compare_and_find)
{
	static const char *const s[] = { "", "a", "ab", "abc", "b", "\xff" };
	char buf[4], wide[9];

	for (unsigned i = 0; i < 6; i++) {
		for (unsigned j = 0; j < 6; j++)
			assert_int_equal(sign(strcmp(s[i], s[j])),
			    sign(host_strcmp(s[i], s[j])));
	}
	assert_int_equal(strncmp("abc", "abd", 2), 0);
	assert_true(strncmp("abc", "abd", 3) < 0);
	assert_int_equal(strncmp("a", "a\0b", 3), 0);
	assert_true(memcmp("\x01", "\xff", 1) < 0);
	assert_ptr_equal(strchr(s[3], 'b'), s[3] + 1);
	assert_ptr_equal(strchr(s[3], '\0'), s[3] + 3);
	assert_null(strchr(s[3], 'x'));
	assert_string_equal(strrchr("a/b/c", '/'), "/c");
	assert_null(memchr("abc", 'c', 2));
	assert_int_equal(strnlen("abc", 2), 2);
	assert_int_equal(strlcpy(buf, "abcdef", sizeof buf), 6);
	assert_int_equal(strlcpy_shown(buf, "\x7f\nX", sizeof buf), 3);
	assert_string_equal(buf, "??X");
	/* A cut is marked, and never within a character of UTF-8. */
	assert_int_equal(strlcpy_shown(wide, "abcdefgh", sizeof wide), 8);
	assert_string_equal(wide, "abcdefgh");
	assert_int_equal(strlcpy_shown(wide, "abcd\nfghi", sizeof wide), 9);
	assert_string_equal(wide, "abcd?...");
	assert_int_equal(strlcpy_shown(wide, "abcd\u00e9fgh", sizeof wide), 9);
	assert_string_equal(wide, "abcd...");
	assert_int_equal(strlcpy_shown(wide, "abc\u00e9fghi", sizeof wide), 9);
	assert_string_equal(wide, "abc\u00e9...");
	assert_int_equal(strlcpy(buf, "abcdef", sizeof buf), 6);
	assert_string_equal(buf, "abc");
}

TEST(numbers)
{
	static const char *const s[] = { "0", "42", "0x2a", "052", "-1", "+7",
		" 12z", "0x", "x", "", "18446744073709551615",
		"18446744073709551616", "99999999999999999999999", "zz" };
	static const int bases[] = { 0, 10, 16, 36 };

	for (unsigned i = 0; i < sizeof s / sizeof *s; i++) {
		for (unsigned b = 0; b < 4; b++) {
			char *e1, *e2;
			unsigned long v = strtoul(s[i], &e1, bases[b]);

			assert_int_equal(v, host_strtoul(s[i], &e2, bases[b]));
			assert_ptr_equal(e1, e2);
		}
	}
}

/* The check value in every description of this CRC. */
TEST(crc)
{
	uint32_t half = crc32(0, "12345", 5);

	assert_int_equal(crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32(half, "6789", 4), 0xcbf43926);
	assert_int_equal(crc32(0, "", 0), 0);
}
