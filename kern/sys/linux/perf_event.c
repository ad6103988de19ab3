/*
 * perf_event_open(2): Linux's counters, for the calling thread and, if they are
 * inherited, for the threads and processes that it creates.
 *
 * All events of an LWP share its context of kcpc, which counts for those that
 * are enabled.  A change of one of them stops it, adds its counts to the
 * events, and makes another.  Nothing is multiplexed: a group that finds too
 * few PICs free does not run, and its time_running stands still.
 *
 * Linux, include/uapi/linux/perf_event.h; man-pages, perf_event_open(2).
 */
#include <stddef.h>

#include "events/pmu.h"
#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/profile/profile_impl.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/mm/shared_memory.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/xcall.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/linux/perf_event.h"
#include "kern/sys/syscall.h"

/* Flags of the call. */
enum { NO_GROUP = 1, OUTPUT = 2, CLOEXEC = 8 };

static struct perf_lwp *all;

/* By PERF_COUNT_SW_*.  A switch is in the kernel, a fault in the program. */
static uint64_t
software_count(
    const struct linux_attr *attr, const struct cpc_profile_usage *is)
{
	uint64_t user = (attr->flags & LINUX_NO_USER) == 0;
	uint64_t kernel = (attr->flags & LINUX_NO_KERNEL) == 0;
	const uint64_t counts[LINUX_NEVENTS] = { is->cu_task_ns, is->cu_task_ns,
		user * is->cu_faults, kernel * is->cu_switches,
		kernel * is->cu_migrations, user * is->cu_faults };

	return counts[attr->config];
}

/*
 * Add a request's count, which began at -s->left, to its event.  As on Linux,
 * several periods at once end as one.  If the kernel's events end one before
 * the program goes on, the next is longer, until it goes on.
 */
static void
fold_request(struct perf_lwp *pl, struct slot *s, uint64_t *count)
{
	uint64_t n = *count + (uint64_t)s->left, period = s->e->attr.period;
	bool still = tf_pc(pl->lwp->l_tf) == s->pc &&
	             (s->e->attr.flags & LINUX_NO_KERNEL) == 0;

	s->e->count += n;
	if (period != 0) {
		s->left -= (int64_t)n;
		if (s->left <= 0) {
			s->left += (int64_t)period;
			if (s->left <= 0)
				s->left = (int64_t)period;
			s->delay = still ? s->delay * 2 % 1000000 + 1000 : 0;
			s->left += s->delay;
			s->pc = tf_pc(pl->lwp->l_tf);
			s->enabled &= !perf_overflow(s->e, pl->lwp);
			pl->stale |= !s->enabled;
		}
	}
	*count = -(uint64_t)s->left;
}

/* Add the counts of the LWP's context, which is stopped, to its events. */
static void
fold(struct perf_lwp *pl)
{
	struct kcpc_ctx *ctx = pl->lwp->l_cpc;
	const struct cpc_profile_usage is = kcpc_usage_take(ctx);
	bool lost = (ctx->kc_flags & KCPC_CTX_INVALID) != 0;

	EACH_SLOT(s, pl) {
		bool software = perf_is_software(s->e);

		if (s->counted)
			s->e->enabled += is.cu_task_ns;
		if (s->running && (software || !lost))
			s->e->running += is.cu_task_ns;
		if (s->running && software)
			s->e->count += software_count(&s->e->attr, &is);
		else if (s->running)
			fold_request(pl, s, kcpc_count(ctx, s->request));
	}
	if (!lost && (ctx->kc_flags & KCPC_CTX_SIGOVF) != 0) /* it is done */
		ctx->kc_flags &= ~(KCPC_CTX_FREEZE | KCPC_CTX_SIGOVF);
}

static void
hold(struct perf_lwp *pl)
{
	kcpc_stop(pl->lwp->l_cpc);
	fold(pl);
}

/* The requests that get PICs; the kernel lock guards it. */
static struct {
	struct cpc_pack pack;
	struct cpc_packreq req[PCBE_MAXPIC];
	/* All groups of this kind had room; it has some; one excludes more. */
	bool room, some, alone;
} wanted;
#define NWANTED wanted.pack.cp_nreqs

/* Add an event to `wanted`, to count from -left.  Is there room? */
static bool
want(const struct perf_event *e, int64_t left)
{
	if (perf_is_software(e))
		return true;
	if (NWANTED == PCBE_MAXPIC)
		return false;
	wanted.req[NWANTED] = e->req;
	wanted.req[NWANTED++].cr_preset = -(uint64_t)left;
	return true;
}

/*
 * Make a context for `wanted` in place of *ctx, whose memory it takes.  Returns
 * 0 or an errno.
 */
