/*
 * Follows paths, one name after the other: what stands before a slash must be a
 * directory.  path_resolution(7).
 */
#include "kern/file/lookup.h"

#include "kern/file/archive.h"
#include "kern/file/file.h"
#include "kern/file/tmp.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "lib/string.h"

/* The path that lookup() made.  The kernel lock protects it. */
static char normal[PATH_MAX];

/* Find what is at lk_path; parent: its directory in /tmp, or NULL. */
static void
find(struct lookup *lk, struct tmp_node *parent)
{
	const char *path = lk->lk_path, *name = lk->lk_name;
	const struct archive_entry *e;

	entry_budget_add(1);
	lk->lk_parent = parent;
	lk->lk_node = parent != NULL             ? tmp_child(parent, name)
	              : strcmp(path, "tmp") == 0 ? &tmp_root
	                                         : NULL;
	lk->lk_device = NULL;
	lk->lk_text = NULL;
	lk->lk_entry = NULL;
	if (lk->lk_node != NULL || parent != NULL) {
		lk->lk_dir = lk->lk_node != NULL && lk->lk_node->tn_dir;
	} else if (!(lk->lk_dir = dir_is_fixed(path))) {
		lk->lk_device = device_find(path);
		lk->lk_text = text_find(path);
		e = strcmp(path, "proc/self/exe") == 0
		        ? file_self_program()
		        : archive_find_normal(path);
		lk->lk_entry = e;
		lk->lk_dir = e != NULL && archive_is_dir(e);
	}
	lk->lk_exists = lk->lk_dir || lk->lk_node != NULL ||
	                lk->lk_device != NULL || lk->lk_text != NULL ||
	                lk->lk_entry != NULL;
}

/* Go to the directory above.  The one above the root is the root. */
static void
go_up(struct lookup *lk)
{
	char *slash = strrchr(normal, '/');
	struct tmp_node *up =
	    lk->lk_node != NULL ? lk->lk_node->tn_parent : NULL;

	*(slash != NULL ? slash : normal) = '\0';
	slash = strrchr(normal, '/');
	lk->lk_name = slash != NULL ? slash + 1 : normal;
	find(lk, up != NULL ? up->tn_parent : NULL);
}

static int
go_down(struct lookup *lk, const char *name, size_t len)
{
	size_t n = strlen(normal);
	struct tmp_node *parent = lk->lk_node;

	if (len > NAME_MAX || n + 1 + len >= sizeof normal)
		return ENAMETOOLONG;
	if (n > 0)
		normal[n++] = '/';
	memcpy(normal + n, name, len);
	normal[n + len] = '\0';
	lk->lk_name = normal + n;
	find(lk, parent);
	return 0;
}

/* Follow the names of a path from where lk is. */
static int
follow(struct lookup *lk, const char *path)
{
	int err = 0;

	while (*path == '/')
		path++;
	while (*path != '\0' && err == 0) {
		const char *slash = strchr(path, '/');
		size_t len = slash ? (size_t)(slash - path) : strlen(path);

		if (!lk->lk_exists || !lk->lk_dir)
			return lk->lk_exists ? ENOTDIR : ENOENT;
		if (len == 1 && path[0] == '.') {
			lk->lk_last = LAST_DOT;
		} else if (len == 2 && path[0] == '.' && path[1] == '.') {
			lk->lk_last = LAST_DOTDOT;
			go_up(lk);
		} else {
			lk->lk_last = slash ? LAST_SLASH : LAST_NAME;
			err = go_down(lk, path, len);
		}
		for (path += len; *path == '/';)
			path++;
	}
	return err;
}

int
lookup(struct lookup *lk, const char *dir, const char *path)
{
	int err = 0;

	if (*path == '\0')
		return ENOENT;
	normal[0] = '\0';
	*lk = (struct lookup){ .lk_path = normal, .lk_name = normal };
	find(lk, NULL);
	lk->lk_last = LAST_ROOT;
	if (*path != '/')
		err = follow(lk, dir);
	return err != 0 ? err : follow(lk, path);
}

int
lookup_check(const struct lookup *lk)
{
	if (!lk->lk_exists)
		return ENOENT;
	return lk->lk_last != LAST_NAME && !lk->lk_dir ? ENOTDIR : 0;
}
