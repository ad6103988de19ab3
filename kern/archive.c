#include "kern/archive.h"

#include "events/events.h"
#include "kern/arch.h"
#include "kern/bootinfo.h"
#include "lib/printf.h"
#include "lib/string.h"

/* kern/archive_data.S */
extern const char archive_builtin[], archive_builtin_end[];

#define NARCHIVE 2
static struct {
	const char *name;
	const char *data;
	size_t bytes;
} archives[NARCHIVE] = {
	{ .name = "initrd" },
	{ .name = "built-in archive" },
};

static bool
check(const char *name, const char *data, size_t bytes)
{
	struct cpio c = cpio_open(data, bytes);
	struct cpio_file f;
	const char *why;
	int more;

	while ((more = cpio_next(&c, &f, &why)) > 0)
		;
	if (more < 0)
		printf("barecpc: %s: at byte %zu of %zu it %s\n", name, c.c_at,
		    bytes, why);
	return more == 0;
}

bool
archive_init(const struct bootinfo *bi)
{
	if (bi->bi_archive != 0 && bi->bi_archive_bytes != 0) {
		archives[0].data = pa_to_va(bi->bi_archive);
		archives[0].bytes = bi->bi_archive_bytes;
	}
	/* In the direct map, as the other: pages of both can be mapped. */
	archives[1].data =
	    pa_to_va(bi->bi_kern + ((uintptr_t)archive_builtin - KERN_LINK));
	archives[1].bytes = (size_t)(archive_builtin_end - archive_builtin);
	for (unsigned i = 0; i < NARCHIVE; i++) {
		if (!check(
			archives[i].name, archives[i].data, archives[i].bytes))
			return false;
	}
	return true;
}

/* A position is the archive's number above the offset in it. */
#define POS_SHIFT 56

bool
archive_next(uint64_t *pos, struct cpio_file *f)
{
	while (*pos >> POS_SHIFT < NARCHIVE) {
		unsigned i = (unsigned)(*pos >> POS_SHIFT);
		struct cpio c = cpio_open(archives[i].data, archives[i].bytes);
		const char *why;

		c.c_at = *pos & ((1ULL << POS_SHIFT) - 1);
		if (cpio_next(&c, f, &why) > 0) {
			*pos = (uint64_t)i << POS_SHIFT | c.c_at;
			return true;
		}
		*pos = (uint64_t)(i + 1) << POS_SHIFT;
	}
	return false;
}

bool
path_normalize(const char *path, char *out, size_t size)
{
	size_t n = 0;

	while (*path != '\0') {
		const char *slash = strchr(path, '/');
		size_t len = slash ? (size_t)(slash - path) : strlen(path);

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (n > 0 && out[--n] != '/')
				;
		} else if (len > 0 && !(len == 1 && path[0] == '.')) {
			if (n + len + 2 > size)
				return false;
			if (n > 0)
				out[n++] = '/';
			memcpy(out + n, path, len);
			n += len;
		}
		path += len;
		while (*path == '/')
			path++;
	}
	out[n] = '\0';
	return true;
}

bool
archive_find(const char *path, struct cpio_file *f)
{
	char name[CPIO_NAME_MAX + 1];
	uint64_t pos = 0;

	if (!path_normalize(path, name, sizeof name))
		return false;
	while (archive_next(&pos, f)) {
		if (strcmp(f->f_name, name) == 0)
			return true;
	}
	return false;
}

const char *
archive_nearest(const char *path)
{
	const char *found = NULL;
	unsigned best = ~0U;
	struct cpio_file f;
	uint64_t pos = 0;

	while (archive_next(&pos, &f)) {
		if (events_is_nearer(path, f.f_name, &best))
			found = f.f_name;
	}
	return found;
}
