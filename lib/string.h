/*
 * The string functions of the C library that the kernel uses.  Included by
 * kern/, arch/ and boot/.  gcc also generates calls of the mem* functions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
/* Copy and truncate, with a final NUL.  Returns strlen(src). */
size_t strlcpy(char *dst, const char *src, size_t size);
/*
 * The same for text from a program that goes to the log.  Each control
 * character becomes a question mark, so that the text cannot fake a log line.
 * Truncated text ends in "...".
 */
size_t strlcpy_shown(char *dst, const char *src, size_t size);
/* As in ISO C, without locale.  Always sets *end. */
unsigned long strtoul(const char *s, char **end, int base);

/* CRC-32 as in zlib and IEEE 802.3; start with crc 0. */
uint32_t crc32(uint32_t crc, const void *p, size_t n);
