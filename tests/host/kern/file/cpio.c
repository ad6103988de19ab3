/* The archive parser reads what cpio(1) reads, and never beyond the archive. */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/file/cpio.h"

struct build {
	char data[8192];
	size_t len;
};

static void
pad_name(struct build *b)
{
	while (b->len % 4 != 0)
		b->data[b->len++] = '\0';
}

static void
add_sized(struct build *b, const char *name, size_t namesize, const char *data,
    size_t n, unsigned filesize)
{
	b->len += (size_t)sprintf(b->data + b->len,
	    "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08zx%08x", 1,
	    0100755, 0, 0, 1, 0, filesize, 0, 0, 0, 0, namesize, 0);
	memcpy(b->data + b->len, name, strlen(name) + 1);
	b->len += strlen(name) + 1;
	pad_name(b);
	memcpy(b->data + b->len, data, n);
	b->len += n;
	pad_name(b);
}

static void
add_file(struct build *b, const char *name, const char *data)
{
	add_sized(b, name, strlen(name) + 1, data, strlen(data),
	    (unsigned)strlen(data));
}

static void
add_trailer(struct build *b)
{
	add_file(b, "TRAILER!!!", "");
}

/* Write names and sizes to out.  Returns NULL, or what is wrong. */
static const char *
parse_archive(const struct build *b, char *out)
{
	char *copy = exact_copy(b->data, b->len);
	struct cpio c = cpio_open(copy, b->len);
	struct cpio_file f;
	const char *why = NULL;
	int more;

	*out = '\0';
	while ((more = cpio_next(&c, &f, &why)) > 0)
		out += sprintf(out, "%s:%zu ", f.f_name, f.f_bytes);
	free(copy);
	return more < 0 ? why : NULL;
}

static void
expect_bad(const struct build *b, const char *want)
{
	char out[8192];
	const char *why = parse_archive(b, out);

	assert_non_null(why);
	assert_string_equal(why, want);
}

TEST(good_archive)
{
	struct build b = { .len = 0 };
	char out[256];

	add_file(&b, "a", "hello");
	add_file(&b, "./dir/b", "");
	add_file(&b, "/c", "123");
	add_trailer(&b);
	assert_null(parse_archive(&b, out));
	assert_string_equal(out, "a:5 dir/b:0 c:3 ");
}

TEST(concatenated)
{
	struct build b = { .len = 0 };
	char out[256];

	add_file(&b, "a", "1");
	add_trailer(&b);
	/* zeros in between, like the padding of cpio(1) */
	b.len += 512 - b.len % 512;
	add_file(&b, "b", "22");
	add_trailer(&b);
	b.len += 100;
	assert_null(parse_archive(&b, out));
	assert_string_equal(out, "a:1 b:2 ");
}

TEST(empty_archive)
{
	struct build b = { .len = 0 };
	char out[16];

	assert_null(parse_archive(&b, out));
	add_trailer(&b);
	assert_null(parse_archive(&b, out));
	assert_string_equal(out, "");
}

/* An archive that is cut before its end mark is refused. */
TEST(truncated)
{
	struct build whole = { .len = 0 }, b;
	char out[256];

	add_file(&whole, "a", "hello");
	add_file(&whole, "b", "world");
	size_t end = whole.len;
	add_trailer(&whole);
	b = whole;
	for (b.len = 1; b.len < whole.len - 3; b.len++) {
		const char *why = parse_archive(&b, out);

		assert_non_null(why);
		assert_non_null(strstr(why, "truncated"));
	}
	b.len = end;
	expect_bad(&b, "is truncated: its end mark is missing");
	b.len = 50;
	expect_bad(&b, "is truncated in a header");
}

TEST(garbage)
{
	struct build b = { .len = 4096 };

	memset(b.data, 0xc3, b.len);
	expect_bad(&b, "is not a cpio archive of the newc format here");
	memcpy(b.data, "\x1f\x8b\x08", 3);
	expect_bad(&b, "is compressed with gzip; give it uncompressed");
	memcpy(b.data, "070707", 6); /* the old portable format */
	expect_bad(&b, "is not a cpio archive of the newc format here");
}

TEST(bad_headers)
{
	struct build b = { .len = 0 };

	add_file(&b, "a", "x");
	b.data[6 + 8 * 6] = 'g';
	expect_bad(&b, "has a header with a bad digit");

	b = (struct build){ .len = 0 };
	add_sized(&b, "a", 0, "", 0, 0);
	expect_bad(&b, "has an empty or overlong name");

	b = (struct build){ .len = 0 };
	add_sized(&b, "a", CPIO_NAME_MAX + 4096 + 2, "", 0, 0);
	expect_bad(&b, "has an empty or overlong name");

	b = (struct build){ .len = 0 };
	add_sized(&b, "abc", 2, "", 0, 0);
	expect_bad(&b, "has a name without its end");

	b = (struct build){ .len = 0 };
	add_sized(&b, "a", 900, "", 0, 0);
	expect_bad(&b, "is truncated in a name");
}

/* NULs after a name move the data to a page boundary. */
TEST(padded_names)
{
	struct build b = { .len = 0 };
	char out[64], header[120], name[4096] = "events/intel";
	size_t namesize = 4096 - 110;

	snprintf(header, sizeof header,
	    "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08zx%08x", 1,
	    0100644, 0, 0, 1, 0, 4, 0, 0, 0, 0, namesize, 0);
	memcpy(b.data, header, 110);
	memcpy(b.data + 110, name, namesize);
	memcpy(b.data + 4096, "data", 4);
	b.len = 4100;
	add_trailer(&b);
	assert_null(parse_archive(&b, out));
	assert_string_equal(out, "events/intel:4 ");
	/* The name without them has the usual limit. */
	memset(b.data + 110, 'x', CPIO_NAME_MAX + 1);
	expect_bad(&b, "has an empty or overlong name");
}

TEST(overflowing_sizes)
{
	static const unsigned sizes[] = { 6, 0x7fffffff, 0x80000000, 0xfffffffc,
		0xffffffff };

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct build b = { .len = 0 };

		add_sized(&b, "a", 2, "hello", 4, sizes[i]);
		expect_bad(&b, "is truncated in a file");
	}
}