static int
remake(struct kcpc_ctx **ctx)
{
	struct cpc_refusal rf;

	if (*ctx != NULL)
		kcpc_ctx_destroy(*ctx);
	*ctx = NULL;
	return kcpc_ctx_create(&wanted.pack, false, 0, NULL, ctx, &rf);
}

/*
 * Have the context count for a group, too, if it can.  As in Linux, none of
 * its kind follows one that cannot.  Groups without PICs always count.
 */
static void
place_group(struct perf_lwp *pl, struct perf_event *e, struct kcpc_ctx **ctx)
{
	bool excludes = (e->attr.flags & LINUX_EXCLUSIVE) != 0, fits = true;
	uint16_t before = NWANTED;

	EACH_SLOT(s, pl) {
		if (!s->enabled || s->e->leader != e)
			continue;
		s->request = NWANTED;
		s->counted = s->running = true;
		fits = fits && want(s->e, s->left);
	}
	if (fits && NWANTED == before)
		return;
	fits = fits && wanted.room && !wanted.alone &&
	       !(excludes && wanted.some) && kcpc_lwp_check() == 0;
	if (fits && remake(ctx) != 0) {
		NWANTED = before;
		remake(ctx); /* as it was */
		fits = false;
	}
	wanted.some |= fits;
	wanted.alone |= fits && excludes;
	if (fits)
		return;
	NWANTED = before;
	wanted.room = false;
	e->error =
	    (e->attr.flags & LINUX_PINNED) != 0 && pl->lwp->l_tid == e->tid;
	EACH_SLOT(s, pl)
		s->running &= s->e->leader != e;
}

/* Pinned groups first, then the others. */
static void
place_groups(struct perf_lwp *pl, struct kcpc_ctx **ctx)
{
	wanted.alone = false;
	EACH_SLOT(s, pl)
		s->counted = s->running = false;
	for (int pinned = 1; pinned >= 0; pinned--) {
		wanted.room = true;
		wanted.some = false;
		EACH_SLOT(s, pl) {
			if (s->e->leader == s->e && s->enabled &&
			    !s->e->error &&
			    pinned == !!(s->e->attr.flags & LINUX_PINNED))
				place_group(pl, s->e, ctx);
		}
	}
}

/*
 * Are there direct reads?  Then a PIC counts, so that they stay open when an
 * event stops in between: they do not fault, but start again.
 */
static bool
keep_open(struct perf_lwp *pl, struct kcpc_ctx **ctx)
{
	bool direct = false;

	EACH_SLOT(s, pl) {
		if (!perf_is_direct(s->e))
			continue;
		direct = true;
		if (NWANTED == 0 && kcpc_lwp_check() == 0) {
			want(s->e, 0);
			if (remake(ctx) != 0) {
				NWANTED = 0;
				remake(ctx);
			}
		}
	}
	return direct;
}

/*
 * Make the LWP's context again, for what is enabled.  It does not count yet. If
 * it is the first and memory is out, pl is freed.
 */
static int
place(struct perf_lwp *pl)
{
	struct kcpc_ctx *ctx = NULL, *old = pl->lwp->l_cpc;
	struct kcpc_usage usage = { 0 };

	if (old != NULL) {
		usage = old->kc_usage;
		kcpc_instance_remove(old);
		kcpc_ctx_destroy(old); /* its memory is there for the next */
	}
	NWANTED = 0;
	if (remake(&ctx) != 0) {
		kfree(pl);
		return ENOMEM;
	}
	pl->stale = false;
	place_groups(pl, &ctx);
	bool direct = keep_open(pl, &ctx);
	ctx->kc_lwp = pl->lwp;
	ctx->kc_proc = pl->lwp->l_proc;
	ctx->kc_flags |=
	    KCPC_CTX_PROFILE | (ctx->kc_nreqs == 0 ? KCPC_CTX_FREEZE : 0);
	ctx->kc_pcbe.ps_user_read = direct;
	ctx->kc_profile = &kcpc_perf_profile;
	ctx->kc_perf = pl;
	ctx->kc_usage = usage;
	kcpc_instance_add(ctx);
	pl->lwp->l_cpc = ctx;
	if (old != NULL)
		return 0;
	pl->next = all;
	all = pl;
	kcpc_usage_begin(ctx);
	if (pl->lwp == lwp_self())
		kcpc_usage_on(ctx);
	return 0;
}

static void
start_here(void *ctx)
{
	kcpc_start(ctx);
}

/* The LWP's context counts again, if its LWP is on a CPU. */
static void
go_on(const struct perf_lwp *pl)
{
	struct cpu *c = kcpc_counting_cpu(pl->lwp->l_cpc);

	perf_show(pl->lwp->l_cpc, false); /* it may not start */
	if (c == arch_curcpu())
		kcpc_start(pl->lwp->l_cpc);
	else if (c != NULL)
		xcall(c, start_here, pl->lwp->l_cpc);
}

