/*
 * Open files and descriptors.
 */
#include "kern/file/file.h"

#include "kern/arch.h"
#include "kern/file/archive.h"
#include "kern/file/epoll.h"
#include "kern/file/pipe.h"
#include "kern/file/timer_file.h"
#include "kern/file/tmp.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/text.h"

/* Linux's flags of open(2).  Only O_DIRECTORY differs between machines. */
#define O_ACCMODE 3
#define O_RDONLY  0
#define O_CREAT   0100
#define O_EXCL    0200
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
	uint32_t rdev; /* Linux's device number, if Linux has the device */
} devices[] = {
	{ "null", FILE_NULL, 0, 0x103 },
	{ "zero", FILE_ZERO, 0, 0x105 },
	{ "console", FILE_CONSOLE, STREAM_STDOUT, 0x501 },
	{ "stdin", FILE_CONSOLE, STREAM_STDOUT, 0x501 },
	{ "stdout", FILE_CONSOLE, STREAM_STDOUT, 0x501 },
	{ "stderr", FILE_CONSOLE, STREAM_STDERR, 0x501 },
	{ "record", FILE_RECORD, STREAM_JSON, 0xf001 },
	{ "machine", FILE_MACHINE, 0, 0xf002 },
	{ "firmware", FILE_FIRMWARE, 0, 0xf005 },
	{ "profile", FILE_PROFILE, 0, 0xf003 },
	{ "cpc_shared", FILE_CPC_SHARED, 0, 0xf004 },
};
#define NDEVICE (sizeof devices / sizeof *devices)

/*
 * Paths, normalized: without a slash at either end; "" is the root.
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

/* Is a directory part of path a file?  Changes path, and restores it. */
static bool
below_file(char *path)
{
	const struct archive_entry *e;
	bool found = false, dir = true;

	for (char *s = strchr(path, '/'); s != NULL && dir && !found;
	     s = strchr(s + 1, '/')) {
		*s = '\0';
		e = archive_find_normal(path);
		dir = dir_is_fixed(path) || (e != NULL && archive_is_dir(e));
		found = !dir && (e != NULL || find_device(path) != NULL ||
				    text_find(path) != NULL);
		*s = '/';
	}
	return found;
}

uint64_t
path_ino(const char *path, size_t len)
{
	return crc32(0, path, len) | 1; /* 0 means "no file" */
}

