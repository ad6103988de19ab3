/*
 * Reads cpio archives.
 *
 * A header is the magic and thirteen numbers of eight hexadecimal digits: ino
 * mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor
 * namesize check.  The name follows.  Header with name, and the data, are each
 * padded to a multiple of 4.  cpio(5), "New ASCII Format".
 */
#include "kern/file/cpio.h"

#include "lib/string.h"

#define HEADER_BYTES   110u
#define MAGIC_BYTES    6u
#define FIELD_INO      0u
#define FIELD_MODE     1u
#define FIELD_NLINK    4u
#define FIELD_FILESIZE 6u
#define FIELD_DEVMAJOR 7u
#define FIELD_DEVMINOR 8u
#define FIELD_NAMESIZE 11u

/*
 * A name may end with many NULs: scripts/host/cpio.py pads names so that the
 * data begins at a page boundary.
 */
#define NAME_PADDING 4096u

static bool
read_field(const char *header, unsigned n, uint32_t *v)
{
	const char *s = header + MAGIC_BYTES + 8 * n;

	*v = 0;
	for (int i = 0; i < 8; i++) {
		char c = s[i];
		uint32_t d;

		if (c >= '0' && c <= '9')
			d = (uint32_t)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			d = (uint32_t)((c | 0x20) - 'a') + 10;
		else
			return false;
		*v = *v << 4 | d;
	}
	return true;
}

static size_t
pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static const char *
bad_magic(const char *p, size_t left)
{
	const unsigned char *b = (const unsigned char *)p;

	if (left >= 2 && b[0] == 0x1f && b[1] == 0x8b)
		return "is compressed with gzip; give it uncompressed";
	if (left >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0)
		return "is compressed with zstd; give it uncompressed";
	if (left >= 6 && memcmp(p,
			     "\xfd"
			     "7zXZ",
			     5) == 0)
		return "is compressed with xz; give it uncompressed";
	if (left < MAGIC_BYTES)
		return "is truncated in a header";
	return "is not a cpio archive of the newc format here";
}

static const char *
strip_root(const char *name)
{
	for (;;) {
		if (name[0] == '/')
			name++;
		else if (name[0] == '.' && name[1] == '/')
			name += 2;
		else
			return name;
	}
}

/* Read the member at c_at.  *size becomes its length with padding. */
static const char *
read_member(const struct cpio *c, struct cpio_file *f, size_t *size)
{
	const char *h = c->c_data + c->c_at;
	size_t left = c->c_len - c->c_at, data_at;
	uint32_t namesize, filesize;

	if (left < MAGIC_BYTES ||
	    (memcmp(h, "070701", 6) != 0 && memcmp(h, "070702", 6) != 0))
		return bad_magic(h, left);
	if (left < HEADER_BYTES)
		return "is truncated in a header";
	if (!read_field(h, FIELD_INO, &f->f_inode.nd_ino) ||
	    !read_field(h, FIELD_MODE, &f->f_mode) ||
	    !read_field(h, FIELD_NLINK, &f->f_nlink) ||
	    !read_field(h, FIELD_FILESIZE, &filesize) ||
	    !read_field(h, FIELD_DEVMAJOR, &f->f_inode.nd_major) ||
	    !read_field(h, FIELD_DEVMINOR, &f->f_inode.nd_minor) ||
	    !read_field(h, FIELD_NAMESIZE, &namesize))
		return "has a header with a bad digit";
	if (namesize == 0 || namesize > CPIO_NAME_MAX + 1 + NAME_PADDING)
		return "has an empty or overlong name";
	data_at = pad4(HEADER_BYTES + namesize);
	if (left < HEADER_BYTES + namesize)
		return "is truncated in a name";
	if (h[HEADER_BYTES + namesize - 1] != '\0')
		return "has a name without its end";
	if (strlen(h + HEADER_BYTES) > CPIO_NAME_MAX)
		return "has an empty or overlong name";
	if (left < data_at || left - data_at < filesize)
		return filesize == 0 ? "is truncated in a name"
		                     : "is truncated in a file";
	f->f_inode.nd_archive = c->c_archive;
	f->f_name = strip_root(h + HEADER_BYTES);
	f->f_data = h + data_at;
	f->f_bytes = filesize;
	/* The last member's padding may be missing. */
	*size = pad4(data_at + filesize);
	if (*size > left)
		*size = left;
	return NULL;
}

int
cpio_next(struct cpio *c, struct cpio_file *f, const char **why)
{
	size_t size;

	for (;;) {
		if (c->c_at >= c->c_len) {
			*why = "is truncated: its end mark is missing";
			return c->c_within ? -1 : 0;
		}
		if ((*why = read_member(c, f, &size)) != NULL)
			return -1;
		c->c_at += size;
		c->c_within = strcmp(f->f_name, "TRAILER!!!") != 0;
		if (c->c_within)
			return 1;
		c->c_archive++;
		/* Zeros may be between archives and after the last one. */
		while (c->c_at < c->c_len && c->c_data[c->c_at] == '\0')
			c->c_at++;
	}
}
