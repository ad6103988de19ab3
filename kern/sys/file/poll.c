/* poll(2), select(2): all but pipes, eventfds, timers, signalfds are ready. */
#include "kern/arch.h"
#include "kern/file/epoll.h"
#include "kern/file/file.h"
#include "kern/file/pipe.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/deadline.h"
#include "kern/proc/proc.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/syscall.h"

#define POLLRDNORM 0x040 /* other names for POLLIN and POLLOUT */
#define POLLWRNORM 0x100

#define SIGSET_BYTES 8
#define NS_PER_MS    1000000LL

/* Linux's struct pollfd, the same on both machines. */
struct pollfd {
	int32_t fd;
	uint16_t events, revents;
};

static uint16_t
state_of(int fd)
{
	const struct file *f = file_get(fd);

	if (f == NULL)
		return POLLNVAL;
	uint16_t state = file_poll(f);
	if ((state & POLLIN) != 0)
		state |= POLLRDNORM;
	return (state & POLLOUT) != 0 ? state | POLLWRNORM : state;
}

/* Fill in revents.  Returns how many descriptors have one. */
static intptr_t
set_revents(struct pollfd *fds, unsigned n)
{
	intptr_t found = 0;

	for (unsigned i = 0; i < n; i++) {
		uint16_t wanted = fds[i].events | POLLERR | POLLHUP | POLLNVAL;

		fds[i].revents =
		    fds[i].fd < 0 ? 0 : state_of(fds[i].fd) & wanted;
		found += fds[i].revents != 0;
	}
	return found;
}

int
wait_files(uint64_t deadline)
{
	if (sig_check(lwp_self()))
		return EINTR;
	if (arch_tick() >= deadline)
		return ETIMEDOUT;
	(void)waitq_sleep(&pipe_pollers, deadline);
	return 0;
}

static intptr_t
wait_for_any(struct pollfd *fds, unsigned n, uint64_t deadline)
{
	intptr_t found;
	int err;

	while ((found = set_revents(fds, n)) == 0) {
		if ((err = wait_files(deadline)) != 0)
			return err == ETIMEDOUT ? 0 : -err;
	}
	return found;
}

static intptr_t
poll_files(uintptr_t uva, uintptr_t n, uint64_t deadline)
{
	struct pollfd fds[NFD];
	intptr_t found;

	if (n > (unsigned)file_limit())
		return -EINVAL;
	if (copyin(fds, uva, n * sizeof *fds) != 0)
		return -EFAULT;
	if ((found = wait_for_any(fds, (unsigned)n, deadline)) < 0)
		return found;
	return copyout(uva, fds, n * sizeof *fds) != 0 ? -EFAULT : found;
}

uint64_t
deadline_ms(int ms)
{
	return ms < 0 ? ~0ULL : arch_tick() + ns_to_tick(ms * NS_PER_MS);
}

intptr_t
sys_poll(const uintptr_t *a)
{
	return poll_files(a[0], a[1], deadline_ms((int)a[2]));
}

int
wait_mask(uintptr_t uva, size_t bytes)
{
	uint64_t mask;

	if (uva == 0)
		return 0;
	if (bytes != SIGSET_BYTES)
		return EINVAL;
	if (copyin(&mask, uva, sizeof mask) != 0)
		return EFAULT;
	sig_suspend_mask(lwp_self(), mask);
	return 0;
}

intptr_t
end_wait_mask(intptr_t found)
{
	if (found != -EINTR)
		sig_resume_mask(lwp_self());
	return found;
}

intptr_t
sys_ppoll(const uintptr_t *a)
{
	uint64_t deadline;
	int err;

	if ((err = deadline_in(a[2], false, &deadline)) != 0 ||
	    (err = wait_mask(a[3], a[4])) != 0)
		return -err;
	return end_wait_mask(poll_files(a[0], a[1], deadline));
}

/*
 * select(2) by poll(2).  A set is a bitmap; only the first word can have bits,
 * because there are 64 descriptors.
 */

#define SELECT_MAX 1024 /* bits of the C libraries' fd_set */
#define READS      (POLLIN | POLLRDNORM | POLLHUP | POLLERR)
#define WRITES     (POLLOUT | POLLWRNORM | POLLERR)

_Static_assert(NFD == 64, "a set's first word has all descriptors");

