/*
 * The witness: its operations replace four of the backend's and read the kept
 * PIC next to where the PICs of a set start and stop.  Without a witness, kcpc
 * calls the backend directly, at no cost.
 *
 * A form that uses these operations alone was tried, without pc_witnessed and
 * the call from the idle loop.  It did not know the event in a fixed counter of
 * Intel.  So `conserve 1 50` failed on x86-64: it had 0 windows instead of
 * 25,254.  Idle time counted as unowned, so idle_counts_are_separate of
 * tests/host/kern/cpc/witness.c failed, too.
 */
#include "kern/cpc/test/witness.h"

#include <stddef.h>

#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "kern/sched/timer.h"
#include "lib/printf.h"
#include "lib/string.h"

#define FILTER (CPC_COUNT_USER | CPC_COUNT_SYSTEM | CPC_COUNT_HV)

/* A timer reads a narrower PIC this often, before it can wrap unseen. */
#define WIDE_BITS 40
#define READ_NS   (100 * 1000000)

bool witness_on;

static struct {
	struct pcbe_ops wt_ops; /* the backend's, four of them replaced */
	const struct pcbe_ops *wt_base;
	struct cpc_event wt_event;
	uint16_t wt_flags;
	uint8_t wt_pic;
	/* Instructions that a set counts outside its window. */
	uint64_t wt_outside;
} wt;

/*
 * The witness of one CPU.  A window is open while a set runs that has a
 * request for the witness's event.  It lies between two reads of the witness.
 */
static struct witness_cpu {
	bool wc_started;
	struct pcbe_set wc_set; /* the witness's own */
	struct pcbe_cfg wc_cfg;
	struct cpc_page wc_page;
	struct cpc_page_req wc_req; /* cg_req[0] of wc_page */
	struct timer wc_timer;

	uint64_t wc_now;  /* the witness's count at the last read */
	uint64_t wc_mark; /* the part of it that is on some account */

	const struct pcbe_set *wc_open; /* the set whose window is open */
	int wc_lwp;                     /* the LWP of that set */
	uint64_t wc_seen;               /* the witness's count in the window */
	uint64_t wc_before;             /* the set's count when it opened */

	/* The accounts. */

	uint64_t wc_lwps, wc_unowned, wc_idle, wc_windows;
} witness_cpus[MAXCPU];

static uint64_t wrong;
static struct {
	unsigned cpu;
	int lwp;
	uint64_t counted, seen;
} first_wrong;

static struct witness_cpu *
witness_self(void)
{
	return &witness_cpus[arch_curcpu()->c_id];
}

static void
witness_read(struct witness_cpu *wc)
{
	struct {
		struct cpc_sample head;
		uint64_t held;
	} s;

	/* The difference modulo the PIC's width is what it counted. */
	wt.wt_base->sample(&wc->wc_set, &s.head);
	wc->wc_now += (s.held - wc->wc_now) & wc->wc_cfg.pc_mask;
}

/* The events since the last call, which the caller puts on an account. */
static uint64_t
take_since_mark(struct witness_cpu *wc)
{
	uint64_t n = wc->wc_now - wc->wc_mark;

	wc->wc_mark = wc->wc_now;
	return n;
}

/* The count of the set's request for the witness's event, or NULL. */
static const uint64_t *
witnessed_count(const struct pcbe_set *set)
{
	for (unsigned i = 0; i < set->ps_n; i++) {
		if (set->ps_cfg[i].pc_witnessed)
			return &set->ps_page->cg_req[i].cq_data;
	}
	return NULL;
}

static int
configure(struct pcbe_cfg *cfg, const struct cpc_event *ev, unsigned nattrs,
    const struct cpc_packattr *attrs, struct pcbe_set *set,
    struct cpc_refusal *rf)
{
	cfg->pc_witnessed = nattrs == 0 && ev->ce_code == wt.wt_event.ce_code &&
	                    (cfg->pc_flags & FILTER) == wt.wt_flags;
	return wt.wt_base->configure(cfg, ev, nattrs, attrs, set, rf);
}

/*
 * The backend starts PICs last in program() and stops them first in stop().
 * So the same few instructions always run between that and the read of the
 * witness: wt_outside.
 */

static void
program(struct pcbe_set *set)
{
	struct witness_cpu *wc = witness_self();
	const uint64_t *count;

	ASSERT(wc->wc_open == NULL);
	wt.wt_base->program(set);
	witness_read(wc);
	wc->wc_unowned += take_since_mark(wc);
	wc->wc_lwp = lwp_self() != NULL ? lwp_self()->l_id : 0;
	if ((count = witnessed_count(set)) == NULL)
		return;
	wc->wc_before = *count;
	wc->wc_open = set;
}

