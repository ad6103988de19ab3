/*
 * Case of letters, and text that grows in a buffer.  Included within events/.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline char
event_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static inline char
event_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Text that is cut to the buffer's size; te_len is its whole length. */
struct text {
	char *te_buf;
	size_t te_size, te_len;
};

static inline void
text_char(struct text *te, char c)
{
	if (te->te_len + 1 < te->te_size)
		te->te_buf[te->te_len] = c;
	te->te_len++;
}

static inline void
text_add(struct text *te, const char *s)
{
	while (*s != '\0')
		text_char(te, *s++);
}

static inline size_t
text_end(struct text *te)
{
	if (te->te_size > 0)
		te->te_buf[te->te_len < te->te_size ? te->te_len
						    : te->te_size - 1] = '\0';
	return te->te_len;
}

static inline void
text_number(struct text *te, uint64_t v, unsigned base)
{
	char digits[20];
	unsigned n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v != 0);
	while (n > 0)
		text_char(te, digits[--n]);
}