const char *
device_name(uint64_t n)
{
	return n < NDEVICE ? devices[n].name : NULL;
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

static const struct device_ops *device_ops[FILE_NKIND];

void
file_register(enum file_kind kind, const struct device_ops *ops)
{
	device_ops[kind] = ops;
}

static int
open_device(const struct device *d, unsigned flags, struct file **fp)
{
	struct file *f = file_new(d->kind, flags);
	int err;

	if (f == NULL)
		return ENOMEM;
	f->f_stream = d->stream;
	f->f_name = d->name;
	if (device_ops[d->kind] != NULL &&
	    (err = device_ops[d->kind]->open(f)) != 0) {
		kfree(f);
		return err;
	}
	*fp = f;
	return 0;
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

/* Make the text: once for its length, once for its bytes. */
static int
open_text(const struct text_file *tf, unsigned flags, struct file **fp)
{
	struct text length = { NULL, 0, 0 }, t = { NULL, 0, 0 };
	struct file *f;

	tf->fn(&length, tf->cpu);
	if ((t.t_buf = kmalloc(length.t_len + 1)) == NULL)
		return ENOMEM;
	t.t_size = length.t_len + 1;
	tf->fn(&t, tf->cpu);
	if ((f = file_new(FILE_TEXT, flags)) == NULL) {
		kfree(t.t_buf);
		return ENOMEM;
	}
	f->f_name = tf->path;
	f->f_data = t.t_buf;
	f->f_bytes = t.t_len < t.t_size ? t.t_len : t.t_size - 1;
	*fp = f;
	return 0;
}

static int
open_tmp(const char *path, unsigned flags, uint32_t mode, struct file **fp)
{
	struct tmp_node *tn = tmp_find(path);
	struct file *f;
	int err;

	if (tn != NULL && (flags & O_CREAT) && (flags & O_EXCL))
		return EEXIST;
	if (tn == NULL && !(flags & O_CREAT))
		return ENOENT;
	if ((f = file_new(FILE_TMP, flags)) == NULL)
		return ENOMEM;
	if (tn == NULL && (err = tmp_make(path, false, mode, &tn)) != 0) {
		kfree(f);
		return err;
	}
	tn->tn_refs++;
	f->f_tmp = tn;
	if ((flags & O_TRUNC) && (flags & O_ACCMODE) != O_RDONLY)
		tmp_resize(tn, 0); /* cannot fail */
	*fp = f;
	return 0;
}

static int
open_archive(const struct archive_entry *e, unsigned flags, struct file **fp)
{
	struct file *f = file_new(FILE_ARCHIVE, flags);

	if (f == NULL)
		return ENOMEM;
	f->f_name = e->ae_path;
	f->f_data = e->ae_data;
	f->f_bytes = e->ae_bytes;
	*fp = f;
	return 0;
}

/* A normalized path, looked up. */
struct found {
	bool dir;
	const struct device *device;
	const struct text_file *text;
	const struct archive_entry *entry; /* a file of the archives */
	bool tmp;                          /* in /tmp, there or not */
};

static struct found
find_path(const char *path)
{
	const struct archive_entry *e = archive_find_normal(path);
	const struct tmp_node *tn = tmp_find(path);
	struct found fd = { .device = find_device(path),
		.text = text_find(path) };

	if (strcmp(path, "proc/self/exe") == 0)
		e = proc_self()->p_program;
	fd.dir = dir_is_fixed(path) || (e != NULL && archive_is_dir(e)) ||
	         (tn != NULL && tn->tn_dir);
	fd.tmp = tmp_owns(path) && (tn != NULL || e == NULL);
	fd.entry = e;
	return fd;
}

int
file_open(const char *path, unsigned flags, uint32_t mode, struct file **fp)
{
	char name[CPIO_NAME_MAX + 1];
	bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
	struct found fd;

	if (*path == '\0')
		return ENOENT;
	if (!path_normalize(path, name, sizeof name))
		return ENAMETOOLONG;
	fd = find_path(name);
	if (fd.device != NULL)
		return open_device(fd.device, flags, fp);
	if (fd.dir)
		return writes ? EISDIR : open_dir(name, fp);
	if (fd.tmp)
		return open_tmp(name, flags, mode, fp);
	if (fd.entry == NULL && fd.text == NULL)
		return below_file(name)  ? ENOTDIR
		       : flags & O_CREAT ? EROFS
		                         : ENOENT;
	if (writes)
		return EROFS;
	return fd.text != NULL ? open_text(fd.text, flags, fp)
	                       : open_archive(fd.entry, flags, fp);
}

void
file_release(struct file *f)
{
	if (--f->f_refs > 0)
		return;
	epoll_forget(f);
	if (f->f_kind == FILE_EPOLL)
		epoll_close(f->f_epoll);
	if (f->f_kind == FILE_TIMER)
		timer_file_close(f->f_timer);
	if (f->f_kind == FILE_SIGNAL)
		nsignal_files--;
	if (device_ops[f->f_kind] != NULL)
		device_ops[f->f_kind]->release(f);
	if (f->f_kind == FILE_PIPE)
		pipe_close(f);
	if (f->f_kind == FILE_TMP)
		tmp_release(f->f_tmp);
	if (f->f_kind == FILE_TEXT)
		kfree((void *)(uintptr_t)f->f_data);
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
		int err =
		    file_open(names[fd], fd == 0 ? 0 : 1, 0, &p->p_fd[fd]);

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
	if (p->p_cwd != NULL)
		file_release(p->p_cwd);
	p->p_cwd = NULL;
}

struct file *
file_get(int fd)
{
	return fd >= 0 && fd < NFD ? proc_self()->p_fd[fd] : NULL;
}

int
file_free_fd(int from)
{
	const struct proc *p = proc_self();

	for (int fd = from; fd >= 0 && fd < NFD; fd++) {
		if (p->p_fd[fd] == NULL)
			return fd;
	}
	return -EMFILE;
}

int
file_install(struct file *f, int from)
{
	int fd = file_free_fd(from);

	if (fd >= 0)
		proc_self()->p_fd[fd] = f;
	return fd;
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
		fi->fi_ino = path_ino(f->f_name, strlen(f->f_name));
		fi->fi_mode = S_IFREG | 0555;
		fi->fi_bytes = f->f_bytes;
		break;
	case FILE_DIR:
		fi->fi_ino = path_ino(f->f_dir, strlen(f->f_dir));
		fi->fi_mode = S_IFDIR | (tmp_owns(f->f_dir) ? 0777 : 0555);
		break;
	case FILE_TEXT:
		fi->fi_ino = path_ino(f->f_name, strlen(f->f_name));
		fi->fi_mode = S_IFREG | 0444;
		break;
	case FILE_TMP:
		fi->fi_ino = f->f_tmp->tn_ino;
		fi->fi_mode = S_IFREG | f->f_tmp->tn_mode;
		fi->fi_bytes = f->f_tmp->tn_bytes;
		break;
	case FILE_PIPE:
		fi->fi_ino = (uint32_t)va_to_pa(f->f_pipe);
		fi->fi_mode = S_IFIFO | 0600;
		break;
	case FILE_EPOLL:
	case FILE_EVENT:
	case FILE_TIMER:
	case FILE_SIGNAL:
		fi->fi_ino = 1; /* as Linux, one for all of them */
		fi->fi_mode = 0600;
		break;
	default:
		snprintf(path, sizeof path, "dev/%s", f->f_name);
		fi->fi_ino = path_ino(path, strlen(path));
		fi->fi_mode = S_IFCHR | 0666;
		fi->fi_rdev = find_device(path)->rdev;
		break;
	}
}

int
file_stat_path(const char *path, struct file_info *fi)
{
	char name[CPIO_NAME_MAX + 1];
	const struct device *d;
	struct file *f;
	int err;

	/* The open() of a device may fail. */
	if (path_normalize(path, name, sizeof name) &&
	    (d = find_device(name)) != NULL) {
		file_stat(
		    &(struct file){ .f_kind = d->kind, .f_name = d->name }, fi);
		return 0;
	}
	if ((err = file_open(path, O_RDONLY, 0, &f)) == 0) {
		file_stat(f, fi);
		file_release(f);
	}
	return err;
}