static bool
is_of(const struct perf_event *its, const struct perf_event *e, bool group)
{
	return its == e || (group && its->leader == e->leader);
}

void
perf_act(const struct perf_event *e, bool group, enum perf_action action)
{
	for (struct perf_lwp *pl = all, *next; pl != NULL; pl = next) {
		unsigned left = 0, touched = 0;

		next = pl->next;
		EACH_SLOT(s, pl)
			touched += is_of(s->e, e, group);
		if (touched == 0)
			continue;
		entry_budget_add(1 + pl->n);
		hold(pl);
		EACH_SLOT(s, pl) {
			bool its = is_of(s->e, e, group);

			if (its && action >= CLOSE)
				s->enabled = action == ENABLE;
			if (its && action == RESET)
				s->e->count = 0;
			if (its && action == PERIOD)
				s->left = (int64_t)s->e->attr.period;
			if (!its || action != CLOSE)
				pl->slot[left++] = *s;
		}
		pl->n = left;
		if (action > RESET || pl->stale)
			place(pl); /* cannot fail: memory is there */
		if (left == 0)
			kcpc_drop(pl->lwp);
		else
			go_on(pl);
	}
}

static void
executed(struct lwp *l)
{
	struct perf_lwp *pl = l->l_cpc->kc_perf;

	hold(pl);
	EACH_SLOT(s, pl) {
		s->enabled |= s->at_exec;
		s->at_exec = false;
	}
	place(pl);
	go_on(pl);
}

/* The LWP's context froze at the end of a period. */
static void
overflowed(struct kcpc_ctx *ctx)
{
	struct perf_lwp *pl = ctx->kc_perf;

	ctx->kc_flags &= ~KCPC_CTX_FREEZE;
	fold(pl);
	if (pl->stale)
		place(pl);
	go_on(pl);
}

/* The context, which is stopped, goes with its LWP or its last event. */
static void
ended(struct kcpc_ctx *ctx)
{
	struct perf_lwp **at = &all;

	fold(ctx->kc_perf);
	while (*at != ctx->kc_perf)
		at = &(*at)->next;
	*at = ctx->kc_perf->next;
	kfree(ctx->kc_perf);
}

static int
inherit(const struct lwp *parent, struct lwp *child)
{
	struct perf_lwp *pl = kmalloc(sizeof *pl);

	if (pl == NULL)
		return EAGAIN;
	pl->lwp = child;
	EACH_SLOT(s, parent->l_cpc->kc_perf) {
		if ((s->e->attr.flags & LINUX_INHERIT) == 0)
			continue;
		pl->slot[pl->n] = *s;
		pl->slot[pl->n++].left = (int64_t)s->e->attr.period;
	}
	if (pl->n != 0)
		return place(pl) != 0 ? EAGAIN : 0;
	kfree(pl);
	return 0;
}

/* Its last descriptor is closed.  Without a leader each event is a group. */
static void
event_close(struct file *f)
{
	struct perf_event *e = f->f_perf, *at = e->leader, *next;

	while (at != e && at->next != e)
		at = at->next;
	if (at != e)
		at->next = e->next;
	for (at = at == e ? e->next : NULL; at != NULL; at = next) {
		next = at->next;
		at->leader = at;
		at->next = NULL;
	}
	perf_act(e, false, CLOSE);
	shared_release(e->ring);
	kfree(e);
}

void
perf_event_init(void)
{
	static const struct device_ops file_ops = { .release = event_close };
	static const struct kcpc_perf_ops ops = { inherit, executed, ended,
		overflowed, perf_show };

	file_register(FILE_PERF, &file_ops);
	kcpc_perf = &ops;
}

/* Copy a struct that may be older or newer than this kernel's. */
static int
attr_copyin(uintptr_t uva, struct linux_attr *attr)
{
	uintptr_t size_at = uva + offsetof(struct linux_attr, size);
	uint32_t size, at = sizeof *attr, own = at;
	uint8_t byte = 0;

	if (copyin(&size, size_at, sizeof size) != 0)
		return EFAULT;
	size = size == 0 ? LINUX_ATTR_LEAST : size;
	if (size < LINUX_ATTR_LEAST || size > PAGE_SIZE)
		byte = 1;
	else if (copyin(attr, uva, size < own ? size : own) != 0)
		return EFAULT;
	for (; byte == 0 && at < size; at++) {
		if (copyin(&byte, uva + at, 1) != 0)
			return EFAULT;
	}
	if (byte == 0)
		return 0;
	return copyout(size_at, &own, sizeof own) != 0 ? EFAULT : E2BIG;
}