/* The window has closed: compare the set's count with the witness's. */
static void
window_close(struct witness_cpu *wc, uint64_t counted)
{
	uint64_t want = wc->wc_seen + wt.wt_outside;

	wc->wc_windows++;
	if (counted == want) {
		wc->wc_lwps += want;
		return;
	}
	wc->wc_lwps += counted;
	if (wrong++ == 0) {
		first_wrong.cpu = arch_curcpu()->c_id;
		first_wrong.lwp = wc->wc_lwp;
		first_wrong.counted = counted;
		first_wrong.seen = want;
	}
}

static uint64_t
stop(struct pcbe_set *set)
{
	struct witness_cpu *wc = witness_self();

	witness_read(wc);
	uint64_t overflowed = wt.wt_base->stop(set);
	if (wc->wc_open == set) {
		wc->wc_seen = take_since_mark(wc);
		wc->wc_open = NULL;
		window_close(wc, *witnessed_count(set) - wc->wc_before);
	} else {
		wc->wc_unowned += take_since_mark(wc);
	}
	return overflowed;
}

/* allstop() drops the counts of a set: its window is not compared. */
static void
allstop(void)
{
	struct witness_cpu *wc = witness_self();

	witness_read(wc);
	wt.wt_base->allstop();
	wc->wc_open = NULL;
	wc->wc_unowned += take_since_mark(wc);
}

void
witness_idle(bool idle)
{
	struct witness_cpu *wc = witness_self();

	/* If a set of the CPU runs, it counts the idle loop, too. */
	if (!wc->wc_started || wc->wc_open != NULL)
		return;
	witness_read(wc);
	if (idle)
		wc->wc_unowned += take_since_mark(wc);
	else
		wc->wc_idle += take_since_mark(wc);
}

static void
read_due(void *arg)
{
	struct witness_cpu *wc = arg;

	witness_read(wc);
	timer_start(
	    &wc->wc_timer, arch_tick() + ns_to_tick(READ_NS), read_due, wc);
}

static int
witness_configure(struct witness_cpu *wc)
{
	wc->wc_cfg.pc_pic = wt.wt_pic;
	wc->wc_cfg.pc_flags = wt.wt_flags;
	wc->wc_set.ps_pics = 1U << wt.wt_pic;
	wc->wc_set.ps_cfg = &wc->wc_cfg;
	wc->wc_set.ps_page = &wc->wc_page;
	wc->wc_set.ps_n = 1;
	return wt.wt_base->configure(
	    &wc->wc_cfg, &wt.wt_event, 0, NULL, &wc->wc_set, NULL);
}

void
witness_cpu_init(void)
{
	struct witness_cpu *wc = witness_self();

	if (!witness_on || wc->wc_started)
		return;
	wc->wc_started = true;
	if (witness_configure(wc) != 0)
		panic("witness: what one CPU counts another does not");
	wt.wt_base->keep(&wc->wc_set);
	if (wt.wt_base->width(wt.wt_pic) < WIDE_BITS)
		read_due(wc);
}

/* Make a set of n requests for the witness's event, on the n lowest `pics`. */
static bool
make_set(struct pcbe_set *set, unsigned n, uint64_t pics)
{
	struct pcbe_cfg *cfgs = set->ps_cfg;

	for (unsigned i = 0; i < n; i++, pics &= pics - 1) {
		cfgs[i].pc_pic = (uint8_t)__builtin_ctzll(pics);
		cfgs[i].pc_flags = wt.wt_flags;
		set->ps_pics |= 1U << cfgs[i].pc_pic;
		if (configure(&cfgs[i], &wt.wt_event, 0, NULL, set, NULL) != 0)
			return false;
		set->ps_n++;
	}
	return true;
}

/*
 * The number that each of n PICs counts outside the window when all of them
 * are started and stopped.  ~0 if the PICs differ.
 */
static uint64_t
measure_outside(struct witness_cpu *wc, unsigned n, uint64_t pics)
{
	struct pcbe_cfg cfgs[PCBE_MAXPIC] = { 0 };
	struct {
		struct cpc_page page;
		struct cpc_page_req req[PCBE_MAXPIC];
	} counts = { 0 };
	struct pcbe_set set = { .ps_cfg = cfgs, .ps_page = &counts.page };
	unsigned i;

	if (!make_set(&set, n, pics))
		return ~0ULL;
	program(&set);
	stop(&set);
	for (i = 1; i < n && counts.req[i].cq_data == counts.req[0].cq_data;)
		i++;
	return i == n ? counts.req[0].cq_data - wc->wc_seen : ~0ULL;
}

/*
 * Measure wt_outside.  False if it depends on the number of PICs.  At user
 * privilege it is 0, because these instructions are the kernel's.
 */
