/*
 * The files in /tmp: a list of nodes, each with its content in one run of
 * pages, which doubles when it is full.
 */
#include "kern/file/tmp.h"

#include "kern/arch.h"
#include "kern/file/archive.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/mm/shared_memory.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "kern/sched/timer.h"
#include "lib/printf.h"
#include "lib/string.h"

#define PAGES(bytes) (((bytes) + PAGE_SIZE - 1) >> PAGE_SHIFT)
/* Anyone makes files, and removes own ones. */
#define ROOT                                                                   \
	(struct tmp_node)                                                      \
	{                                                                      \
		.tn_dir = true, .tn_refs = 1, .tn_links = 1,                   \
		.tn_mode = S_IFDIR | 01777                                     \
	}
struct tmp_node tmp_root = ROOT, shm_root = ROOT;
/* All below the root, by tn_ino. */
static struct tmp_node *nodes, **nodes_end = &nodes;
static const struct tmp_node *found_last; /* by tmp_next(); NULL: no more */
static struct tmp_node *by_name[256];
static uint64_t next_ino = 1;

void
tmp_touch(struct tmp_node *tn, bool content)
{
	hrtime_t now = gethrtime();

	if (content)
		tn->tn_program = NULL;
	for (unsigned i = content ? 1 : 2; i < 3; i++) {
		tn->tn_time[i][0] = now / NS_PER_S;
		tn->tn_time[i][1] = now % NS_PER_S;
	}
}

static struct tmp_node **
hash_chain(const struct tmp_node *dir, const char *name)
{
	uint64_t hash = dir->tn_ino >> 32;

	while (*name != '\0')
		hash = hash * 31 + (unsigned char)*name++;
	return &by_name[hash % (sizeof by_name / sizeof *by_name)];
}

static void
name_add(struct tmp_node *tn, struct tmp_node *dir, char *name)
{
	struct tmp_node **chain = hash_chain(dir, name);

	tn->tn_parent = dir;
	tn->tn_name = name;
	tn->tn_same_hash = *chain;
	*chain = tn;
	tmp_touch(dir, true);
	tmp_touch(tn, false);
}

static void
name_remove(struct tmp_node *tn)
{
	struct tmp_node **link = hash_chain(tn->tn_parent, tn->tn_name);

	while (*link != tn)
		link = &(*link)->tn_same_hash;
	*link = tn->tn_same_hash;
	tmp_touch(tn->tn_parent, true);
	tmp_touch(tn, false);
	tn->tn_parent = NULL;
}

struct tmp_node *
tmp_child(const struct tmp_node *dir, const char *name)
{
	struct tmp_node *tn = *hash_chain(dir, name);

	while (tn != NULL &&
	       (tn->tn_parent != dir || strcmp(tn->tn_name, name) != 0))
		tn = tn->tn_same_hash;
	return tn;
}

static const struct tmp_node *
next_child(const struct tmp_node *tn, const struct tmp_node *dir, uint64_t ino)
{
	while (tn != NULL && (tn->tn_parent != dir || tn->tn_ino < ino))
		tn = tn->tn_next;
	return tn;
}

/* A list of a directory continues where it was, not at the first node. */
const struct tmp_node *
tmp_next(const struct tmp_node *dir, uint64_t ino)
{
	const struct tmp_node *tn, *from = nodes;

	if (found_last != NULL && found_last->tn_ino < ino)
		from = found_last->tn_next;
	tn = next_child(from, dir, ino);
	if (tn != NULL)
		found_last = tn;
	return tn;
}

int
tmp_make(struct tmp_node *dir, const char *name, uint32_t mode,
    struct tmp_node **node)
{
	struct tmp_node *tn = kmalloc(sizeof *tn);
	char *copy = kmalloc_string(name);

