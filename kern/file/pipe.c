/*
 * pipe(2) and fifo(7): a ring of PIPE_BYTES between files that read and files
 * that write.
 *
 * A write of at most PIPE_BUF waits until it fits as a whole, so it is never
 * mixed with another.  A longer write may be done in pieces.  All changes of a
 * pipe wake its readers and writers.  If an LWP has polled the pipe since the
 * last change, they wake all LWPs in poll(2).
 *
 * Functions that return intptr_t return what the system call does: a length
 * or a negative errno.  The others return a positive errno.
 */
#include "kern/file/pipe.h"

#include <stdbool.h>

#include "kern/arch.h"
#include "kern/file/epoll.h"
#include "kern/file/file.h"
#include "kern/file/tmp.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/sched.h"

#define PIPE_BUF 4096UL /* POSIX: a shorter write is not mixed with others */

struct pipe {
	size_t pi_first, pi_len;         /* the bytes in the ring pi_buf */
	unsigned pi_readers, pi_writers; /* open files of this end */
	unsigned pi_opens[2];            /* of all time */
	struct tmp_node *pi_node;        /* a FIFO's, or NULL */
	bool pi_polled; /* since pipe_changed(): an LWP may wait in poll(2) */
	uint64_t pi_changes;
	struct waitq pi_wait; /* LWPs that wait for any change */
	char pi_buf[PIPE_BYTES];
};

struct waitq pipe_pollers;

static void
pipe_changed(struct pipe *pi)
{
	waitq_wake(&pi->pi_wait, ~0U);
	pi->pi_changes++;
	if (pi->pi_polled)
		waitq_wake(&pipe_pollers, ~0U);
	pi->pi_polled = false;
}

uint64_t
pipe_changes(const struct file *f)
{
	return f->f_pipe->pi_changes;
}

size_t
pipe_bytes(const struct file *f)
{
	return f->f_pipe->pi_len;
}

struct tmp_node *
pipe_node(const struct file *f)
{
	return f->f_pipe->pi_node;
}

/* As Linux, it is ready for writing if PIPE_BUF bytes do not wait. */
uint16_t
pipe_poll(const struct file *f)
{
	struct pipe *pi = f->f_pipe;
	uint16_t state = 0;

	pi->pi_polled = true;
	if (can_write(f)) {
		state = pi->pi_readers > 0 ? 0 : POLLERR;
		if (PIPE_BYTES - pi->pi_len >= PIPE_BUF)
			state |= POLLOUT;
	}
	if (!can_read(f))
		return state;
	if (pi->pi_writers == 0 && pi->pi_opens[1] > f->f_offset)
		state |= POLLHUP;
	return pi->pi_len > 0 ? state | POLLIN : state;
}

static size_t
smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

intptr_t
pipe_read(struct file *f, uintptr_t uva, size_t len)
{
	struct pipe *pi = f->f_pipe;
	size_t n, done;

	if (len == 0)
		return 0;
	while (pi->pi_len == 0) {
		if (pi->pi_writers == 0)
			return 0;
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (waitq_sleep(&pi->pi_wait, ~0ULL) != 0)
			return sig_restart(lwp_self());
	}
	for (done = 0; done < len && pi->pi_len > 0; done += n) {
		n = smaller_of(smaller_of(len - done, pi->pi_len),
		    PIPE_BYTES - pi->pi_first);
		if (copyout(uva + done, pi->pi_buf + pi->pi_first, n) != 0)
			break;
		pi->pi_first = (pi->pi_first + n) % PIPE_BYTES;
		pi->pi_len -= n;
	}
	if (done == 0)
		return -EFAULT;
	pipe_changed(pi);
	return (intptr_t)done;
}

static intptr_t
broken_pipe(void)
{
	const struct siginfo info = { .si_signo = SIGPIPE,
		.si_code = SI_USER,
		.si_pid = proc_self()->p_pid };

	sig_post_lwp(lwp_self(), SIGPIPE, &info);
	return -EPIPE;
}

/* Wait until len bytes fit; if they never will, until one byte fits. */
static intptr_t
wait_for_room(struct file *f, size_t len)
{
	struct pipe *pi = f->f_pipe;

	while (pi->pi_readers > 0 &&
	       PIPE_BYTES - pi->pi_len < (len <= PIPE_BUF ? len : 1)) {
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (waitq_sleep(&pi->pi_wait, ~0ULL) != 0)
			return -EINTR;
	}
	return pi->pi_readers > 0 ? 0 : -EPIPE;
}

/* The result of a write, from that of wait_for_room(). */
static intptr_t
write_result(intptr_t err)
{
	if (err == -EINTR)
		return sig_restart(lwp_self());
	return err == -EPIPE ? broken_pipe() : err;
}

intptr_t
pipe_prepare(struct file *f, size_t len)
{
	if (len == 0 || len > PIPE_BUF)
		return 0;
	return write_result(wait_for_room(f, len));
}

