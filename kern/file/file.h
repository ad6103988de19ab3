/* Open files.  Included by kern/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/platform/console.h"

struct epoll; /* kern/file/epoll.c */
struct epoll_entry;
struct archive_entry;
struct device; /* kern/file/file.c */
struct lookup;
struct kcpc_profile;
struct perf_event; /* kern/sys/linux/perf_event.c */
struct cpu;
struct pipe; /* kern/file/pipe.c */
struct text;
struct timer_file; /* kern/file/timer_file.c */
struct tmp_node;   /* kern/file/tmp.c */
struct proc;

#define NFD 64

enum file_kind {
	FILE_ARCHIVE,  /* a regular file of the archives: read only */
	FILE_DIR,      /* a directory: f_dir */
	FILE_TMP,      /* a file in /tmp: f_tmp */
	FILE_TEXT,     /* a text that the kernel made at open(2); owns f_data */
	FILE_MACHINE,  /* describes the machine; the file owns f_data */
	FILE_FIRMWARE, /* firmware's tables; the file owns f_data */
	FILE_NULL,
	FILE_ZERO,
	FILE_CPC_SHARED,             /* f_shared: a CPU's counters */
	FILE_STREAMS,                /* those from here on have no offset */
	FILE_CONSOLE = FILE_STREAMS, /* writes to f_stream; reads: the end */
	FILE_RECORD,  /* each write is one line of the record stream */
	FILE_PIPE,    /* one end of f_pipe */
	FILE_PROFILE, /* samples of f_profile */
	FILE_EPOLL,   /* f_epoll */
	FILE_EVENT,   /* eventfd(2): f_count */
	FILE_TIMER,   /* timerfd_create(2): f_timer */
	FILE_SIGNAL,  /* signalfd4(2): f_signals */
	FILE_PERF,    /* perf_event_open(2): f_perf */
	FILE_NKIND,
};

/* An open file.  Descriptors made by dup() share it and its offset. */
struct file {
	unsigned f_refs;
	enum file_kind f_kind;
	/* open(2)'s O_ACCMODE, O_APPEND, O_NONBLOCK, O_PATH */
	unsigned f_flags;
	bool f_symlink; /* a symbolic link itself, by O_PATH */
	enum stream f_stream;
	const char *f_name; /* FILE_ARCHIVE: its path; of a device: its name */
	/* FILE_DIR: its normalized path, by kmalloc(); f_tmp if in /tmp */
	const char *f_dir, *f_data;
	size_t f_bytes;
	/* bytes; FILE_DIR: dir_entry()'s position + 2; FILE_PIPE: add_end() */
	uint64_t f_offset;
	uint64_t f_changes; /* epoll.c: they may have made it ready */
	struct epoll_entry *f_watches; /* its entries in sets of epoll(7) */
	union {
		struct pipe *f_pipe;
		struct kcpc_profile *f_profile;
		struct cpu *f_shared;
		struct tmp_node *f_tmp;
		struct epoll *f_epoll;
		struct timer_file *f_timer;
		struct perf_event *f_perf;
		uint64_t f_signals; /* a set of signals */
		struct {
			uint64_t f_count;
			bool f_by_one; /* EFD_SEMAPHORE */
		};
	};
};

/*
 * The operations of a kind of device.  open() returns 0 or an errno.
 * release() runs when the last descriptor is closed.
 */
struct device_ops {
	int (*open)(struct file *f);
	void (*release)(struct file *f);
};
/* Set the operations of a kind of device.  Once for each kind, at boot. */
void file_register(enum file_kind kind, const struct device_ops *ops);

/*
 * Files such as /proc/meminfo: fn() makes the text at open(2); some are of one
 * CPU.  Paths are normalized.  A directory's files follow each other.  The
 * table stays.  Once, at boot.
 */
struct text_file {
	const char *path;
	void (*fn)(struct text *t, unsigned cpu);
	unsigned cpu;
};
void file_register_texts(const struct text_file *files, unsigned n);