	if (tn == NULL || copy == NULL) {
		kfree(copy);
		kfree(tn);
		return ENOMEM;
	}
	/* Numbers of the archives' files are below 2^32. */
	tn->tn_ino = next_ino++ << 32;
	name_add(tn, dir, copy);
	tmp_touch(tn, true);
	memcpy(tn->tn_time[0], tn->tn_time[1], sizeof tn->tn_time[0]);
	tn->tn_dir = (mode & S_IFMT) == S_IFDIR;
	tn->tn_mode = mode;
	tn->tn_refs = tn->tn_links = 1;
	if (dir->tn_mode & 02000) { /* set-group-id: all are of its group */
		tn->tn_gid = dir->tn_gid;
		tn->tn_mode |= tn->tn_dir ? 02000 : 0;
	}
	*nodes_end = tn;
	nodes_end = &tn->tn_next;
	*node = tn;
	return 0;
}

int
tmp_link(struct tmp_node *tn, struct tmp_node *dir, const char *name)
{
	struct tmp_node *link;
	int err = tmp_make(dir, name, 0, &link);

	if (err == 0) {
		link->tn_of = tn;
		tn->tn_refs++;
		tn->tn_links++;
		tmp_touch(tn, false);
	}
	return err;
}

static void
free_data(struct tmp_node *tn)
{
	if (tn->tn_memory != NULL)
		shared_release(tn->tn_memory);
	else if (tn->tn_pages > 0)
		page_free_run(tn->tn_data, tn->tn_pages);
	tn->tn_memory = NULL;
	tn->tn_pages = 0;
}

void
tmp_release(struct tmp_node *tn)
{
	if (--tn->tn_refs > 0)
		return;
	if (tn->tn_of != NULL)
		tmp_release(tn->tn_of);
	free_data(tn);
	kfree(tn->tn_name);
	kfree(tn);
}

/* Take the node out of its directory. */
static void
unlink_node(struct tmp_node *tn)
{
	struct tmp_node **link = &nodes;

	while (*link != tn)
		link = &(*link)->tn_next;
	*link = tn->tn_next;
	if (nodes_end == &tn->tn_next)
		nodes_end = link;
	if (found_last == tn)
		found_last = NULL;
	name_remove(tn);
	tmp_content(tn)->tn_links--;
	tmp_touch(tmp_content(tn), false);
	tmp_release(tn);
}

/* May tn be removed, as a directory or as a file?  Returns 0 or an errno. */
static int
check_remove(const struct tmp_node *tn, bool dir)
{
	if (tn->tn_dir != dir)
		return dir ? ENOTDIR : EISDIR;
	return next_child(nodes, tn, 0) != NULL ? ENOTEMPTY : 0;
}

int
tmp_remove(struct tmp_node *tn, bool dir)
{
	int err;

	if (tn->tn_parent == NULL)
		return dir ? EBUSY : EISDIR;
	if ((err = check_remove(tn, dir)) == 0)
		unlink_node(tn);
	return err;
}

static bool
is_within(const struct tmp_node *tn, const struct tmp_node *dir)
{
	while (tn != NULL && tn != dir)
		tn = tn->tn_parent;
	return tn != NULL;
}

int
tmp_rename(struct tmp_node *tn, struct tmp_node *dir, const char *name)
{
	struct tmp_node *taken = tmp_child(dir, name);
	char *copy;
	int err;

	if (taken != NULL && tmp_content(tn) == tmp_content(taken))
		return 0;
	if (is_within(dir, tn))
		return EINVAL;
	if (taken != NULL && (err = check_remove(taken, tn->tn_dir)) != 0)
		return err;
	if ((copy = kmalloc_string(name)) == NULL)
		return ENOMEM;
	if (taken != NULL)
		unlink_node(taken);
	name_remove(tn);
	kfree(tn->tn_name);
	name_add(tn, dir, copy);
	tmp_content(tn)->tn_program = NULL; /* it has the old path */
	return 0;
}

/* Make room for this many bytes.  Returns 0, ENOSPC or ENOMEM. */
static int
make_room(struct tmp_node *tn, uint64_t bytes)
{
	size_t need = PAGES(bytes);
	size_t pages = tn->tn_pages;
	char *data;

	if (bytes > page_ntotal() << PAGE_SHIFT)
		return ENOSPC;
	if (need <= pages)
		return 0;
	if (tn->tn_memory != NULL && tn->tn_memory->sm_refs > 1)
		return ENOSPC;
	while (pages < need)
		pages = pages == 0 ? 1 : 2 * pages;
	if ((data = page_alloc_run(pages)) == NULL &&
	    (data = page_alloc_run(pages = need)) == NULL)
		return ENOMEM;
	entry_budget_add(pages);
	if (tn->tn_bytes > 0)
		memcpy(data, tn->tn_data, tn->tn_bytes);
	memset(data + tn->tn_bytes, 0, pages * PAGE_SIZE - tn->tn_bytes);
	free_data(tn);
	tn->tn_data = data;
	tn->tn_pages = pages;
	return 0;
}

