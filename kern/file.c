#include "kern/file.h"

#include "kern/arch.h"
#include "kern/archive.h"
#include "kern/errno.h"
#include "kern/kcpc.h"
#include "kern/machine.h"
#include "kern/page.h"
#include "kern/pipe.h"
#include "kern/proc.h"
#include "lib/printf.h"
#include "lib/string.h"

/* Linux's flags of open(2), alike on x86-64 and arm64 but for O_DIRECTORY. */
#define O_ACCMODE 3
#define O_RDONLY  0
#define O_CREAT   0100
#define O_TRUNC   01000
#define O_KEPT    (O_ACCMODE | 02000 | 04000) /* O_APPEND, O_NONBLOCK */

#define S_IFIFO 0010000u
#define S_IFCHR 0020000u
#define S_IFDIR 0040000u
#define S_IFREG 0100000u

static const struct device {
	const char *name;
	enum file_kind kind;
	enum stream stream;
	uint32_t rdev; /* Linux's number where it has the device */
} devices[] = {
	{ "null", FILE_NULL, 0, 0x103 },
	{ "zero", FILE_ZERO, 0, 0x105 },
	{ "console", FILE_CONSOLE, STREAM_STDOUT, 0x501 },
	{ "stdin", FILE_CONSOLE, STREAM_STDOUT, 0x501 },
	{ "stdout", FILE_CONSOLE, STREAM_STDOUT, 0x501 },
	{ "stderr", FILE_CONSOLE, STREAM_STDERR, 0x501 },
	{ "record", FILE_RECORD, STREAM_JSON, 0xf001 },
	{ "machine", FILE_MACHINE, 0, 0xf002 },
	{ "profile", FILE_PROFILE, 0, 0xf003 },
};
#define NDEVICE (sizeof devices / sizeof *devices)

/*
 * Names.  A normalized path has no slash at either end; "" is the root.
 */

static const struct device *
find_device(const char *path)
{
	if (strncmp(path, "dev/", 4) != 0)
		return NULL;
	for (unsigned i = 0; i < NDEVICE; i++) {
		if (strcmp(path + 4, devices[i].name) == 0)
			return &devices[i];
	}
	return NULL;
}

/* The part of name below dir, or NULL. */
static const char *
below(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	if (n == 0)
		return name;
	if (strncmp(name, dir, n) != 0 || name[n] != '/')
		return NULL;
	return name + n + 1;
}

/* Archives may leave out directories: one that has something below exists. */
static bool
is_dir(const char *path)
{
	struct cpio_file f;
	uint64_t pos = 0;

	if (*path == '\0' || strcmp(path, "dev") == 0)
		return true;
	while (archive_next(&pos, &f)) {
		if (strcmp(f.f_name, path) == 0)
			return (f.f_mode & CPIO_S_IFMT) == CPIO_S_IFDIR;
		if (below(path, f.f_name) != NULL)
			return true;
	}
	return false;
}

/* Does path go on behind what is a file?  Cut at its slashes, and restored. */
static bool
below_file(char *path)
{
	struct cpio_file f;
	bool found = false;

	for (char *s = strchr(path, '/'); s != NULL && !found;
	     s = strchr(s + 1, '/')) {
		*s = '\0';
		found = find_device(path) != NULL || archive_find(path, &f);
		if (found)
			found = !is_dir(path);
		*s = '/';
	}
	return found;
}

static uint64_t
path_ino(const char *path)
{
	return crc32(0, path, strlen(path)) | 1; /* 0 means "no file" */
}

/*
 * Directories
 */

static size_t
child_len(const char *name)
{
	const char *slash = strchr(name, '/');

	return slash != NULL ? (size_t)(slash - name) : strlen(name);
}

/* Did the walk meet the entry `child` of dir before `until`? */
static bool
seen_before(const char *dir, const char *child, size_t len, uint64_t until)
{
	struct cpio_file f;
	uint64_t pos = 0;

	while (archive_next(&pos, &f) && pos < until) {
		const char *b = below(dir, f.f_name);

		if (b != NULL && child_len(b) == len &&
		    memcmp(b, child, len) == 0)
			return true;
	}
	return false;
}

static void
fill_entry(struct dir_entry *de, const char *dir, const char *name, size_t len,
    uint32_t mode)
{
	char path[CPIO_NAME_MAX + 1];

	snprintf(path, sizeof path, "%s%s%.*s", dir, *dir ? "/" : "", (int)len,
	    name);
	*de = (struct dir_entry){ name, len, path_ino(path), mode };
}

bool
dir_entry(const char *dir, uint64_t n, struct dir_entry *de)
{
	struct cpio_file f;
	uint64_t pos = 0;

	if (strcmp(dir, "dev") == 0) {
		if (n >= NDEVICE)
			return false;
		fill_entry(
		    de, dir, devices[n].name, strlen(devices[n].name), S_IFCHR);
		return true;
	}
	if (*dir == '\0' && n-- == 0) {
		fill_entry(de, dir, "dev", 3, S_IFDIR);
		return true;
	}
	while (archive_next(&pos, &f)) {
		const char *b = below(dir, f.f_name);
		size_t len;

		if (b == NULL || *b == '\0' || strcmp(b, ".") == 0)
			continue;
		len = child_len(b);
		if (seen_before(dir, b, len, pos) || n-- > 0)
			continue;
		fill_entry(de, dir, b, len,
		    b[len] == '/' ? S_IFDIR : f.f_mode & CPIO_S_IFMT);
		return true;
	}
	return false;
}