/* Linux's types of files, in fi_mode, de_mode and tn_mode. */
#define S_IFMT  0170000u
#define S_IFIFO 0010000u
#define S_IFCHR 0020000u
#define S_IFDIR 0040000u
#define S_IFREG 0100000u
#define S_IFLNK 0120000u

/* The results of stat(2). */
struct file_info {
	uint64_t fi_ino;
	uint32_t fi_mode, fi_nlink, fi_uid, fi_gid;
	uint64_t fi_bytes, fi_rdev;
	/* Seconds and ns: of access, change of content, any change. */
	int64_t fi_time[3][2];
};

/* Open descriptors 0, 1 and 2 of a new process.  Returns 0 or ENOMEM. */
int file_init(struct proc *p);
void file_close_all(struct proc *p);
/* The open file of descriptor fd, or NULL. */
struct file *file_get_any(int fd);
/* The same, but not one that O_PATH opened: most calls refuse that. */
struct file *file_get(int fd);
/* The first descriptor that setrlimit(2) forbids. */
int file_limit(void);
/* The lowest free descriptor from `from` on, or -EMFILE. */
int file_free_fd(int from);
/* Give f that descriptor.  Returns it, or -EMFILE. */
int file_install(struct file *f, int from);
int file_close(int fd);

/*
 * Linux's flags of open(2) (include/uapi/asm-generic/fcntl.h).  One has
 * another number on each machine: arch_o_directory.
 */
#define O_ACCMODE  3
#define O_RDONLY   0
#define O_WRONLY   1
#define O_RDWR     2
#define O_CREAT    0100
#define O_EXCL     0200
#define O_TRUNC    01000
#define O_APPEND   02000
#define O_NONBLOCK 04000
#define O_ASYNC    020000
#define O_CLOEXEC  02000000
#define O_PATH     010000000

static inline bool
can_read(const struct file *f)
{
	return (f->f_flags & O_ACCMODE) != O_WRONLY;
}

static inline bool
can_write(const struct file *f)
{
	return (f->f_flags & O_ACCMODE) != O_RDONLY;
}

/*
 * Open what a path leads to; flags: Linux's O_*; mode: permissions of a new
 * file.  Returns 0 with one reference to *f, or a positive errno.
 */
int file_open(
    const struct lookup *lk, unsigned flags, uint32_t mode, struct file **f);
void file_release(struct file *f);
/* A file of this kind with one reference, or NULL if memory runs out. */
struct file *file_new(enum file_kind kind, unsigned flags);
/* The content of a file that is in memory, and its length; else NULL and 0. */
const char *file_data(const struct file *f);
size_t file_bytes(const struct file *f);
/* Get the stat(2) results of what is there. */
void file_stat_lookup(const struct lookup *lk, struct file_info *fi);
void file_stat(const struct file *f, struct file_info *fi);

/* The number of the file or directory at a normalized path, for stat(2). */
uint64_t path_ino(const char *path, size_t len);
/* The device at a normalized path, or NULL. */
const struct device *device_find(const char *path);

/*
 * dir.c.  Is the normalized path a directory that is always there: the root,
 * /dev, /tmp, or one of the kernel's texts?
 */
bool dir_is_fixed(const char *path);
/* The kernel's text at a normalized path, or NULL. */
const struct text_file *text_find(const char *path);
/* The nth name in /dev, or NULL. */
const char *device_name(uint64_t n);
/*
 * Get the first entry of a directory at *pos or after it, and make *pos the
 * position after the entry.  An entry keeps its position while others come and
 * go.  Its name has no NUL at its end and is there until the next change of
 * /tmp.  Returns false past the end.
 */
struct dir_entry {
	const char *de_name;
	size_t de_len;
	uint64_t de_ino;
	uint32_t de_mode;
};
bool dir_entry(const struct file *dir, uint64_t *pos, struct dir_entry *de);
