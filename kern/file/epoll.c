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
#define ALWAYS       (POLLERR | POLLHUP) /* wanted, until EPOLLONESHOT */

struct epoll_entry {
	struct file *file; /* NULL: free; the set holds no reference */
	struct epoll_entry *next, **link; /* in f_watches */
	int fd;
	uint64_t seen; /* the changes of the file at the last report */
	struct epoll_event wanted;
};

struct epoll {
	unsigned first; /* the entry to report first */
	struct epoll_entry entry[NFD];
};

static uint64_t signal_changes;

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
	f->f_epoll = ep;
	return f;
}

static void
entry_free(struct epoll_entry *e)
{
	e->file = NULL;
	*e->link = e->next;
	if (e->next != NULL)
		e->next->link = e->link;
}

void
epoll_close(struct epoll *ep)
{
	for (unsigned i = 0; i < NFD; i++) {
		if (ep->entry[i].file != NULL)
			entry_free(&ep->entry[i]);
	}
	kfree(ep);
}

void
epoll_forget(struct file *f)
{
	while (f->f_watches != NULL)
		entry_free(f->f_watches);
}

static uint64_t
changes_of(const struct file *f)
{
	switch (f->f_kind) {
	case FILE_PIPE:
		return pipe_changes(f);
	case FILE_SIGNAL:
		return signal_changes;
	default:
		return f->f_changes;
	}
}

/* The entry of a descriptor's file; for f NULL a free one.  NULL: missing. */
static struct epoll_entry *
find_entry(struct epoll *ep, int fd, const struct file *f)
{
	for (unsigned i = 0; i < NFD; i++) {
		struct epoll_entry *e = &ep->entry[i];

		if (e->file == f && (f == NULL || e->fd == fd))
			return e;
	}
	return NULL;
}

int
epoll_add(
    struct epoll *ep, int fd, struct file *f, const struct epoll_event *ee)
{
	struct epoll_entry *e;

	if (f->f_kind != FILE_PIPE && f->f_kind != FILE_EVENT &&
	    f->f_kind != FILE_TIMER && f->f_kind != FILE_SIGNAL)
		return EPERM;
	if (find_entry(ep, fd, f) != NULL)
		return EEXIST;
	if ((e = find_entry(ep, fd, NULL)) == NULL)
		return ENOSPC;
	*e = (struct epoll_entry){ f, f->f_watches, &f->f_watches, fd,
		changes_of(f) - 1, *ee };
	e->wanted.ee_events |= ALWAYS;
	if (e->next != NULL)
		e->next->link = &e->next;
	f->f_watches = e;
	return 0;
}

int
epoll_change(
    struct epoll *ep, int fd, struct file *f, const struct epoll_event *ee)
{
	struct epoll_entry *e = find_entry(ep, fd, f);

	if (e == NULL)
		return ENOENT;
	if (ee == NULL) {
		entry_free(e);
		return 0;
	}
	e->seen = changes_of(f) - 1;
	e->wanted = *ee;
	e->wanted.ee_events |= ALWAYS;
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
take_entry(struct epoll_entry *e)
{
	uint32_t wanted = e->wanted.ee_events, found;

	if (e->file == NULL)
		return 0;
	found = file_poll(e->file) & wanted;
	if (found == 0 ||
	    ((wanted & EPOLLET) && e->seen == changes_of(e->file)))
		return 0;
	e->seen = changes_of(e->file);
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
		struct epoll_entry *e = &ep->entry[at];
		uint32_t found = take_entry(e);

		if (found == 0)
			continue;
		ee[n++] = (struct epoll_event){ found, e->wanted.ee_data };
		/* Others come first next time. */
		ep->first = (at + 1) % NFD;
	}
	return n;
}

unsigned nsignal_files;

void
signal_files_changed(void)
{
	if (nsignal_files == 0)
		return;
	signal_changes++;
	waitq_wake(&pipe_pollers, ~0U);
}