intptr_t
pipe_write(struct file *f, uintptr_t uva, size_t len)
{
	struct pipe *pi = f->f_pipe;
	size_t n, at, done = 0;
	intptr_t err;

	while (done < len) {
		if ((err = wait_for_room(f, len - done)) != 0)
			return done > 0 ? (intptr_t)done : write_result(err);
		at = (pi->pi_first + pi->pi_len) % PIPE_BYTES;
		n = smaller_of(smaller_of(len - done, PIPE_BYTES - pi->pi_len),
		    PIPE_BYTES - at);
		if (copyin(pi->pi_buf + at, uva + done, n) != 0)
			return done > 0 ? (intptr_t)done : -EFAULT;
		pi->pi_len += n;
		done += n;
		pipe_changed(pi);
	}
	return (intptr_t)done;
}

void
pipe_close(struct file *f)
{
	struct pipe *pi = f->f_pipe;

	pi->pi_readers -= can_read(f);
	pi->pi_writers -= can_write(f);
	pipe_changed(pi);
	if (pi->pi_readers == 0 && pi->pi_writers == 0) {
		if (pi->pi_node != NULL) {
			pi->pi_node->tn_pipe = NULL;
			tmp_release(pi->pi_node);
		}
		kfree(pi);
	}
}

static void
add_end(struct pipe *pi, struct file *f)
{
	f->f_kind = FILE_PIPE;
	f->f_pipe = pi;
	/* As Linux: who opens after the last writer left waits for the next. */
	f->f_offset = pi->pi_writers == 0 ? pi->pi_opens[1] : 0;
	pi->pi_readers += can_read(f);
	pi->pi_writers += can_write(f);
	pi->pi_opens[0] += can_read(f);
	pi->pi_opens[1] += can_write(f);
	pipe_changed(pi);
}

int
pipe_open_fifo(struct file *f, struct tmp_node *tn)
{
	bool waits = !(f->f_flags & O_NONBLOCK) && can_read(f) != can_write(f);
	unsigned other = can_read(f), opens;
	struct pipe *pi = tn->tn_pipe;

	if (!waits && !can_read(f) && (pi == NULL || pi->pi_readers == 0))
		return ENXIO;
	if (pi == NULL && (pi = kmalloc(sizeof *pi)) == NULL)
		return ENOMEM;
	if (tn->tn_pipe == NULL) {
		tn->tn_pipe = pi;
		pi->pi_node = tn;
		tn->tn_refs++;
	}
	add_end(pi, f);
	opens = pi->pi_opens[other];
	while (waits && opens == pi->pi_opens[other] &&
	       (other ? pi->pi_writers : pi->pi_readers) == 0) {
		if (waitq_sleep(&pi->pi_wait, ~0ULL) != 0) {
			pipe_close(f);
			return (int)-sig_restart(lwp_self());
		}
	}
	return 0;
}

/* Open both ends, each with one reference.  Returns 0 or ENOMEM. */
static int
pipe_open(unsigned flags, struct file *end[2])
{
	struct pipe *pi = kmalloc(sizeof *pi);

	end[0] = file_new(FILE_PIPE, flags & O_NONBLOCK);
	end[1] = file_new(FILE_PIPE, (flags & O_NONBLOCK) | O_WRONLY);
	if (pi == NULL || end[0] == NULL || end[1] == NULL) {
		kfree(end[0]);
		kfree(end[1]);
		kfree(pi);
		return ENOMEM;
	}
	add_end(pi, end[0]);
	add_end(pi, end[1]);
	return 0;
}

int
pipe_connect(struct proc *from, struct proc *to)
{
	struct file *end[2];
	int err = pipe_open(0, end);

	if (err != 0)
		return err;
	file_release(to->p_fd[0]);
	to->p_fd[0] = end[0];
	file_release(from->p_fd[1]);
	from->p_fd[1] = end[1];
	return 0;
}

intptr_t
sys_pipe2(const uintptr_t *a)
{
	unsigned flags = (unsigned)a[1];
	struct file *end[2];
	int fd[2], err;

	if (flags & ~(unsigned)(O_NONBLOCK | O_CLOEXEC))
		return -EINVAL;
	if ((err = pipe_open(flags, end)) != 0)
		return -err;
	for (unsigned i = 0; i < 2; i++) {
		if ((fd[i] = file_install(end[i], 0)) < 0) {
			file_release(end[i]);
			err = EMFILE;
		} else if (flags & O_CLOEXEC) {
			proc_self()->p_cloexec |= 1ULL << fd[i];
		}
	}
	if (err == 0 && copyout(a[0], fd, sizeof fd) == 0)
		return 0;
	file_close(fd[0]); /* an absent one is EBADF */
	file_close(fd[1]);
	return err != 0 ? -err : -EFAULT;
}
