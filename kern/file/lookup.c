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
#include "kern/proc/proc.h"
#include "lib/printf.h"
#include "lib/string.h"

#define LINKS_MAX 40 /* that one path follows, as on Linux */

/* The path that lookup() made.  The kernel lock protects it. */
static char normal[PATH_MAX];

/* Find what is at lk_path; parent: its directory in /tmp, or NULL. */
static void
find(struct lookup *lk, struct tmp_node *parent)
{
	const char *path = lk->lk_path, *name = lk->lk_name;
	const struct archive_entry *e;

	entry_budget_add(1);
	*lk = (struct lookup){ .lk_last = lk->lk_last,
		.lk_path = path,
		.lk_name = name,
		.lk_parent = parent,
		.lk_link = parent != NULL             ? tmp_child(parent, name)
		           : strcmp(path, "tmp") == 0 ? &tmp_root
		           : strcmp(path, "dev/shm") == 0 ? &shm_root
		                                          : NULL };
	lk->lk_node = tmp_content(lk->lk_link);
	if (lk->lk_node != NULL || parent != NULL) {
		lk->lk_dir = lk->lk_node != NULL && lk->lk_node->tn_dir;
		if (lk->lk_node != NULL &&
		    (lk->lk_node->tn_mode & S_IFMT) == S_IFLNK) {
			lk->lk_target = lk->lk_node->tn_data;
			lk->lk_target_len = lk->lk_node->tn_bytes;
		}
	} else if (!(lk->lk_dir = dir_is_fixed(path))) {
		lk->lk_device = device_find(path);
		lk->lk_text = text_find(path);
		e = proc_self() != NULL && strcmp(path, "proc/self/exe") == 0
		        ? proc_self()->p_program
		        : archive_find_normal(path);
		lk->lk_entry = e;
		lk->lk_dir = e != NULL && archive_is_dir(e);
		if (e != NULL && (e->ae_mode & CPIO_S_IFMT) == CPIO_S_IFLNK) {
			lk->lk_target = e->ae_data;
			lk->lk_target_len = e->ae_bytes;
		}
	}
	lk->lk_exists = lk->lk_dir || lk->lk_node != NULL ||
	                lk->lk_device != NULL || lk->lk_text != NULL ||
	                lk->lk_entry != NULL;
}

static void
start(struct lookup *lk)
{
	normal[0] = '\0';
	lk->lk_path = lk->lk_name = normal;
	lk->lk_last = LAST_ROOT;
	find(lk, NULL);
}

/* Go to the directory above.  The one above the root is the root. */
static void
go_up(struct lookup *lk)
{
	char *slash = strrchr(normal, '/');
	struct tmp_node *up =
	    lk->lk_link != NULL ? lk->lk_link->tn_parent : NULL;

	*(slash != NULL ? slash : normal) = '\0';
	slash = strrchr(normal, '/');
	lk->lk_name = slash != NULL ? slash + 1 : normal;
	find(lk, up != NULL ? up->tn_parent : NULL);
}

static bool
is_own_number(const char *name, size_t len)
{
	char pid[12];
	int n = snprintf(pid, sizeof pid, "%d", proc_self()->p_pid);

	return len == (size_t)n && memcmp(name, pid, len) == 0;
}

static int
go_down(struct lookup *lk, const char *name, size_t len)
{
	size_t n = strlen(normal);
	struct tmp_node *parent = lk->lk_node;

	/* The first program's loader is looked up by no process. */
	if (proc_self() != NULL && strcmp(normal, "proc") == 0 &&
	    is_own_number(name, len)) {
		name = "self";
		len = strlen(name);
	}
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

/* Go to where a link's target begins.  *path becomes target and rest. */
static int
go_link(struct lookup *lk, const char **path, unsigned n)
{
	static char paths[2][PATH_MAX];
	char *to = paths[n % 2];
	size_t len = lk->lk_target_len, rest = strlen(*path) + 1;

	if (n == LINKS_MAX)
		return ELOOP;
	if (len == 0 || len + rest > PATH_MAX)
		return len == 0 ? ENOENT : ENAMETOOLONG;
	memcpy(to, lk->lk_target, len);
	memcpy(to + len, *path, rest);
	*path = to;
	if (*to == '/')
		start(lk);
	else
		go_up(lk);
	return 0;
}

/* Follow the names of a path from where lk is. */
static int
follow(struct lookup *lk, const char *path, bool last)
{
	unsigned links = 0;
	bool slashed = false;
	const char *rest;
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
		path += len;
		for (rest = path; *rest == '/'; rest++)
			;
		if (err == 0 && lk->lk_target != NULL && (slash || last)) {
			slashed |= *rest == '\0';
			err = go_link(lk, &path, links++);
		}
		while (*path == '/')
			path++;
	}
	lk->lk_slashed = slashed;
	return err;
}

int
lookup(struct lookup *lk, const char *dir, const char *path, bool last)
{
	int err = 0;

	if (*path == '\0')
		return ENOENT;
	start(lk);
	if (*path != '/')
		err = follow(lk, dir, true);
	return err != 0 ? err : follow(lk, path, last);
}

int
lookup_check(const struct lookup *lk)
{
	if (!lk->lk_exists)
		return ENOENT;
	return lk->lk_last != LAST_NAME && !lk->lk_dir ? ENOTDIR : 0;
}