/*
 * Opening
 */

struct file *
file_new(enum file_kind kind, unsigned flags)
{
	struct file *f = kmalloc(sizeof *f);

	if (f != NULL) {
		f->f_refs = 1;
		f->f_kind = kind;
		f->f_flags = flags & O_KEPT;
	}
	return f;
}

static int
open_device(const struct device *d, unsigned flags, struct file **fp)
{
	struct file *f = file_new(d->kind, flags);

	if (f == NULL)
		return ENOMEM;
	f->f_stream = d->stream;
	f->f_name = d->name;
	if (d->kind == FILE_MACHINE &&
	    (f->f_data = machine_text(&f->f_bytes)) == NULL)
		goto free_file;
	if (d->kind == FILE_PROFILE &&
	    (f->f_profile = kcpc_profile_new()) == NULL)
		goto free_file;
	*fp = f;
	return 0;

free_file:
	kfree(f);
	return ENOMEM;
}

static int
open_dir(const char *path, struct file **fp)
{
	struct file *f = file_new(FILE_DIR, O_RDONLY);

	if (f == NULL)
		return ENOMEM;
	if ((f->f_dir = kmalloc(strlen(path) + 1)) == NULL) {
		kfree(f);
		return ENOMEM;
	}
	strlcpy(f->f_dir, path, strlen(path) + 1);
	*fp = f;
	return 0;
}

int
file_open(const char *path, unsigned flags, struct file **fp)
{
	char name[CPIO_NAME_MAX + 1];
	const struct device *d;
	bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
	struct cpio_file member;

	if (*path == '\0')
		return ENOENT;
	if (!path_normalize(path, name, sizeof name))
		return ENAMETOOLONG;
	if ((d = find_device(name)) != NULL)
		return open_device(d, flags, fp);
	if (is_dir(name))
		return writes ? EISDIR : open_dir(name, fp);
	if (!archive_find(name, &member))
		return below_file(name)  ? ENOTDIR
		       : flags & O_CREAT ? EROFS
		                         : ENOENT;
	if (writes)
		return EROFS;
	if ((*fp = file_new(FILE_ARCHIVE, flags)) == NULL)
		return ENOMEM;
	(*fp)->f_name = member.f_name;
	(*fp)->f_data = member.f_data;
	(*fp)->f_bytes = member.f_bytes;
	return 0;
}

void
file_release(struct file *f)
{
	if (--f->f_refs > 0)
		return;
	if (f->f_kind == FILE_MACHINE)
		kfree((void *)(uintptr_t)f->f_data);
	if (f->f_kind == FILE_PIPE)
		pipe_close(f);
	if (f->f_kind == FILE_PROFILE)
		kcpc_profile_release(f->f_profile);
	kfree(f->f_dir);
	kfree(f);
}

/*
 * Descriptors
 */

int
file_init(struct proc *p)
{
	static const char *const names[] = { "/dev/stdin", "/dev/stdout",
		"/dev/stderr" };

	for (unsigned fd = 0; fd < 3; fd++) {
		int err = file_open(names[fd], fd == 0 ? 0 : 1, &p->p_fd[fd]);

		if (err != 0) {
			file_close_all(p);
			return err;
		}
	}
	return 0;
}

void
file_close_all(struct proc *p)
{
	for (unsigned fd = 0; fd < NFD; fd++) {
		if (p->p_fd[fd] != NULL)
			file_release(p->p_fd[fd]);
		p->p_fd[fd] = NULL;
	}
}

struct file *
file_get(int fd)
{
	return fd >= 0 && fd < NFD ? proc_self()->p_fd[fd] : NULL;
}

int
file_install(struct file *f, int from)
{
	struct proc *p = proc_self();

	for (int fd = from; fd >= 0 && fd < NFD; fd++) {
		if (p->p_fd[fd] == NULL) {
			p->p_fd[fd] = f;
			return fd;
		}
	}
	return -EMFILE;
}

int
file_close(int fd)
{
	struct file *f = file_get(fd);

	if (f == NULL)
		return EBADF;
	proc_self()->p_fd[fd] = NULL;
	proc_self()->p_cloexec &= ~(1ULL << fd);
	file_release(f);
	return 0;
}

/*
 * stat(2)
 */

void
file_stat(const struct file *f, struct file_info *fi)
{
	char path[32];

	*fi = (struct file_info){ 0 };
	switch (f->f_kind) {
	case FILE_ARCHIVE:
		fi->fi_ino = path_ino(f->f_name);
		fi->fi_mode = S_IFREG | 0555;
		fi->fi_bytes = f->f_bytes;
		break;
	case FILE_DIR:
		fi->fi_ino = path_ino(f->f_dir);
		fi->fi_mode = S_IFDIR | 0555;
		break;
	case FILE_PIPE:
		fi->fi_ino = (uint32_t)va_to_pa(f->f_pipe);
		fi->fi_mode = S_IFIFO | 0600;
		break;
	default:
		snprintf(path, sizeof path, "dev/%s", f->f_name);
		fi->fi_ino = path_ino(path);
		fi->fi_mode = S_IFCHR | 0666;
		fi->fi_rdev = find_device(path)->rdev;
		break;
	}
}

int
file_stat_path(const char *path, struct file_info *fi)
{
	struct file *f;
	int err = file_open(path, O_RDONLY, &f);

	if (err == 0) {
		file_stat(f, fi);
		file_release(f);
	}
	return err;
}
