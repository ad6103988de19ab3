/*
 * Text that is appended to a buffer.  Included by kern/, whose descriptions of
 * the machine are JSON.
 */
#pragma once

#include <stddef.h>

/* t_len is the length that the whole text needs, without its final NUL. */
struct text {
	char *t_buf;
	size_t t_size;
	size_t t_len;
};

void text_add(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Append a JSON string, or null.  Other than printable ASCII becomes `?`. */
void text_add_string(struct text *t, const char *s);
