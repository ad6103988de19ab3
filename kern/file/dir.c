/*
 * Directories: what is in them, of the archives, /dev, /tmp, and the texts that
 * the kernel makes.
 */
#include "kern/file/archive.h"
#include "kern/file/file.h"
#include "kern/file/tmp.h"
#include "lib/printf.h"
#include "lib/string.h"

static const struct text_file *texts;
static unsigned ntexts;

void
file_register_texts(const struct text_file *files, unsigned n)
{
	texts = files;
	ntexts = n;
}

const struct text_file *
text_find(const char *path)
{
	for (unsigned i = 0; i < ntexts; i++) {
		if (strcmp(texts[i].path, path) == 0)
			return &texts[i];
	}
	return NULL;
}

/* The part of path below the directory, or NULL.  dir "" is the root. */
static const char *
below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 0)
		return path;
	return strncmp(path, dir, n) == 0 && path[n] == '/' ? path + n + 1
	                                                    : NULL;
}

bool
dir_is_fixed(const char *path)
{
	if (*path == '\0' || strcmp(path, "dev") == 0 ||
	    strcmp(path, "tmp") == 0)
		return true;
	for (unsigned i = 0; i < ntexts; i++) {
		if (below(texts[i].path, path) != NULL)
			return true;
	}
	return false;
}

static size_t
first_name(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash != NULL ? (size_t)(slash - path) : strlen(path);
}

/* One entry of a list; n counts down to it. */
static bool
text_entry(const char *dir, uint64_t *n, struct dir_entry *de)
{
	const char *was = NULL;
	size_t was_len = 0;

	for (unsigned i = 0; i < ntexts; i++) {
		const char *name = below(texts[i].path, dir);
		size_t len = name != NULL ? first_name(name) : 0;

		/* Files of one directory follow each other. */
		if (name == NULL || (was != NULL && len == was_len &&
					strncmp(name, was, len) == 0))
			continue;
		was = name;
		was_len = len;
		if ((*n)-- > 0)
			continue;
		*de = (struct dir_entry){ name, len,
			path_ino(texts[i].path,
			    (size_t)(name - texts[i].path) + len),
			name[len] == '/' ? S_IFDIR : S_IFREG };
		return true;
	}
	return false;
}

static bool
device_entry(uint64_t n, struct dir_entry *de)
{
	const char *name = n == 0 ? "shm" : device_name(n - 1);
	char path[32];
	size_t len;

	if (name == NULL)
		return false;
	len = (size_t)snprintf(path, sizeof path, "dev/%s", name);
	*de = (struct dir_entry){ name, strlen(name), path_ino(path, len),
		n == 0 ? S_IFDIR : S_IFCHR };
	return true;
}

/* The nth entry of those that stay. */
static bool
fixed_entry(const char *dir, uint64_t n, struct dir_entry *de)
{
	static const char *const of_root[] = { "dev", "tmp" };
	const struct archive_entry *e;

	if (strcmp(dir, "dev") == 0)
		return device_entry(n, de);
	if (*dir == '\0') {
		if (n < 2) {
			*de = (struct dir_entry){ of_root[n], 3,
				path_ino(of_root[n], 3), S_IFDIR };
			return true;
		}
		n -= 2;
	}
	if (text_entry(dir, &n, de))
		return true;
	if ((e = archive_child(dir, n)) == NULL)
		return false;
	*de = (struct dir_entry){ e->ae_path + e->ae_name,
		(size_t)e->ae_len - e->ae_name, path_ino(e->ae_path, e->ae_len),
		e->ae_mode & CPIO_S_IFMT };
	return true;
}

/* The numbers of nodes of /tmp are above the positions of all other entries. */
bool
dir_entry(const struct file *dir, uint64_t *pos, struct dir_entry *de)
{
	const struct tmp_node *tn;

	if (*pos <= UINT32_MAX && fixed_entry(dir->f_dir, *pos, de)) {
		(*pos)++;
		return true;
	}
	if (dir->f_tmp == NULL || (tn = tmp_next(dir->f_tmp, *pos)) == NULL)
		return false;
	*de = (struct dir_entry){ tn->tn_name, strlen(tn->tn_name),
		tn->tn_of != NULL ? tn->tn_of->tn_ino : tn->tn_ino,
		tn->tn_of != NULL ? tn->tn_of->tn_mode : tn->tn_mode };
	*pos = tn->tn_ino + 1;
	return true;
}