/* Only the caller can be counted, on all CPUs. */
static int
check_target(int pid, int cpu)
{
	if (pid == -1)
		return cpu < 0 ? EINVAL : EACCES;
	if (pid != 0 && pid != lwp_self()->l_tid)
		return lwp_find(pid) != NULL ? EACCES : ESRCH;
	return cpu == -1 ? 0 : EINVAL;
}

/* Can the PICs count an event, with the group of `at`? */
static int
check_fits(const struct perf_event *e, const struct perf_event *at)
{
	bool alone = at == NULL, room = true;
	struct kcpc_ctx *ctx = NULL;
	int err = EINVAL;

	NWANTED = 0;
	for (; at != NULL; at = at->next)
		room = room && want(at, 0);
	if (room && want(e, 0) && (err = remake(&ctx)) == 0)
		kcpc_ctx_destroy(ctx);
	if (err == 0 || err == ENOMEM || err == ENOTSUP)
		return err;
	if (alone)
		return e->attr.type == LINUX_RAW ? EINVAL : ENOENT;
	err = check_fits(e, NULL);
	return err != 0 ? err : EINVAL;
}

/* Add an event to those of the current LWP. */
static int
attach(struct perf_event *e)
{
	struct kcpc_ctx *ctx = lwp_self()->l_cpc;
	struct perf_lwp *pl = ctx != NULL ? ctx->kc_perf : kmalloc(sizeof *pl);

	if (pl == NULL)
		return ctx != NULL ? EBUSY : ENOMEM; /* a set is bound */
	if (pl->n == NFD)
		return ENOSPC;
	if (ctx != NULL)
		hold(pl);
	pl->lwp = lwp_self();
	pl->slot[pl->n++] = (struct slot){ .e = e,
		.enabled = (e->attr.flags & LINUX_DISABLED) == 0,
		.at_exec = (e->attr.flags & LINUX_ON_EXEC) != 0,
		.left = (int64_t)e->attr.period };
	if (place(pl) != 0)
		return ENOMEM;
	go_on(pl);
	return 0;
}

/* Open the event, in the leader's group.  Returns 0 or an errno. */
static int
event_open(struct perf_event *e, struct perf_event *leader)
{
	static uint64_t last_id;
	struct cpc_pmu pm = { .pm_kind = 0 };
	struct perf_event *last = leader;
	int err, n = 1;

	if (kcpc_ops == NULL)
		return ENOENT;
	e->leader = leader != NULL ? leader : e;
	e->tid = lwp_self()->l_tid;
	e->id = ++last_id;
	if (e->leader->leader != e->leader || e->leader->tid != e->tid ||
	    ((e->leader->attr.flags ^ e->attr.flags) & LINUX_INHERIT) != 0 ||
	    (leader != NULL &&
		(e->attr.flags & (LINUX_PINNED | LINUX_EXCLUSIVE)) != 0))
		return EINVAL;
	/* The tid may be that of an LWP that has gone: execve(2) gives it. */
	for (; last != NULL && last->next != NULL; last = last->next)
		n++;
	if (n == NFD)
		return ENOSPC;
	kcpc_ops->describe(&pm, 0);
	err = events_linux(&pm, &e->attr, lwp_self()->l_system, &e->req);
	if (e->attr.period != 0)
		e->req.cr_flags |= CPC_OVF_NOTIFY_EMT;
	if (err != 0 ||
	    (!perf_is_software(e) && (err = check_fits(e, leader)) != 0) ||
	    (err = attach(e)) != 0)
		return err;
	if (last != NULL)
		last->next = e;
	return 0;
}

intptr_t
sys_perf_event_open(const uintptr_t *a)
{
	const struct file *group = file_get((int)a[3]);
	struct linux_attr attr = { 0 };
	struct perf_event *e;
	struct file *f;
	int err;

	if ((a[4] & ~(uintptr_t)(NO_GROUP | OUTPUT | CLOEXEC)) != 0)
		return -EINVAL;
	if ((err = attr_copyin(a[0], &attr)) != 0 ||
	    (err = events_linux_check(&attr)) != 0)
		return -err;
	if ((int)a[3] != -1 && (group == NULL || group->f_kind != FILE_PERF))
		return -EBADF;
	if ((err = check_target((int)a[1], (int)a[2])) != 0)
		return -err;
	if ((a[4] & NO_GROUP) != 0)
		group = NULL;
	err = ENOMEM;
	e = kmalloc(sizeof *e);
	if ((f = file_new(FILE_PERF, O_RDWR)) != NULL && e != NULL) {
		f->f_perf = e;
		e->attr = attr;
		err = event_open(e, group != NULL ? group->f_perf : NULL);
	}
	kcpc_asked(err != 0);
	if (err == 0)
		return install_file(f, (a[4] & CLOEXEC) != 0);
	kfree(e);
	kfree(f);
	return -err;
}