/* Get the first word of a set of n bits.  EBADF if other bits are set. */
static int
get_set(uintptr_t uva, unsigned n, uint64_t *first)
{
	uint64_t words[SELECT_MAX / 64] = { 0 };

	*first = 0;
	if (uva == 0 || n == 0)
		return 0;
	if (copyin(words, uva, (n + 63) / 64 * sizeof *words) != 0)
		return EFAULT;
	*first = n < 64 ? words[0] & ((1ULL << n) - 1) : words[0];
	for (unsigned i = 1; i < (n + 63) / 64; i++) {
		if (words[i] != 0)
			return EBADF;
	}
	return 0;
}

static int
put_set(uintptr_t uva, unsigned n, uint64_t first)
{
	uint64_t words[SELECT_MAX / 64] = { first };

	if (uva == 0 || n == 0)
		return 0;
	return copyout(uva, words, (n + 63) / 64 * sizeof *words);
}

/* The descriptors of the sets.  Returns how many. */
static unsigned
make_pollfds(uint64_t all, uint64_t reads, uint64_t writes, struct pollfd *fds)
{
	unsigned n = 0;

	for (; all != 0; all &= all - 1, n++) {
		unsigned fd = (unsigned)__builtin_ctzll(all);

		fds[n] = (struct pollfd){ .fd = (int)fd };
		if (reads >> fd & 1)
			fds[n].events |= POLLIN;
		if (writes >> fd & 1)
			fds[n].events |= POLLOUT;
	}
	return n;
}

/* The bits of `wanted` whose descriptor has one of the events. */
static uint64_t
ready_bits(
    const struct pollfd *fds, unsigned n, uint64_t wanted, unsigned events)
{
	uint64_t ready = 0;

	for (unsigned i = 0; i < n; i++) {
		if (fds[i].revents & events)
			ready |= 1ULL << fds[i].fd;
	}
	return ready & wanted;
}

/* No descriptor has exceptional conditions: the third set becomes empty. */
static intptr_t
select_files(const uintptr_t *a, uint64_t deadline)
{
	struct pollfd fds[NFD];
	uint64_t reads, writes, exceptions;
	unsigned n = (unsigned)a[0], nfds;
	intptr_t found;
	int err;

	if ((int)a[0] < 0)
		return -EINVAL;
	if (n > SELECT_MAX)
		n = SELECT_MAX;
	if ((err = get_set(a[1], n, &reads)) != 0 ||
	    (err = get_set(a[2], n, &writes)) != 0 ||
	    (err = get_set(a[3], n, &exceptions)) != 0)
		return -err;
	nfds = make_pollfds(reads | writes | exceptions, reads, writes, fds);
	for (unsigned i = 0; i < nfds; i++) {
		if (file_get(fds[i].fd) == NULL)
			return -EBADF;
	}
	if ((found = wait_for_any(fds, nfds, deadline)) < 0)
		return found;
	reads = ready_bits(fds, nfds, reads, READS);
	writes = ready_bits(fds, nfds, writes, WRITES);
	if (put_set(a[1], n, reads) != 0 || put_set(a[2], n, writes) != 0 ||
	    put_set(a[3], n, 0) != 0)
		return -EFAULT;
	return __builtin_popcountll(reads) + __builtin_popcountll(writes);
}

/* The last argument is the address of a mask's address and its length. */
intptr_t
sys_pselect6(const uintptr_t *a)
{
	uintptr_t mask[2] = { 0, 0 };
	uint64_t deadline;
	int err;

	if (a[5] != 0 && copyin(mask, a[5], sizeof mask) != 0)
		return -EFAULT;
	if ((err = deadline_in(a[4], false, &deadline)) != 0 ||
	    (err = wait_mask(mask[0], mask[1])) != 0)
		return -err;
	return end_wait_mask(select_files(a, deadline));
}

intptr_t
sys_select(const uintptr_t *a)
{
	uint64_t deadline = ~0ULL;
	int64_t tv[2];
	hrtime_t ns;

	if (a[4] != 0) {
		if (copyin(tv, a[4], sizeof tv) != 0)
			return -EFAULT;
		if (tv[0] < 0 || tv[1] < 0)
			return -EINVAL;
		/* As Linux: a second or more of microseconds is no error. */
		if (__builtin_add_overflow(tv[0], tv[1] / 1000000, &tv[0]))
			tv[0] = INT64_MAX;
		tv[1] = tv[1] % 1000000 * 1000;
		timespec_ns(tv, &ns);
		deadline = deadline_tick(ns, false);
	}
	return select_files(a, deadline);
}
