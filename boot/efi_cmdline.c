#include "boot/efi.h"

#include <stdbool.h>

#include "lib/string.h"

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
 * Load options may be anything, a boot manager's private bytes too: they are
 * ours if they are text up to their end or a NUL.
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

/* A shell puts the name of the file first: not an argument. */
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

/*
 * QEMU's firmware for arm64 adds this word to -append where it has -initrd,
 * behind the arguments of a program if there are any.
 */
static size_t
without_initrd(const char *s, size_t n)
{
	static const char word[] = " initrd=initrd";
	size_t len = sizeof word - 1;

	return n >= len && memcmp(s + n - len, word, len) == 0 ? n - len : n;
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
	n = without_initrd(buf, (size_t)(p - buf));
	skip = image_name_length(buf, n);
	set_cmdline(bi, buf + skip, n - skip);
	return bi->bi_cmdline_bytes > 0;
}

/*
 * Turn the text of barecpc.cfg into a command line, in place: a line that
 * starts with # is a comment, and the end of a line is a space.
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
	char *s;

	if (cmdline_from_options(bi))
		return;
	s = efi_read_file("barecpc.cfg", &n);
	if (s == NULL)
		return;
	if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
		s += 3; /* some editors start a file of UTF-8 so */
		n -= 3;
	}
	set_cmdline(bi, s, join_lines(s, n));
}
