/* Index of the files in the archives, and lookup by path. */
#include "kern/file/archive.h"

#include "events/nearer.h"
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"
#include "lib/string.h"

/* kern/file/archive_data.S */
extern const char archive_builtin[], archive_builtin_end[];

#define NARCHIVE 2
static struct {
	const char *name, *data;
	size_t bytes;
} archives[NARCHIVE] = {
	{ .name = "initrd" },
	{ .name = "built-in archive" },
};

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

/*
 * The index: every member and every directory above it, sorted by directory
 * and then by name.  A lookup is a binary search, and the entries of a
 * directory are adjacent.
 */
static struct {
	struct archive_entry *entry;
	size_t used, room, pages;
} archive_index;

/* Compare two strings without NUL, in the order of memcmp(). */
static int
order_slices(const char *a, size_t alen, const char *b, size_t blen)
{
	int order = memcmp(a, b, alen < blen ? alen : blen);

	if (order != 0)
		return order;
	return alen < blen ? -1 : alen > blen;
}

static size_t
dir_len(const struct archive_entry *e)
{
	return e->ae_name > 0 ? e->ae_name - 1U : 0;
}

/* Compare by directory, then by name. */
static int
order_paths(const struct archive_entry *a, const struct archive_entry *b)
{
	int order =
	    order_slices(a->ae_path, dir_len(a), b->ae_path, dir_len(b));

	if (order != 0)
		return order;
	return order_slices(a->ae_path + a->ae_name,
	    (size_t)a->ae_len - a->ae_name, b->ae_path + b->ae_name,
	    (size_t)b->ae_len - b->ae_name);
}

/* The order of the index.  Equal paths keep their order in the archives. */
static bool
is_before(const struct archive_entry *a, const struct archive_entry *b)
{
	int order = order_paths(a, b);

	return order != 0 ? order < 0 : a->ae_order < b->ae_order;
}

static struct archive_entry
entry_of(const char *path, size_t len)
{
	size_t name = len;

	while (name > 0 && path[name - 1] != '/')
		name--;
	return (struct archive_entry){ .ae_path = path,
		.ae_len = (uint16_t)len,
		.ae_name = (uint16_t)name };
}

/* Double the room of the index. */
static bool
index_grow(void)
{
	size_t pages = archive_index.pages == 0 ? 1 : 2 * archive_index.pages;
	struct archive_entry *more = page_alloc_run(pages);

	if (more == NULL)
		return false;
	if (archive_index.pages > 0) {
		memcpy(more, archive_index.entry,
		    archive_index.used * sizeof *more);
		page_free_run(archive_index.entry, archive_index.pages);
	}
	archive_index.entry = more;
	archive_index.pages = pages;
	archive_index.room = pages * PAGE_SIZE / sizeof *more;
	return true;
}

static bool
index_add(const struct archive_entry *e)
{
	/* Skip "dev": file.c has a directory of that name. */
	if (e->ae_len == 3 && memcmp(e->ae_path, "dev", 3) == 0)
		return true;
	if (archive_index.used == archive_index.room && !index_grow())
		return false;
	archive_index.entry[archive_index.used] = *e;
	archive_index.entry[archive_index.used].ae_order =
	    (uint32_t)archive_index.used;
	archive_index.used++;
	return true;
}

/*
 * Add the directories above a member, which archives may leave out.  Skip the
 * ones that the member before it also has.
 */
static bool
index_add_parents(const char *path, const char *before)
{
	size_t same = 0;

	while (path[same] != '\0' && path[same] == before[same])
		same++;
	for (const char *s = strchr(path, '/'); s != NULL;
	     s = strchr(s + 1, '/')) {
		size_t len = (size_t)(s - path);
		struct archive_entry dir = entry_of(path, len);

		dir.ae_mode = CPIO_S_IFDIR;
		if (len < same || (len == same && before[len] == '\0'))
			continue;
		if (!index_add(&dir))
			return false;
	}
	return true;
}

/* A member's normalized name, or NULL if memory runs out. */
static const char *
normal_name(const char *name)
{
	char buf[CPIO_NAME_MAX + 2];

	path_normalize(name, buf, sizeof buf);
	return strcmp(name, buf) == 0 ? name : kmalloc_string(buf);
}

typedef bool entry_before(
    const struct archive_entry *a, const struct archive_entry *b);

/* Restore the heap of n entries, whose last in order is the root, from i on. */
static void
heap_sink(struct archive_entry *e, size_t i, size_t n, entry_before *before)
{
	struct archive_entry sinks = e[i];
	size_t child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && before(&e[child], &e[child + 1]))
			child++;
		if (!before(&sinks, &e[child]))
			break;
		e[i] = e[child];
		i = child;
	}
	e[i] = sinks;
}

/* Heapsort: its time does not depend on the archive's order. */
static void
index_sort(struct archive_entry *e, size_t n, entry_before *before)
{
	for (size_t i = n / 2; i > 0; i--)
		heap_sink(e, i - 1, n, before);
	while (n > 1) {
		struct archive_entry last = e[0];

		e[0] = e[--n];
		e[n] = last;
		heap_sink(e, 0, n, before);
	}
}

/* Compare by file.  A file's link with data comes last. */
static bool
is_link_before(const struct archive_entry *a, const struct archive_entry *b)
{
	int order = memcmp(&a->ae_inode, &b->ae_inode, sizeof a->ae_inode);

	return order != 0 ? order < 0 : a->ae_bytes < b->ae_bytes;
}

