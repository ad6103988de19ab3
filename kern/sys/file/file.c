/* System calls that read and write files. */
#include "kern/file/file.h"
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/file/epoll.h"
#include "kern/file/pipe.h"
#include "kern/file/tmp.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/syscall.h"

#define RW_MAX      0x7ffff000UL  /* bytes in one call, as in Linux */
#define RECORD_MAX  (256UL << 10) /* bytes in one line of the record */
#define CONSOLE_MAX (64UL << 10)
#define IOV_MAX     1024

struct iovec {
	uintptr_t iov_base;
	size_t iov_len;
};

/* Copy out of a file's content at its offset. */
static intptr_t
read_content(struct file *f, uintptr_t uva, size_t len)
{
	size_t bytes = file_bytes(f);
	size_t n = f->f_offset < bytes ? bytes - f->f_offset : 0;

	if (n > len)
		n = len;
	entry_budget_add(n >> PAGE_SHIFT);
	if (n > 0 && copyout(uva, file_data(f) + f->f_offset, n) != 0)
		return -EFAULT;
	f->f_offset += n;
	return (intptr_t)n;
}

static intptr_t
read_file(struct file *f, uintptr_t uva, size_t len)
{
	if (!can_read(f))
		return -EBADF;
	if (len > RW_MAX)
		len = RW_MAX;
	switch (f->f_kind) {
	case FILE_PIPE:
		return pipe_read(f, uva, len);
	case FILE_EVENT:
		return event_read(f, uva, len);
	case FILE_TIMER:
		return timer_read(f, uva, len);
	case FILE_SIGNAL:
		return signal_read(f, uva, len);
	case FILE_PERF:
		return perf_read(f, uva, len);
	case FILE_PROFILE:
		return kcpc_profile_read(f->f_profile, uva, len);
	case FILE_ZERO:
		return copyzero(uva, len) != 0 ? -EFAULT : (intptr_t)len;
	case FILE_DIR:
		return -EISDIR;
	default: /* devices are empty */
		return read_content(f, uva, len);
	}
}

/*
 * A call writes at most CONSOLE_MAX bytes and returns how many.  The line is
 * slow, and no interrupt is taken during a write.
 */
static intptr_t
write_console(enum stream s, uintptr_t uva, size_t len)
{
	char buf[1024];
	size_t done = 0;

	if (len > CONSOLE_MAX)
		len = CONSOLE_MAX;
	while (done < len) {
		size_t n = len - done;

		if (n > sizeof buf)
			n = sizeof buf;
		if (copyin(buf, uva + done, n) != 0)
			return done > 0 ? (intptr_t)done : -EFAULT;
		cons_write(s, buf, n);
		entry_budget_add(n / LIMIT_PRINTED);
		done += n;
	}
	return (intptr_t)done;
}

static intptr_t
write_tmp(struct file *f, uintptr_t uva, size_t len)
{
	if (f->f_flags & O_APPEND)
		f->f_offset = f->f_tmp->tn_bytes;
	intptr_t n = tmp_write(f->f_tmp, f->f_offset, uva, len);
	if (n > 0)
		f->f_offset += (size_t)n;
	return n;
}

static intptr_t
write_file(struct file *f, uintptr_t uva, size_t len)
{
	if (!can_write(f))
		return -EBADF;
	if (len > RW_MAX)
		len = RW_MAX;
	switch (f->f_kind) {
	case FILE_PIPE:
		return pipe_write(f, uva, len);
	case FILE_EVENT:
		return event_write(f, uva, len);
	case FILE_TIMER:
	case FILE_SIGNAL:
	case FILE_PERF:
		return -EINVAL;
	case FILE_CONSOLE:
		return write_console(f->f_stream, uva, len);
	case FILE_TMP:
		return write_tmp(f, uva, len);
	case FILE_NULL:
	case FILE_ZERO:
		return (intptr_t)len;
	default:
		return -EBADF;
	}
}

/* Write a record as one frame, also if it comes in pieces. */
static intptr_t
write_record(const struct iovec *iov, unsigned n)
{
	size_t len = 0, at = 0;
	intptr_t ret = -EFAULT;
	char *line;

	for (unsigned i = 0; i < n; i++) {
		if (iov[i].iov_len > RECORD_MAX - len)
			return -EFBIG;
		len += iov[i].iov_len;
	}
	if (len == 0)
		return 0;
	if ((line = kmalloc(len)) == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		if (copyin(line + at, iov[i].iov_base, iov[i].iov_len) != 0)
			goto out;
		at += iov[i].iov_len;
	}
	cons_write(STREAM_JSON, line, len);
	entry_budget_add(len / LIMIT_PRINTED);
	ret = (intptr_t)len;
out:
	kfree(line);
	return ret;
}

/* Take a reference: while a call sleeps, another LWP may close the file. */
static struct file *
hold_file(uintptr_t fd)
{
	struct file *f = file_get((int)fd);

	if (f != NULL)
		f->f_refs++;
	return f;
}

