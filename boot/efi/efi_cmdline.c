/*
 * Finds the command line for the UEFI application: load options or barecpc.cfg.
 */
#include "boot/efi/efi.h"

#include <stdbool.h>

#include "kern/platform/command/words.h"
#include "lib/string.h"

char efi_initrd[EFI_PATH_MAX];

static char *
put_utf8(char *p, CHAR16 c)
{
	if (c < 0x80) {
		*p++ = (char)c;
	} else if (c < 0x800) {
		*p++ = (char)(0xc0 | c >> 6);
		*p++ = (char)(0x80 | (c & 0x3f));
	} else {
		*p++ = (char)(0xe0 | c >> 12);
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
		*p++ = (char)(0x80 | (c & 0x3f));
	}
	return p;
}

/*
 * Load options may be any bytes, such as a boot manager's private data.  They
 * are used if they are text up to their end or a NUL.
 */
static size_t
text_length(const CHAR16 *opt, size_t max)
{
	for (size_t i = 0; i < max; i++) {
		if (opt[i] == 0)
			return i;
		if (opt[i] < ' ' && opt[i] != '\t' && opt[i] != '\n' &&
		    opt[i] != '\r')
			return 0;
	}
	return max;
}

/* Skip the file's name, which a shell puts first. */
static size_t
image_name_length(const char *s, size_t n)
{
	static const char suffix[] = ".efi";
	size_t len = 0;

	while (len < n && s[len] != ' ' && s[len] != '\t')
		len++;
	if (len < 4)
		return 0;
	for (size_t i = 0; i < 4; i++) {
		if ((s[len - 4 + i] | ('a' ^ 'A')) != (suffix[i] | 0x20))
			return 0;
	}
	return len;
}

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Find the next word at or after *at.  Returns its length, 0 at the end. */
static size_t
next_word(const char *s, size_t n, size_t *at)
{
	size_t end;

	while (*at < n && is_blank(s[*at]))
		++*at;
	for (end = *at; end < n && !is_blank(s[end]); end++)
		;
	return end - *at;
}

#define INITRD       "initrd="
#define INITRD_BYTES (sizeof INITRD - 1)

/* Copy the path of initrd=PATH.  Only the first such word counts. */
static bool
note_initrd(const char *word, size_t len)
{
	if (len <= INITRD_BYTES || memcmp(word, INITRD, INITRD_BYTES) != 0)
		return false;
	len -= INITRD_BYTES;
	if (efi_initrd[0] == '\0' && len < sizeof efi_initrd) {
		memcpy(efi_initrd, word + INITRD_BYTES, len);
		efi_initrd[len] = '\0';
	}
	return true;
}

void
efi_word_value(
    const struct bootinfo *bi, const char *name, char *value, size_t size)
{
	const char *s = (const char *)(uintptr_t)bi->bi_cmdline;
	size_t n = strlen(name), at = 0, len;

	for (; (len = next_word(s, bi->bi_cmdline_bytes, &at)) > 0; at += len) {
		if (len == 2 && memcmp(s + at, "--", 2) == 0)
			return;
		if (len > n && len - n < size && s[at + n] == '=' &&
		    memcmp(s + at, name, n) == 0) {
			memcpy(value, s + at + n + 1, len - n - 1);
			value[len - n - 1] = '\0';
		}
	}
}

/* Find initrd=PATH before `--`, and whether any word there is barecpc's. */
static bool
read_words(const char *s, size_t n)
{
	const char *meant;
	size_t at = 0, len, meant_len;
	bool ours = false;

	for (; (len = next_word(s, n, &at)) > 0; at += len) {
		if (len == 2 && memcmp(s + at, "--", 2) == 0)
			return true;
		if (!note_initrd(s + at, len) &&
		    word_kind(s + at, len, &meant, &meant_len) != WORD_FOREIGN)
			ours = true;
	}
	return ours;
}

/*
 * Boot loaders append initrd=PATH as the last word, even after a program's
 * arguments: rEFInd, and QEMU's firmware for arm64.
 */
static size_t
without_last_initrd(const char *s, size_t n)
{
	size_t from;

	while (n > 0 && is_blank(s[n - 1]))
		n--;
	for (from = n; from > 0 && !is_blank(s[from - 1]); from--)
		;
	if (!note_initrd(s + from, n - from))
		return n;
	while (from > 0 && is_blank(s[from - 1]))
		from--;
	return from;
}

static void
set_cmdline(struct bootinfo *bi, const char *s, size_t n)
{
	while (n > 0 && (*s == ' ' || *s == '\t')) {
		s++;
		n--;
	}
	bi->bi_cmdline = (uintptr_t)s;
	bi->bi_cmdline_bytes = n;
}

/* Put the load options into bi.  Returns true if a word is barecpc's. */
static bool
cmdline_from_options(struct bootinfo *bi)
{
	const CHAR16 *opt = efi_self->LoadOptions;
	size_t n = efi_self->LoadOptionsSize / sizeof *opt, skip;
	char *buf, *p;

	if (opt == NULL || (n = text_length(opt, n)) == 0)
		return false;
	p = buf = efi_alloc(EfiLoaderData, 3 * n, EFI_PAGE, "the load options");
	for (size_t i = 0; i < n; i++)
		p = put_utf8(p, opt[i]);
	n = (size_t)(p - buf);
	skip = image_name_length(buf, n);
	n = without_last_initrd(buf + skip, n - skip);
	set_cmdline(bi, buf + skip, n);
	return read_words(buf + skip, n);
}

/*
 * Turn the text of barecpc.cfg into a command line, in place.  A line that
 * starts with # is a comment.  The end of a line becomes a space.
 */
static size_t
join_lines(char *s, size_t n)
{
	bool line_start = true, comment = false;
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		bool end = s[i] == '\n' || s[i] == '\r';

		if (line_start)
			comment = s[i] == '#';
		line_start = end;
		if (end)
			s[out++] = ' ';
		else if (!comment)
			s[out++] = s[i];
	}
	while (out > 0 && s[out - 1] == ' ')
		out--;
	return out;
}

void
efi_find_cmdline(struct bootinfo *bi)
{
	size_t n;

	if (cmdline_from_options(bi))
		return;
	char *s = efi_read_file("barecpc.cfg", &n);
	if (s == NULL)
		return;
	if (bi->bi_cmdline_bytes > 0)
		efi_say("barecpc.cfg is used: no word of the load options is "
			"barecpc's: %.*s",
		    (int)bi->bi_cmdline_bytes,
		    (const char *)(uintptr_t)bi->bi_cmdline);
	if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
		s += 3; /* a byte order mark in UTF-8 */
		n -= 3;
	}
	set_cmdline(bi, s, join_lines(s, n));
	read_words(
	    (const char *)(uintptr_t)bi->bi_cmdline, bi->bi_cmdline_bytes);
}
