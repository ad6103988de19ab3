/* String functions of the C library, strtoul() and a CRC. */
#include "lib/string.h"

#include <stdbool.h>

/*
 * Copies and fills go by words if both sides have the same alignment.  That is
 * nearly always so, and halves the cost of a boot.  Files in a cpio archive are
 * aligned to 4 bytes only.  The Makefile keeps gcc from turning these loops
 * into calls of themselves.
 */
typedef uint64_t __attribute__((may_alias)) word;
typedef uint32_t __attribute__((may_alias)) half;
#define WORD        sizeof(word)
#define HALF        sizeof(half)
#define MISALIGN(p) ((uintptr_t)(p) & (WORD - 1))

/* Two words.  arm64 loads and stores them by one instruction. */
typedef unsigned __int128 __attribute__((may_alias, aligned(8))) pair;

void *
memcpy(void *restrict dst, const void *restrict src, size_t n)
{
	char *d = dst;
	const char *s = src;

	for (; n > 0 && MISALIGN(d) != 0; n--)
		*d++ = *s++;
	if (MISALIGN(s) == 0) {
		for (; n >= 8 * WORD; n -= 8 * WORD) {
			pair *dp = (pair *)d;
			const pair *sp = (const pair *)s;

			dp[0] = sp[0];
			dp[1] = sp[1];
			dp[2] = sp[2];
			dp[3] = sp[3];
			d += 8 * WORD;
			s += 8 * WORD;
		}
		for (; n >= WORD; n -= WORD, d += WORD, s += WORD)
			*(word *)d = *(const word *)s;
	} else if (MISALIGN(s) == HALF) {
		for (; n >= WORD; n -= WORD, d += WORD, s += WORD)
			*(word *)d =
			    *(const half *)s | (word)((const half *)s)[1] << 32;
	}
	while (n-- > 0)
		*d++ = *s++;
	return dst;
}

void *
memmove(void *dst, const void *src, size_t n)
{
	char *d = dst;
	const char *s = src;

	if ((uintptr_t)d - (uintptr_t)s >= n) {
		/* A forward copy overwrites only bytes already read. */
		for (size_t i = 0; i < n; i++)
			d[i] = s[i];
	} else {
		while (n-- > 0)
			d[n] = s[n];
	}
	return dst;
}

void *
memset(void *dst, int c, size_t n)
{
	char *d = dst;
	word w = (unsigned char)c * 0x0101010101010101ULL;

	for (; n > 0 && MISALIGN(d) != 0; n--)
		*d++ = (char)c;
	for (; n >= 8 * WORD; n -= 8 * WORD) {
		word *dw = (word *)d;

		dw[0] = w;
		dw[1] = w;
		dw[2] = w;
		dw[3] = w;
		dw[4] = w;
		dw[5] = w;
		dw[6] = w;
		dw[7] = w;
		d += 8 * WORD;
	}
	for (; n >= WORD; n -= WORD) {
		*(word *)d = w;
		d += WORD;
	}
	for (; n > 0; n--)
		*d++ = (char)c;
	return dst;
}

int
memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n > 0; n--, x++, y++) {
		if (*x != *y)
			return *x - *y;
	}
	return 0;
}

void *
memchr(const void *s, int c, size_t n)
{
	const unsigned char *p = s;

	for (; n > 0; n--, p++) {
		if (*p == (unsigned char)c)
			return (void *)(uintptr_t)p;
	}
	return NULL;
}

size_t
strlen(const char *s)
{
	const char *p = s;

	while (*p != '\0')
		p++;
	return (size_t)(p - s);
}

size_t
strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n] != '\0')
		n++;
	return n;
}

int
strcmp(const char *a, const char *b)
{
	for (; *a == *b && *a != '\0'; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

int
strncmp(const char *a, const char *b, size_t n)
{
	for (; n > 0; n--, a++, b++) {
		if (*a != *b)
			return (unsigned char)*a - (unsigned char)*b;
		if (*a == '\0')
			break;
	}
	return 0;
}

char *
strchr(const char *s, int c)
{
	for (; *s != (char)c; s++) {
		if (*s == '\0')
			return NULL;
	}
	return (char *)(uintptr_t)s;
}

char *
strrchr(const char *s, int c)
{
	const char *last = NULL;

	do {
		if (*s == (char)c)
			last = s;
	} while (*s++ != '\0');
	return (char *)(uintptr_t)last;
}

size_t
strlcpy(char *dst, const char *src, size_t size)
{
	size_t n = strlen(src);

	if (size > 0) {
		size_t take = n < size ? n : size - 1;

		memcpy(dst, src, take);
		dst[take] = '\0';
	}
	return n;
}

size_t
strlcpy_shown(char *dst, const char *src, size_t size)
{
	size_t n = strlcpy(dst, src, size), cut = size - 4;

	if (n >= size && size > 4) {
		while (cut > 0 && (dst[cut] & 0xc0) == 0x80)
			cut--; /* not within a character of UTF-8 */
		memcpy(dst + cut, "...", 4);
	}
	for (; size > 0 && *dst != '\0'; dst++) {
		if ((unsigned char)*dst < ' ' || *dst == '\x7f')
			*dst = '?';
	}
	return n;
}

/* The value of a digit in any base up to 36, or 36 for another character. */
static unsigned
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20; /* lower case */
	if (c >= 'a' && c <= 'z')
		return (unsigned)(c - 'a') + 10;
	return 36;
}

static const char *
skip_prefix(const char *s, int *base)
{
	bool hex =
	    s[0] == '0' && (s[1] | 0x20) == 'x' && digit_value(s[2]) < 16;

	if ((*base == 0 || *base == 16) && hex) {
		*base = 16;
		return s + 2;
	}
	if (*base == 0)
		*base = s[0] == '0' ? 8 : 10;
	return s;
}

unsigned long
strtoul(const char *s, char **end, int base)
{
	const char *start = s;
	unsigned long v = 0;
	bool negative, overflow = false, any = false;
	unsigned d;

	while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
		s++;
	negative = *s == '-';
	if (*s == '-' || *s == '+')
		s++;
	s = skip_prefix(s, &base);
	for (; (d = digit_value(*s)) < (unsigned)base; s++) {
		any = true;
		if (__builtin_mul_overflow(v, (unsigned long)base, &v) ||
		    __builtin_add_overflow(v, (unsigned long)d, &v))
			overflow = true;
	}
	if (end != NULL)
		*end = (char *)(uintptr_t)(any ? s : start);
	if (overflow)
		return ~0UL;
	return negative ? -v : v;
}

/*
 * Reflected polynomial 0xedb88320, four bits at a time: a small table is enough
 * for short records.  IEEE 802.3, "Frame check sequence".
 */
uint32_t
crc32(uint32_t crc, const void *p, size_t n)
{
	static const uint32_t nibble[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8,
		0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0,
		0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
	const unsigned char *b = p;

	crc = ~crc;
	for (; n > 0; n--) {
		crc ^= *b++;
		crc = (crc >> 4) ^ nibble[crc & 15];
		crc = (crc >> 4) ^ nibble[crc & 15];
	}
	return ~crc;
}
