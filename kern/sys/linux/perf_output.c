/*
 * The files of perf_event_open(2): counts, the signal and the sample at the end
 * of a period, and the page of direct reads.
 *
 * Linux, include/uapi/linux/perf_event.h, include/uapi/asm-generic/fcntl.h and
 * siginfo.h; man-pages, perf_event_open(2), "Overflow handling", and fcntl(2).
 */
#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/as.h"
#include "kern/mm/page.h"
#include "kern/mm/shared_memory.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/linux/perf_event.h"
#include "lib/string.h"

#define SIGIO 29

/* si_code of SIGIO, and si_band: EPOLLIN | EPOLLRDNORM, EPOLLHUP | EPOLLERR */
enum { POLL_IN = 1, POLL_HUP = 6, BAND_IN = 0x41, BAND_HUP = 0x18 };

enum { OWNER_TID, OWNER_PID };

/* Linux's struct perf_event_mmap_page, without the fields for tracing units. */
struct perf_page {
	uint32_t version, compat_version, lock, index;
	uint64_t offset, time_enabled, time_running, capabilities;
	uint16_t pmc_width, time_shift;
	uint32_t time_mult;
	uint64_t time_more[2];
	uint32_t size, reserved;
	uint64_t reserved_more[118];
	uint64_t data_head, data_tail, data_offset, data_size;
};
_Static_assert(offsetof(struct perf_page, data_head) == 1024, "as in Linux");

enum { BIT0_IS_DEPRECATED = 2, USER_RDPMC = 4 };
enum { RECORD_SAMPLE = 9, RECORD_USER = 2 };

/* Not if it samples: an overflow would show before its interrupt. */
bool
perf_is_direct(const struct perf_event *e)
{
	return e->page != NULL && !perf_is_software(e) && e->attr.period == 0 &&
	       !kcpc_ops->pcbe_no_user_read;
}

/*
 * The program adds a PIC's value to the offset, without an extended sign: a
 * width of 64.  At a wrap the PIC interrupts, and the page gets another offset.
 */
void
perf_show(struct kcpc_ctx *ctx, bool on)
{
	struct perf_lwp *pl = ctx->kc_perf;

	EACH_SLOT(s, pl) {
		const struct cpc_page_req *cq =
		    &ctx->kc_pcbe.ps_page->cg_req[s->request];
		const struct perf_event *e = s->e;
		bool counts = s->running && !perf_is_software(e);
		bool direct = on && counts && perf_is_direct(e);

		if (e->page == NULL)
			continue;
		__atomic_fetch_add(&e->page->lock, 1, __ATOMIC_SEQ_CST);
		e->page->index = direct ? cq->cq_index + 1 : 0;
		e->page->offset =
		    e->count - (direct ? cq->cq_last : 0) +
		    (counts ? cq->cq_data + (uint64_t)s->left : 0);
		e->page->time_enabled = e->enabled;
		e->page->time_running = e->running;
		__atomic_fetch_add(&e->page->lock, 1, __ATOMIC_SEQ_CST);
	}
}

/* Write a sample to the data pages, or count it as lost. */
static void
write_sample(struct perf_event *e, uint64_t pc)
{
	bool with_pc = (e->attr.sample_type & LINUX_SAMPLE_IP) != 0;
	size_t n = with_pc ? 2 : 1, bytes = e->pages * PAGE_SIZE;
	const uint64_t words[] = { RECORD_SAMPLE | (uint64_t)RECORD_USER << 32 |
				       (uint64_t)n * 8 << 48,
		pc };

	if (bytes == 0)
		return;
	if (!e->overwrites && e->head + n * 8 - e->page->data_tail > bytes) {
		e->lost++;
		return;
	}
	for (size_t i = 0; i < n; i++, e->head += 8)
		memcpy((char *)e->page + PAGE_SIZE + e->head % bytes, &words[i],
		    8);
	__atomic_store_n(&e->page->data_head, e->head, __ATOMIC_RELEASE);
}

/* Make the pages of a first mapping, in place of those that none maps now. */
static int
make_ring(struct perf_event *e, size_t len)
{
	size_t pages = len / PAGE_SIZE;
	struct perf_page *page = page_alloc_run(pages);

	shared_release(e->ring);
	e->ring = NULL;
	e->page = NULL;
	e->pages = e->head = 0;
	if (page == NULL)
		return ENOMEM;
	if ((e->ring = shared_adopt(page, pages)) == NULL) {
		page_free_run(page, pages);
		return ENOMEM;
	}
	entry_budget_add(pages);
	memset(page, 0, len);
	e->page = page;
	e->pages = pages - 1;
	page->capabilities =
	    BIT0_IS_DEPRECATED | (perf_is_direct(e) ? USER_RDPMC : 0);
	page->pmc_width = 64;
	page->size = offsetof(struct perf_page, reserved_more) + 16;
	page->data_offset = PAGE_SIZE;
	page->data_size = len - PAGE_SIZE;
	return 0;
}

int
perf_mmap(struct file *f, uintptr_t va, size_t len, unsigned prot,
    uint64_t offset, bool shared)
{
	struct perf_event *e = f->f_perf;
	size_t pages = len / PAGE_SIZE - 1;
	bool first = e->ring == NULL || e->ring->sm_refs == 1;
	int err;

	if (!shared || offset != 0 || (pages & (pages - 1)) != 0 ||
	    (e->attr.flags & LINUX_INHERIT) != 0 ||
	    (!first && pages != e->pages))
		return EINVAL;
	if (first && (err = make_ring(e, len)) != 0)
		return err;
	err = as_map_shared(proc_self()->p_as, va, va_to_pa(e->page), len, prot,
	    e->ring, false);
	if (err == 0) {
		if (first)
			e->overwrites = (prot & PROT_WRITE) == 0;
		perf_act(e, false, e->attr.period != 0 ? SETTLE : PERIOD);
	}
	return err;
}

