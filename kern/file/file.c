/* Open files and descriptors. */
#include "kern/file/file.h"

#include "kern/arch.h"
#include "kern/file/archive.h"
#include "kern/file/epoll.h"
#include "kern/file/lookup.h"
#include "kern/file/pipe.h"
#include "kern/file/timer_file.h"
#include "kern/file/tmp.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/text.h"

#define O_KEPT (O_ACCMODE | O_APPEND | O_NONBLOCK | O_PATH)

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

/* Paths, normalized: without a slash at either end; "" is the root. */

const struct device *
device_find(const char *path)
{
	if (strncmp(path, "dev/", 4) != 0)
		return NULL;
	for (unsigned i = 0; i < NDEVICE; i++) {
		if (strcmp(path + 4, devices[i].name) == 0)
			return &devices[i];
	}
	return NULL;
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

/* Opening */

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

/* Describe what is there as an open file, which owns nothing. */
static void
describe(struct file *f, const struct lookup *lk)
{
	const struct archive_entry *e = lk->lk_entry;

	f->f_tmp = lk->lk_node;
	f->f_symlink = lk->lk_target != NULL;
	if (lk->lk_device != NULL) {
		f->f_kind = lk->lk_device->kind;
		f->f_stream = lk->lk_device->stream;
		f->f_name = lk->lk_device->name;
	} else if (lk->lk_dir) {
		f->f_kind = FILE_DIR;
		f->f_dir = lk->lk_path;
	} else if (lk->lk_node != NULL) {
		f->f_kind = FILE_TMP;
	} else if (lk->lk_text != NULL) {
		f->f_kind = FILE_TEXT;
		f->f_name = lk->lk_text->path;
	} else {
		f->f_kind = FILE_ARCHIVE;
		f->f_name = e->ae_path;
		f->f_data = e->ae_data;
		f->f_bytes = e->ae_bytes;
	}
}

/* Make the text: once for its length, once for its bytes. */
static int
make_text(const struct text_file *tf, struct file *f)
{
	struct text length = { NULL, 0, 0 }, t = { NULL, 0, 0 };

	tf->fn(&length, tf->cpu);
	if ((t.t_buf = kmalloc(length.t_len + 1)) == NULL)
		return ENOMEM;
	t.t_size = length.t_len + 1;
	tf->fn(&t, tf->cpu);
	f->f_data = t.t_buf;
	f->f_bytes = t.t_len < t.t_size ? t.t_len : t.t_size - 1;
	return 0;
}

/* Give an open file of describe() what it owns.  Returns 0 or an errno. */
static int
acquire(struct file *f, const struct lookup *lk)
{
	int err = 0;

	if (f->f_kind == FILE_DIR)
		err =
		    (f->f_dir = kmalloc_string(f->f_dir)) != NULL ? 0 : ENOMEM;
	else if ((f->f_flags & O_PATH) == 0 && f->f_kind == FILE_TEXT)
		err = make_text(lk->lk_text, f);
	else if ((f->f_flags & O_PATH) == 0 && device_ops[f->f_kind] != NULL)
		err = device_ops[f->f_kind]->open(f);
	else if ((f->f_flags & O_PATH) == 0 && f->f_kind == FILE_TMP &&
		 (f->f_tmp->tn_mode & S_IFMT) == S_IFIFO)
		return pipe_open_fifo(f, f->f_tmp);
	if (err == 0 && lk->lk_node != NULL)
		lk->lk_node->tn_refs++;
	return err;
}

/* May what is there be opened so?  Returns 0 or an errno. */
static int
check_open(const struct lookup *lk, unsigned flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
	int err = lookup_check(lk);

	if (err != 0)
		return err;
	if ((flags & O_CREAT) && (flags & O_EXCL))
		return EEXIST;
	if (lk->lk_target != NULL && !(flags & O_PATH))
		return ELOOP;
	if ((flags & arch_o_directory) && !lk->lk_dir)
		return ENOTDIR;
	if (lk->lk_dir)
		return writes || (flags & O_CREAT) ? EISDIR : 0;
	return writes && lk->lk_device == NULL && lk->lk_node == NULL ? EROFS
	                                                              : 0;
}

/* Make a missing file.  Returns 0 or an errno. */
static int
make_file(struct lookup *lk, uint32_t mode)
{
	if (lk->lk_parent == NULL)
		return EROFS;
	return tmp_make(
	    lk->lk_parent, lk->lk_name, S_IFREG | mode, &lk->lk_node);
}

int
file_open(
    const struct lookup *at, unsigned flags, uint32_t mode, struct file **fp)
{
	struct lookup lk = *at;
	struct file *f;
	int err;

	if (flags & O_PATH)
		flags &= O_PATH | arch_o_directory;
	if ((flags & O_CREAT) && (flags & arch_o_directory))
		return EINVAL;
	if ((flags & O_CREAT) && lk.lk_last != LAST_NAME)
		return EISDIR;
	if ((f = file_new(FILE_NULL, flags)) == NULL)
		return ENOMEM;
	if ((flags & O_CREAT) && !lk.lk_exists)
		err = make_file(&lk, mode);
	else
		err = check_open(&lk, flags);
	if (err != 0)
		goto free_file;
	describe(f, &lk);
	if ((err = acquire(f, &lk)) != 0)
		goto free_file;
	if (f->f_kind == FILE_TMP && (flags & O_TRUNC) &&
	    (flags & O_ACCMODE) != O_RDONLY)
		tmp_resize(f->f_tmp, 0); /* cannot fail */
	*fp = f;
	return 0;

free_file:
	kfree(f);
	return err;
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
	if (device_ops[f->f_kind] != NULL && (f->f_flags & O_PATH) == 0)
		device_ops[f->f_kind]->release(f);
	if (f->f_kind == FILE_PIPE)
		pipe_close(f);
	if (f->f_kind == FILE_TMP || (f->f_kind == FILE_DIR && f->f_tmp))
		tmp_release(f->f_tmp);
	if (f->f_kind == FILE_TEXT)
		kfree((void *)(uintptr_t)f->f_data);
	if (f->f_kind == FILE_DIR)
		kfree((void *)(uintptr_t)f->f_dir);
	kfree(f);
}

const char *
file_data(const struct file *f)
{
	return f->f_kind == FILE_TMP ? f->f_tmp->tn_data : f->f_data;
}

size_t
file_bytes(const struct file *f)
{
	return f->f_kind == FILE_TMP ? f->f_tmp->tn_bytes : f->f_bytes;
}

/* Descriptors */

int
file_init(struct proc *p)
{
	static const char *const names[] = { "/dev/stdin", "/dev/stdout",
		"/dev/stderr" };

	for (unsigned fd = 0; fd < 3; fd++) {
		struct lookup lk;
		int err = lookup(&lk, "", names[fd], true);

		if (err == 0)
			err = file_open(&lk, fd == 0 ? 0 : 1, 0, &p->p_fd[fd]);
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
file_get_any(int fd)
{
	return fd >= 0 && fd < NFD ? proc_self()->p_fd[fd] : NULL;
}

struct file *
file_get(int fd)
{
	struct file *f = file_get_any(fd);

	return f != NULL && (f->f_flags & O_PATH) == 0 ? f : NULL;
}

int
file_limit(void)
{
	return (int)proc_self()->p_limit[LIMIT_FILES].li_soft;
}

int
file_free_fd(int from)
{
	const struct proc *p = proc_self();

	for (int fd = from, end = file_limit(); fd >= 0 && fd < end; fd++) {
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
	struct file *f = file_get_any(fd);

	if (f == NULL)
		return EBADF;
	proc_self()->p_fd[fd] = NULL;
	proc_self()->p_cloexec &= ~(1ULL << fd);
	file_release(f);
	return 0;
}

/* stat(2) */

/* Fill in the state of a node of /tmp. */
static void
stat_node(const struct tmp_node *tn, struct file_info *fi)
{
	if (tn->tn_ino != 0)
		fi->fi_ino = tn->tn_ino;
	fi->fi_mode = tn->tn_mode;
	fi->fi_nlink = tn->tn_links;
	fi->fi_uid = tn->tn_uid;
	fi->fi_gid = tn->tn_gid;
	fi->fi_bytes = tn->tn_bytes;
	memcpy(fi->fi_time, tn->tn_time, sizeof fi->fi_time);
}

void
file_stat(const struct file *f, struct file_info *fi)
{
	const char *path = f->f_name;
	char buf[32];

	*fi = (struct file_info){ .fi_nlink = 1, .fi_time[1][0] = 1 };
	switch (f->f_kind) {
	case FILE_ARCHIVE:
		fi->fi_mode = f->f_symlink ? S_IFLNK | 0777 : S_IFREG | 0555;
		fi->fi_bytes = f->f_bytes;
		break;
	case FILE_DIR:
		path = f->f_dir;
		fi->fi_mode = S_IFDIR | 0555;
		break;
	case FILE_TEXT:
		fi->fi_mode = S_IFREG | 0444;
		break;
	case FILE_TMP:
		stat_node(f->f_tmp, fi);
		return;
	case FILE_PIPE:
		fi->fi_ino = (uint32_t)va_to_pa(f->f_pipe);
		fi->fi_mode = S_IFIFO | 0600;
		if (pipe_node(f) != NULL)
			stat_node(pipe_node(f), fi);
		return;
	case FILE_EPOLL:
	case FILE_EVENT:
	case FILE_TIMER:
	case FILE_SIGNAL:
	case FILE_PERF:
		fi->fi_ino = 1; /* as Linux, one for all of them */
		fi->fi_mode = 0600;
		return;
	default:
		snprintf(buf, sizeof buf, "dev/%s", f->f_name);
		path = buf;
		fi->fi_mode = S_IFCHR | 0666;
		fi->fi_rdev = device_find(path)->rdev;
		break;
	}
	fi->fi_ino = path_ino(path, strlen(path));
	if (f->f_kind == FILE_DIR && f->f_tmp != NULL)
		stat_node(f->f_tmp, fi);
}

void
file_stat_lookup(const struct lookup *lk, struct file_info *fi)
{
	struct file f = { 0 };

	describe(&f, lk);
	file_stat(&f, fi);
}