/* Give hard links their file's data, which cpio(1) writes with the last one. */
static void
index_join_links(struct archive_entry *e, size_t n)
{
	index_sort(e, n, is_link_before);
	for (size_t i = n; i-- > 1;) {
		struct archive_entry *link = &e[i - 1];

		if (link->ae_nlink > 1 && link->ae_bytes == 0 &&
		    link->ae_mode == e[i].ae_mode &&
		    memcmp(&link->ae_inode, &e[i].ae_inode,
			sizeof link->ae_inode) == 0) {
			link->ae_data = e[i].ae_data;
			link->ae_bytes = e[i].ae_bytes;
		}
	}
}

static bool
index_member(const struct cpio_file *f, const char **before)
{
	const char *path = normal_name(f->f_name);
	struct archive_entry e;

	if (path == NULL)
		return false;
	if (*path == '\0') /* the root itself */
		return true;
	e = entry_of(path, strlen(path));
	e.ae_mode = f->f_mode;
	e.ae_nlink = f->f_nlink;
	e.ae_inode = f->f_inode;
	e.ae_data = f->f_data;
	e.ae_bytes = f->f_bytes;
	if (!index_add_parents(path, *before) || !index_add(&e))
		return false;
	*before = path;
	return true;
}

static bool
index_archive(const char *name, const char *data, size_t bytes)
{
	struct cpio c = cpio_open(data, bytes);
	const char *why, *before = "";
	size_t first = archive_index.used;
	struct cpio_file f;
	bool links = false;
	int more;

	while ((more = cpio_next(&c, &f, &why)) > 0) {
		links = links || (f.f_nlink > 1 && f.f_bytes == 0);
		if (!index_member(&f, &before)) {
			printf("barecpc: %s: no memory for an index of its "
			       "files: give the machine more\n",
			    name);
			return false;
		}
	}
	if (more < 0)
		printf("barecpc: %s: at byte %zu of %zu it %s\n", name, c.c_at,
		    bytes, why);
	else if (links)
		index_join_links(
		    archive_index.entry + first, archive_index.used - first);
	return more == 0;
}

/* Keep only the first entry of each path. */
static void
index_unique(void)
{
	struct archive_entry *e = archive_index.entry;
	size_t kept = 0;

	for (size_t i = 0; i < archive_index.used; i++) {
		if (kept == 0 || order_paths(&e[kept - 1], &e[i]) != 0)
			e[kept++] = e[i];
	}
	archive_index.used = kept;
}

bool
archive_init(const struct bootinfo *bi)
{
	if (bi->bi_archive != 0 && bi->bi_archive_bytes != 0) {
		if (!bootinfo_is_ram(
			bi, bi->bi_archive, bi->bi_archive_bytes)) {
			printf("barecpc: %s: %#lx bytes at %#lx are not in "
			       "memory that the kernel may use: have the boot "
			       "loader put it elsewhere\n",
			    archives[0].name,
			    (unsigned long)bi->bi_archive_bytes,
			    (unsigned long)bi->bi_archive);
			return false;
		}
		archives[0].data = pa_to_va(bi->bi_archive);
		archives[0].bytes = bi->bi_archive_bytes;
	}
	/* Use the direct map, so that programs can map the pages. */
	archives[1].data =
	    pa_to_va(bi->bi_kern + ((uintptr_t)archive_builtin - KERN_LINK));
	archives[1].bytes = (size_t)(archive_builtin_end - archive_builtin);
	for (unsigned i = 0; i < NARCHIVE; i++) {
		if (!index_archive(
			archives[i].name, archives[i].data, archives[i].bytes))
			return false;
	}
	index_sort(archive_index.entry, archive_index.used, is_before);
	index_unique();
	return true;
}

const struct archive_entry *
archive_all(size_t *n)
{
	*n = archive_index.used;
	return archive_index.entry;
}

/* The position of the first entry that is not before key. */
static size_t
index_search(const struct archive_entry *key)
{
	size_t low = 0, high = archive_index.used;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (order_paths(&archive_index.entry[mid], key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct archive_entry *
archive_find_normal(const char *path)
{
	struct archive_entry key = entry_of(path, strlen(path));
	size_t i = index_search(&key);

	if (i == archive_index.used ||
	    order_paths(&archive_index.entry[i], &key) != 0)
		return NULL;
	return &archive_index.entry[i];
}

const struct archive_entry *
archive_find(const char *path)
{
	char name[CPIO_NAME_MAX + 1];

	return path_normalize(path, name, sizeof name)
	           ? archive_find_normal(name)
	           : NULL;
}

const struct archive_entry *
archive_child(const char *dir, uint64_t n)
{
	size_t len = strlen(dir), first;
	/* An empty name: it sorts before all entries of the directory. */
	struct archive_entry key = { .ae_path = dir,
		.ae_len = (uint16_t)len,
		.ae_name = (uint16_t)(len > 0 ? len + 1 : 0) };
	const struct archive_entry *e;

	key.ae_len = key.ae_name;
	first = index_search(&key);
	if (n >= archive_index.used - first)
		return NULL;
	e = &archive_index.entry[first + n];
	return order_slices(e->ae_path, dir_len(e), dir, len) == 0 ? e : NULL;
}

const char *
archive_nearest(const char *path)
{
	const char *found = NULL;
	unsigned best = ~0U;

	for (size_t i = 0; i < archive_index.used; i++) {
		const struct archive_entry *e = &archive_index.entry[i];

		if (!archive_is_dir(e) &&
		    events_is_nearer(path, e->ae_path, &best))
			found = e->ae_path;
	}
	return found;
}
