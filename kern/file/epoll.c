/*
 * epoll(7): a set of files, each with the events that its program waits for.
 *
 * Only pipes and files of eventfd(2), timerfd_create(2) and signalfd4(2) are
 * ever not ready.  As on Linux, files that are always ready are refused.  A
 * file leaves its sets when its last descriptor is closed.
 *
 * An edge-triggered file is reported once after each change of its pipe, in
 * both directions.  Linux has fewer such reports; programs must expect more.
 */
#include "kern/file/epoll.h"

#include "kern/arch.h"
#include "kern/file/file.h"
#include "kern/file/pipe.h"
#include "kern/file/timer_file.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"

/* Linux, include/uapi/linux/eventpoll.h. */
#define EPOLLONESHOT (1U << 30)
#define EPOLLET      (1U << 31)

struct entry {
	struct file *file; /* NULL: free; the set holds no reference */
	int fd;
	bool fresh; /* it may have changed since the last report */
	struct epoll_event wanted;
};

struct epoll {
	struct epoll *next; /* in all_sets */
	unsigned first;     /* the entry to report first */
	struct entry entry[NFD];
};

static struct epoll *all_sets;

struct file *
epoll_new(void)
{
	struct epoll *ep = kmalloc(sizeof *ep);
	struct file *f = file_new(FILE_EPOLL, 0);

	if (ep == NULL || f == NULL) {
		kfree(ep);
		kfree(f);
		return NULL;
	}
	ep->next = all_sets;
	all_sets = ep;
	f->f_epoll = ep;
	return f;
}

void
epoll_close(struct epoll *ep)
{
	struct epoll **link = &all_sets;

	while (*link != ep)
		link = &(*link)->next;
	*link = ep->next;
	kfree(ep);
}

/* The entry of a descriptor's file; for f NULL a free one.  NULL: missing. */
static struct entry *
find_entry(struct epoll *ep, int fd, const struct file *f)
{
	for (unsigned i = 0; i < NFD; i++) {
		struct entry *e = &ep->entry[i];

		if (e->file == f && (f == NULL || e->fd == fd))
			return e;
	}
	return NULL;
}

int
epoll_add(
    struct epoll *ep, int fd, struct file *f, const struct epoll_event *ee)
{
	struct entry *e;

	if (f->f_kind != FILE_PIPE && f->f_kind != FILE_EVENT &&
	    f->f_kind != FILE_TIMER && f->f_kind != FILE_SIGNAL)
		return EPERM;
	if (find_entry(ep, fd, f) != NULL)
		return EEXIST;
	if ((e = find_entry(ep, fd, NULL)) == NULL)
		return ENOSPC;
	*e = (struct entry){ f, fd, true, *ee };
	return 0;
}

int
epoll_change(
    struct epoll *ep, int fd, struct file *f, const struct epoll_event *ee)
{
	struct entry *e = find_entry(ep, fd, f);

	if (e == NULL)
		return ENOENT;
	if (ee == NULL)
		e->file = NULL;
	else
		*e = (struct entry){ f, fd, true, *ee };
	return 0;
}

uint16_t
file_poll(const struct file *f)
{
	switch (f->f_kind) {
	case FILE_PIPE:
		return pipe_poll(f);
	case FILE_EVENT:
		return (f->f_count > 0 ? POLLIN : 0) |
		       (f->f_count < UINT64_MAX - 1 ? POLLOUT : 0);
	case FILE_TIMER:
		return timer_file_count(f) > 0 ? POLLIN : 0;
	case FILE_SIGNAL:
		return sig_pending(lwp_self()) & f->f_signals ? POLLIN : 0;
	default:
		return POLLIN | POLLOUT;
	}
}

/* The events to report of an entry, or 0. */
static uint32_t
take_entry(struct entry *e)
{
	uint32_t wanted = e->wanted.ee_events, found;

	if (e->file == NULL || wanted == 0 || ((wanted & EPOLLET) && !e->fresh))
		return 0;
	found = file_poll(e->file) & (wanted | POLLERR | POLLHUP);
	if (found == 0)
		return 0;
	e->fresh = false;
	if (wanted & EPOLLONESHOT)
		e->wanted.ee_events = 0;
	return found;
}

unsigned
epoll_take(struct epoll *ep, struct epoll_event *ee, unsigned max)
{
	unsigned first = ep->first, n = 0;

	for (unsigned i = 0; i < NFD && n < max; i++) {
		unsigned at = (first + i) % NFD;
		struct entry *e = &ep->entry[at];
		uint32_t found = take_entry(e);

		if (found == 0)
			continue;
		ee[n++] = (struct epoll_event){ found, e->wanted.ee_data };
		/* Others come first next time. */
		ep->first = (at + 1) % NFD;
	}
	return n;
}

/* The object that changes: both ends of a pipe are one. */
static const void *
object_of(const struct file *f)
{
	return f->f_kind == FILE_PIPE ? (const void *)f->f_pipe : f;
}

void
epoll_changed(const void *object)
{
	for (struct epoll *ep = all_sets; ep != NULL; ep = ep->next) {
		for (unsigned i = 0; i < NFD; i++) {
			struct entry *e = &ep->entry[i];

			if (e->file != NULL && object_of(e->file) == object)
				e->fresh = true;
		}
	}
}

void
epoll_forget(const struct file *f)
{
	for (struct epoll *ep = all_sets; ep != NULL; ep = ep->next) {
		for (unsigned i = 0; i < NFD; i++) {
			if (ep->entry[i].file == f)
				ep->entry[i].file = NULL;
		}
	}
}

unsigned nsignal_files;

void
signal_files_changed(void)
{
	if (nsignal_files == 0)
		return;
	for (struct epoll *ep = all_sets; ep != NULL; ep = ep->next) {
		for (unsigned i = 0; i < NFD; i++) {
			struct entry *e = &ep->entry[i];

			if (e->file != NULL && e->file->f_kind == FILE_SIGNAL)
				e->fresh = true;
		}
	}
	waitq_wake(&pipe_pollers, ~0U);
}