static bool
measure_outside_all(uint64_t pics)
{
	unsigned n = (unsigned)__builtin_popcountll(pics);
	struct witness_cpu *wc = witness_self();

	wt.wt_outside = 0;
	if ((wt.wt_flags & CPC_COUNT_SYSTEM) == 0)
		return true;
	wt.wt_outside = measure_outside(wc, 1, pics);
	for (unsigned i = 1; i <= n; i++) {
		if (measure_outside(wc, i, pics) != wt.wt_outside)
			return false;
	}
	/* Start all accounts from 0. */
	witness_read(wc);
	wc->wc_req.cq_data -= wc->wc_now;
	wc->wc_now = wc->wc_mark = 0;
	wc->wc_lwps = wc->wc_unowned = wc->wc_windows = wrong = 0;
	return wt.wt_outside != ~0ULL;
}

/* Make kcpc call the witness's operations instead of the backend's. */
static void
replace_ops(void)
{
	wt.wt_base = kcpc_ops;
	wt.wt_ops = *kcpc_ops;
	wt.wt_ops.configure = configure;
	wt.wt_ops.program = program;
	wt.wt_ops.allstop = allstop;
	wt.wt_ops.stop = stop;
	kcpc_ops = &wt.wt_ops;
}

bool
witness_init(uint32_t flags)
{
	memset(witness_cpus, 0, sizeof witness_cpus); /* host tests reboot */
	wrong = 0;
	/* Two PICs that both count too much would agree. */
	if (kcpc_ops == NULL || kcpc_ops->keep == NULL || kcpc_crosstalk) {
		printf("witness: %s\n",
		    kcpc_crosstalk ? kcpc_crosstalk
				   : "this machine has no PIC to keep back");
		return false;
	}
	uint64_t pics = kcpc_ops->known_event(PCBE_INSTRUCTIONS, &wt.wt_event);
	pics &= kcpc_types[0].kt_pics;
	if (__builtin_popcountll(pics) < 2) {
		printf("witness: needs two PICs that count instructions\n");
		return false;
	}
	/* The highest PIC can count the fewest other events. */
	wt.wt_pic = (uint8_t)(63 - __builtin_clzll(pics));
	wt.wt_flags = (uint16_t)flags;
	kcpc_keep_back(wt.wt_pic, "kept back as the witness");
	replace_ops();
	witness_on = true;
	witness_cpu_init();
	if (!measure_outside_all(pics & ~(1ULL << wt.wt_pic))) {
		printf("witness: the PICs do not start and stop together: "
		       "witness=user is all this machine can have\n");
		return false;
	}
	return true;
}

bool
witness_counts(uint32_t flags)
{
	return witness_on && (wt.wt_flags & flags) != 0;
}

int
witness_stat(struct barecpc_witness *bw)
{
	if (!witness_on)
		return ENODEV;
	*bw = (struct barecpc_witness){ .bw_wrong = wrong };
	bw->bw_flags = wt.wt_flags;
	bw->bw_pic = wt.wt_pic;
	for (unsigned i = 0; i < ncpu; i++) {
		const struct witness_cpu *wc = &witness_cpus[i];

		bw->bw_count += wc->wc_mark;
		bw->bw_lwps += wc->wc_lwps;
		bw->bw_unowned +=
		    wc->wc_unowned - wt.wt_outside * wc->wc_windows;
		bw->bw_idle += wc->wc_idle;
		bw->bw_windows += wc->wc_windows;
	}
	return 0;
}

static const char *
privileges_text(void)
{
	switch (wt.wt_flags) {
	case CPC_COUNT_USER:
		return "user";
	case CPC_COUNT_SYSTEM:
		return "system";
	default:
		return "user and system";
	}
}

bool
witness_end(void)
{
	uint64_t windows = 0;

	if (!witness_on)
		return true;
	timer_stop(&witness_self()->wc_timer);
	witness_read(witness_self());
	witness_self()->wc_unowned += take_since_mark(witness_self());
	printf("witness: PIC %u, %s instructions; a set counts %lu outside its "
	       "window\n",
	    wt.wt_pic, privileges_text(), (unsigned long)wt.wt_outside);
	for (unsigned i = 0; i < ncpu; i++) {
		const struct witness_cpu *wc = &witness_cpus[i];
		uint64_t outside_all = wt.wt_outside * wc->wc_windows;

		windows += wc->wc_windows;
		printf("witness: CPU %u: %lu = %lu of LWPs + %lu unowned + %lu "
		       "idle, %lu windows\n",
		    i, (unsigned long)wc->wc_mark, (unsigned long)wc->wc_lwps,
		    (unsigned long)(wc->wc_unowned - outside_all),
		    (unsigned long)wc->wc_idle, (unsigned long)wc->wc_windows);
	}
	if (wrong == 0) {
		printf("witness: agrees in each of %lu windows\n",
		    (unsigned long)windows);
		return true;
	}
	printf("witness: differs in %lu of %lu windows, first on CPU %u, LWP "
	       "%d: counted %lu, not %lu\n",
	    (unsigned long)wrong, (unsigned long)windows, first_wrong.cpu,
	    first_wrong.lwp, (unsigned long)first_wrong.counted,
	    (unsigned long)first_wrong.seen);
	return false;
}