intptr_t
sys_read(const uintptr_t *a)
{
	struct file *f = hold_file(a[0]);

	if (f == NULL)
		return -EBADF;
	intptr_t ret = read_file(f, a[1], a[2]);
	file_release(f);
	return ret;
}

intptr_t
sys_write(const uintptr_t *a)
{
	struct file *f = hold_file(a[0]);
	struct iovec iov = { a[1], a[2] };
	intptr_t ret;

	if (f == NULL)
		return -EBADF;
	if (f->f_kind == FILE_RECORD && can_write(f))
		ret = write_record(&iov, 1);
	else
		ret = write_file(f, a[1], a[2]);
	file_release(f);
	return ret;
}

/*
 * Make a call at an offset that the file does not keep.  As Linux, O_APPEND
 * writes at the end whatever the offset.
 */
static intptr_t
at_offset(const uintptr_t *a, syscall_fn *call)
{
	struct file *f = file_get((int)a[0]);

	if (f == NULL)
		return -EBADF;
	if ((intptr_t)a[3] < 0)
		return -EINVAL;
	if (f->f_kind >= FILE_STREAMS)
		return -ESPIPE;
	uint64_t was = f->f_offset;
	f->f_offset = a[3];
	intptr_t ret = call(a); /* no such file waits */
	f->f_offset = was;
	return ret;
}

intptr_t
sys_pread64(const uintptr_t *a)
{
	return at_offset(a, sys_read);
}

intptr_t
sys_pwrite64(const uintptr_t *a)
{
	return at_offset(a, sys_write);
}

/* Copy in the vector of readv(2) or writev(2).  NULL: -errno is in *err. */
static struct iovec *
get_iov(uintptr_t uva, uintptr_t n, size_t *bytes, intptr_t *err)
{
	struct iovec *iov;
	size_t total = 0;

	*err = -EINVAL;
	if (n > IOV_MAX)
		return NULL;
	*err = -ENOMEM;
	if ((iov = kmalloc(n * sizeof *iov)) == NULL)
		return NULL;
	*err = -EFAULT;
	if (copyin(iov, uva, n * sizeof *iov) != 0)
		goto free_iov;
	*err = -EINVAL;
	for (unsigned i = 0; i < n; i++) {
		if (__builtin_add_overflow(total, iov[i].iov_len, &total) ||
		    (intptr_t)total < 0)
			goto free_iov;
	}
	*bytes = total;
	return iov;

free_iov:
	kfree(iov);
	return NULL;
}

/*
 * Read or write each piece, until one is incomplete.  If a write to a pipe must
 * not be mixed with others, first wait for room for all of it.
 */
static intptr_t
each_iov(struct file *f, const struct iovec *iov, unsigned n, size_t bytes,
    bool writes)
{
	intptr_t done = 0, err;

	if (writes && f->f_kind == FILE_PIPE &&
	    (err = pipe_prepare(f, bytes)) != 0)
		return err;
	for (unsigned i = 0; i < n; i++) {
		size_t len = iov[i].iov_len;

		if (len == 0)
			continue;
		/* A readv(2) that has read something does not wait. */
		if (done > 0 && !writes &&
		    (file_poll(f) & (POLLIN | POLLHUP)) == 0)
			break;
		/* All pieces together have the limit of one write(2). */
		if (writes && f->f_kind == FILE_CONSOLE &&
		    len > CONSOLE_MAX - (size_t)done)
			len = CONSOLE_MAX - (size_t)done;
		if (len == 0)
			break;
		intptr_t got = writes ? write_file(f, iov[i].iov_base, len)
		                      : read_file(f, iov[i].iov_base, len);
		if (got < 0 && done == 0)
			return got;
		if (got < 0) {
			/* Part is done, so the call must not be made again. */
			lwp_self()->l_restart = false;
			break;
		}
		done += got;
		if ((size_t)got < iov[i].iov_len)
			break;
	}
	return done;
}

static intptr_t
rw_iov(const uintptr_t *a, bool writes)
{
	struct file *f = hold_file(a[0]);
	struct iovec *iov;
	intptr_t ret = -EBADF;
	size_t bytes;

	if (f == NULL)
		return ret;
	if (!(writes ? can_write(f) : can_read(f)) ||
	    (iov = get_iov(a[1], a[2], &bytes, &ret)) == NULL)
		goto release;
	if (writes && f->f_kind == FILE_RECORD)
		ret = write_record(iov, (unsigned)a[2]);
	else
		ret = each_iov(f, iov, (unsigned)a[2], bytes, writes);
	kfree(iov);

release:
	file_release(f);
	return ret;
}

intptr_t
sys_preadv(const uintptr_t *a)
{
	return at_offset(a, sys_readv);
}

intptr_t
sys_pwritev(const uintptr_t *a)
{
	return at_offset(a, sys_writev);
}

intptr_t
sys_readv(const uintptr_t *a)
{
	return rw_iov(a, false);
}

intptr_t
sys_writev(const uintptr_t *a)
{
	return rw_iov(a, true);
}