int
tmp_resize(struct tmp_node *tn, uint64_t bytes)
{
	int err = make_room(tn, bytes);

	if (err != 0)
		return err;
	if (bytes == 0 && tn->tn_memory == NULL)
		free_data(tn);
	/* The bytes after the end are 0, so that a longer file has zeros. */
	else if (bytes < tn->tn_bytes)
		memset(tn->tn_data + bytes, 0, tn->tn_bytes - bytes);
	tn->tn_bytes = bytes;
	tmp_touch(tn, true);
	return 0;
}

#define SHARED_ROOM (256UL << 10)

int
tmp_share(struct tmp_node *tn, uint64_t end)
{
	int err = make_room(tn, end > SHARED_ROOM ? end : SHARED_ROOM);

	if (err == 0 && tn->tn_memory == NULL)
		tn->tn_memory = shared_adopt(tn->tn_data, tn->tn_pages);
	tn->tn_program = NULL; /* the mapping may change the content */
	return err != 0 ? err : tn->tn_memory != NULL ? 0 : ENOMEM;
}

intptr_t
tmp_write(struct tmp_node *tn, uint64_t offset, uintptr_t uva, size_t len)
{
	uint64_t end;
	int err;

	if (len == 0)
		return 0;
	if (__builtin_add_overflow(offset, len, &end))
		return -EFBIG;
	if ((err = make_room(tn, end)) != 0)
		return -err;
	entry_budget_add(len >> PAGE_SHIFT);
	err = copyin(tn->tn_data + offset, uva, len);
	if (err != 0) {
		/* A part may have been copied: zeros again after the end. */
		if (end > tn->tn_bytes)
			memset(
			    tn->tn_data + tn->tn_bytes, 0, end - tn->tn_bytes);
		return -err;
	}
	if (end > tn->tn_bytes)
		tn->tn_bytes = end;
	tmp_touch(tn, true);
	return (intptr_t)len;
}

/* Memory of processes, and symbols, refer to them. */
static struct program {
	struct archive_entry entry;
	struct program *next;
	size_t pages;
} * programs;

const struct archive_entry *
tmp_program(struct tmp_node *tn, const char *path, int *err)
{
	size_t len = strlen(path);
	size_t pages = PAGES(sizeof *programs + len + 1 + tn->tn_bytes);
	bool mapped = tn->tn_memory != NULL && tn->tn_memory->sm_refs > 1;
	struct program *g;
	char *name;

	*err = EACCES;
	if ((tn->tn_mode & S_IFMT) != S_IFREG || (tn->tn_mode & 0111) == 0)
		return NULL;
	if (tn->tn_program != NULL && !mapped)
		return tn->tn_program;
	*err = ENOMEM;
	if ((g = page_alloc_run(pages)) == NULL)
		return NULL;
	entry_budget_add(pages);
	name = (char *)(g + 1);
	memcpy(name, path, len + 1);
	memcpy(name + len + 1, tn->tn_data, tn->tn_bytes);
	*g = (struct program){
		{ .ae_path = name,
		    .ae_len = (uint16_t)len,
		    .ae_mode = tn->tn_mode,
		    .ae_name = (uint16_t)(strrchr(path, '/') + 1 - path),
		    .ae_data = name + len + 1,
		    .ae_bytes = tn->tn_bytes },
		programs, pages
	};
	programs = g;
	tn->tn_program = mapped ? NULL : &g->entry;
	return &g->entry;
}

void
tmp_clear(void)
{
	struct program *g;

	while ((g = programs) != NULL) {
		programs = g->next;
		page_free_run(g, g->pages);
	}
	while (nodes != NULL) {
		ASSERT(nodes->tn_refs == nodes->tn_links);
		unlink_node(nodes);
	}
	tmp_root = shm_root = ROOT;
}
