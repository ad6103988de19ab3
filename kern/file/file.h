/*
 * Open files.  Included by kern/.
 */
#ifndef KERN_FILE_FILE_H
#define KERN_FILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/platform/console.h"

struct kcpc_profile;
struct pipe; /* kern/file/pipe.c */
struct proc;

#define NFD 64

enum file_kind {
	FILE_ARCHIVE, /* a regular file of the archives: read only */
	FILE_DIR,     /* a directory of the archives, or / or /dev */
	FILE_CONSOLE, /* f_stream; reads find the end */
	FILE_RECORD,  /* each write is one line of the record stream */
	FILE_MACHINE, /* the text that describes the machine; f_data is ours */
	FILE_NULL,
	FILE_ZERO,
	FILE_PIPE,    /* one end of f_pipe */
	FILE_PROFILE, /* samples, from f_profile */
	FILE_NKIND,
};

/* An open file; descriptors made by dup() share it, offset and all. */
struct file {
	unsigned f_refs;
	enum file_kind f_kind;
	unsigned f_flags; /* open(2)'s O_ACCMODE, O_APPEND, O_NONBLOCK */
	enum stream f_stream;
	const char *f_name; /* FILE_ARCHIVE: in the archive; FILE_DIR: below */
	char *f_dir;        /* the path, no slash at either end; kmalloc() */
	const char *f_data;
	size_t f_bytes;
	uint64_t f_offset; /* bytes; FILE_DIR: entries */
	union {
		struct pipe *f_pipe;
		struct kcpc_profile *f_profile;
	};
};

/*
 * What the owner of a device does when it is opened, 0 or an errno, and
 * after its last descriptor is closed.
 */
struct device_ops {
	int (*open)(struct file *f);
	void (*release)(struct file *f);
};
/* At boot, for a kind of device; once for each. */
void file_register(enum file_kind kind, const struct device_ops *ops);

/* What stat(2) tells of a file. */
struct file_info {
	uint64_t fi_ino;
	uint32_t fi_mode;
	uint64_t fi_bytes;
	uint64_t fi_rdev;
};

/* Descriptors 0, 1, 2 of a new process.  0 or ENOMEM. */
int file_init(struct proc *p);
void file_close_all(struct proc *p);
/* The open file behind fd, or NULL. */
struct file *file_get(int fd);
/* The lowest free descriptor from `from` on becomes f's; -errno. */
int file_install(struct file *f, int from);
int file_close(int fd);

/*
 * Resolve path; on success *f has one reference.  A positive errno.  flags:
 * Linux's O_*.
 */
int file_open(const char *path, unsigned flags, struct file **f);
void file_release(struct file *f);
/* One reference, of this kind and nothing else; NULL: no memory. */
struct file *file_new(enum file_kind kind, unsigned flags);
/* Kind, size and number of what path names.  0 or a positive errno. */
int file_stat_path(const char *path, struct file_info *fi);
void file_stat(const struct file *f, struct file_info *fi);

/*
 * The nth entry of a directory: its name (in the archive or constant, and not
 * terminated) with its length, number and mode; false past the end.
 */
struct dir_entry {
	const char *de_name;
	size_t de_len;
	uint64_t de_ino;
	uint32_t de_mode;
};
bool dir_entry(const char *dir, uint64_t n, struct dir_entry *de);

#endif /* KERN_FILE_FILE_H */