static int
send_owner(const struct perf_owner *to, int sig, const struct siginfo *info)
{
	struct lwp *l = to->type == OWNER_TID ? lwp_find(to->id) : NULL;
	struct proc *p = to->type == OWNER_PID ? proc_find(to->id) : NULL;

	if (l != NULL)
		return sig_post_lwp(l, sig, info);
	return p != NULL ? sig_post_proc(p, sig, info) : 0;
}

bool
perf_overflow(struct perf_event *e, const struct lwp *l)
{
	bool last = e->limit > 0 && --e->limit == 0;
	struct siginfo info;

	write_sample(e, tf_pc(l->l_tf));
	if (e->fd == 0)
		return last;
	siginfo_set(&info, e->sig, last ? POLL_HUP : POLL_IN,
	    last ? BAND_HUP : BAND_IN);
	info.si_rest[1] = (unsigned)e->fd - 1;
	if (e->sig != 0 && send_owner(&e->owner, e->sig, &info) == 0)
		return last;
	siginfo_set(&info, SIGIO, SI_KERNEL, 0);
	send_owner(&e->owner, SIGIO, &info);
	return last;
}

void
perf_async(struct file *f, int fd, bool on)
{
	f->f_flags |= on ? O_ASYNC : 0;
	f->f_perf->fd = on ? fd + 1 : 0;
}

static int
set_owner(struct perf_event *e, struct perf_owner to)
{
	if (to.type != OWNER_TID && to.type != OWNER_PID)
		return EINVAL;
	if (to.id != 0 && (to.type == OWNER_TID ? lwp_find(to.id) == NULL
						: proc_find(to.id) == NULL))
		return ESRCH;
	e->owner = to;
	return 0;
}

#define F_SETOWN    8
#define F_SETSIG    10
#define F_SETOWN_EX 15

intptr_t
perf_fcntl(struct file *f, uintptr_t operation, uintptr_t arg)
{
	struct perf_event *e = f->f_perf;
	struct perf_owner to = { OWNER_PID, (int)arg };

	switch (operation) {
	case F_SETOWN_EX:
		if (copyin(&to, arg, sizeof to) != 0)
			return -EFAULT;
		__attribute__((fallthrough));
	case F_SETOWN:
		return -set_owner(e, to);
	case F_SETSIG:
		if (arg > NSIG)
			return -EINVAL;
		e->sig = (int)arg;
		return 0;
	default:
		return -EINVAL;
	}
}

enum { GROUP = 8 }; /* a format of read(2) */

intptr_t
perf_read(struct file *f, uintptr_t uva, size_t len)
{
	const struct perf_event *e = f->f_perf, *at;
	unsigned format = (unsigned)e->attr.format, n = 1;
	bool group = (format & GROUP) != 0;
	uint64_t v[3 + 3 * NFD];

	if (e->error)
		return 0;
	perf_act(e, group, SETTLE);
	at = group ? e->leader : e;
	v[0] = group ? 0 : e->count; /* a group's number of events */
	if ((format & 1) != 0)
		v[n++] = at->enabled;
	if ((format & 2) != 0)
		v[n++] = at->running;
	for (; at != NULL; at = group ? at->next : NULL) {
		if (group) {
			v[0]++;
			v[n++] = at->count;
		}
		if ((format & 4) != 0)
			v[n++] = at->id;
		if ((format & 16) != 0)
			v[n++] = at->lost;
	}
	n *= sizeof v[0];
	if (len < n)
		return -ENOSPC;
	return copyout(uva, v, n) != 0 ? -EFAULT : (intptr_t)n;
}

/* Begin periods of *uva events. */
static int
set_period(struct perf_event *e, uintptr_t uva)
{
	uint64_t period;

	if (copyin(&period, uva, sizeof period) != 0)
		return EFAULT;
	if (e->attr.period == 0 || (int64_t)period <= 0)
		return EINVAL;
	e->attr.period = period;
	perf_act(e, false, PERIOD);
	return 0;
}

/* PERF_EVENT_IOC_*; bit 0 of some arguments means the whole group. */
#define IOC_ENABLE  0x2400
#define IOC_DISABLE 0x2401
#define IOC_REFRESH 0x2402
#define IOC_RESET   0x2403
#define IOC_PERIOD  0x40082404
#define IOC_ID      0x80082407

intptr_t
perf_ioctl(struct file *f, unsigned request, uintptr_t arg)
{
	struct perf_event *e = f->f_perf;

	switch (request) {
	case IOC_REFRESH:
		if (e->attr.period == 0 || (e->attr.flags & LINUX_INHERIT) != 0)
			return -EINVAL;
		__builtin_add_overflow(e->limit, (int)arg, &e->limit);
		arg = 0;
		__attribute__((fallthrough));
	case IOC_ENABLE:
		((arg & 1) ? e->leader : e)->error = false;
		perf_act(e, arg & 1, ENABLE);
		return 0;
	case IOC_DISABLE:
		perf_act(e, arg & 1, DISABLE);
		return 0;
	case IOC_RESET:
		perf_act(e, arg & 1, RESET);
		e->count = 0;
		for (e = e->leader; (arg & 1) && e != NULL; e = e->next)
			e->count = 0;
		return 0;
	case IOC_PERIOD:
		return -set_period(e, arg);
	case IOC_ID:
		return -copyout(arg, &e->id, sizeof e->id);
	default:
		return -ENOTTY;
	}
}
