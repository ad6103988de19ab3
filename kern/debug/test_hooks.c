/*
 * The kernel's test hooks: allocations that fail, a summary of the state,
 * errors made on purpose, and disturbances of kcpc.
 */
#include "kern/debug/debug.h"

#include <stddef.h>

#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/command/cmdline.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"
#include "lib/string.h"

static bool hooks_on;

/* Allocations that fail.  tests/image/hostile/alloc_fail/ uses them. */
static struct {
	const struct lwp *lwp; /* only compared: it may have been freed */
	uint64_t first;        /* the number of the first that fails */
	bool all;              /* all allocations after it fail too */
	uint64_t made;
} failing;

static bool
allocation_fails(void)
{
	if (lwp_self() != failing.lwp)
		return false;
	failing.made++;
	return failing.all ? failing.made >= failing.first
	                   : failing.made == failing.first;
}

static intptr_t
begin_to_fail(uint64_t first, bool all)
{
	failing.lwp = lwp_self();
	failing.first = first;
	failing.all = all;
	failing.made = 0;
	page_alloc_fails = allocation_fails;
	return 0;
}

/* State that a failed call must not change */

/* A step of the FNV-1a hash, for a word. */
static uint64_t
hash_word(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * 0x100000001b3;
}

static void
describe_memory(const struct as *as, uint64_t *bt)
{
	for (const struct region *r = as->as_regions.rt_first; r != NULL;
	     r = r->r_next) {
		bt[BT_REGIONS]++;
		bt[BT_MAPPED] += r->r_end - r->r_start;
		bt[BT_MAP_HASH] = hash_word(bt[BT_MAP_HASH], r->r_start);
		bt[BT_MAP_HASH] = hash_word(bt[BT_MAP_HASH], r->r_end);
		bt[BT_MAP_HASH] = hash_word(bt[BT_MAP_HASH], r->r_prot);
	}
	bt[BT_PAGES] = as->as_npages;
	bt[BT_BRK] = as->as_brk;
}

static void
describe_process(const struct proc *p, uint64_t *bt)
{
	describe_memory(p->p_as, bt);
	for (unsigned fd = 0; fd < NFD; fd++)
		bt[BT_FILES] |= (uint64_t)(p->p_fd[fd] != NULL) << fd;
	bt[BT_CLOEXEC] = p->p_cloexec;
	bt[BT_SIGNALS] = p->p_nsigq;
	for (const struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling)
		bt[BT_BOUND] += l->l_bound >= 0;
}

static intptr_t
copy_state(uintptr_t uva)
{
	struct barecpc_test_state st = { 0 };
	struct kcpc_stat kst;

	kcpc_stat(&kst);
	st.bt[BT_FREE_PAGES] = page_nfree() + page_ntables;
	st.bt[BT_HEAP_BLOCKS] = kmalloc_nblocks();
	st.bt[BT_LWPS] = nlwp;
	st.bt[BT_CONTEXTS] = kst.ks_contexts;
	st.bt[BT_PICS] = kst.ks_pics;
	for (const struct proc *p = allprocs; p != NULL; p = p->p_next)
		st.bt[BT_PROCESSES]++;
	describe_process(proc_self(), st.bt);
	return -copyout(uva, &st, sizeof st);
}

/* Make the leaks that the launcher must find.  tests/cli/kernel/leaks.sh. */
static intptr_t
keep(uintptr_t what)
{
	static struct kcpc_ctx kept = { .kc_nreqs = 1 };

	if (what == 0)
		return page_alloc(0) != NULL ? 0 : -ENOMEM;
	if (what == 1)
		nlwp++;
	else
		kcpc_instance_add(&kept);
	return 0;
}

/* The call BARECPC_SYS_TEST (include/sys/barecpc.h) */

__attribute__((weak)) intptr_t
coverage_blocks(void)
{
	return -ENOTSUP;
}

intptr_t
test_hooks_syscall(const uintptr_t *a)
{
	if (!hooks_on)
		return -ENOSYS;
	switch (a[0]) {
	case BARECPC_TEST_FAIL:
		return begin_to_fail(a[1], a[2] != 0);
	case BARECPC_TEST_FAIL_END:
		page_alloc_fails = NULL;
		return (intptr_t)failing.made;
	case BARECPC_TEST_STATE:
		return copy_state(a[1]);
	case BARECPC_TEST_KNOWN:
		return a[1] < SYSCALL_NLINUX &&
		       syscall_linux[a[1]] != syscall_unknown;
	case BARECPC_TEST_COVERAGE:
		return coverage_blocks();
	case BARECPC_TEST_KEEP:
		return keep(a[1]);
	default:
		return -EINVAL;
	}
}

/*
 * Errors that the kernel makes on purpose after boot, chosen by words of
 * checks=.  tests/cli/kernel/defences.sh expects that each one is caught.
 */

/* Volatile, so that the compiler cannot see the errors and remove them. */
static volatile int32_t largest = INT32_MAX;
static void *volatile pointer;
static volatile size_t length;

/* noinline: the panic must name it. */
static __attribute__((noinline)) void
smash_stack(void)
{
	char array[24];

	pointer = array;
	length = sizeof array + 16;
	memset(pointer, 0x5a, length);
}

static void
write_freed_page(void)
{
	pointer = page_alloc(0);
	page_free(pointer, 0);
	((volatile uint8_t *)pointer)[2000] = 1;
	pointer = page_alloc(0);
}

/* Fill the blocks of pages that were taken before poisoning began. */
static void
leave_old_pages(size_t bytes)
{
	for (unsigned n = 0; n < 100; n++)
		pointer = kmalloc(bytes);
}

/* `other` keeps the slab in use, so that kfree() does not free its page. */
static void
write_freed_block(void)
{
	leave_old_pages(100);
	/* The block before or the block after keeps their page in use. */
	pointer = kmalloc(100);
	void *other = kmalloc(100);
	kfree(pointer);
	((volatile uint8_t *)pointer)[50] = 1;
	/* Until the block is handed out again; other pages may come first. */
	for (unsigned n = 0; n < 1000; n++)
		other = kmalloc(100);
	pointer = other;
}

static void
write_past(size_t bytes)
{
	length = bytes;
	leave_old_pages(bytes);
	pointer = kmalloc(bytes);
	((volatile uint8_t *)pointer)[length] = 1;
	kfree(pointer);
}

void
test_crash(uint32_t flags)
{
	if (flags & DEBUG_UNDEFINED)
		largest = largest + 1;
	if (flags & DEBUG_SMASH)
		smash_stack();
	if (flags & DEBUG_FREED_PAGE)
		write_freed_page();
	if (flags & DEBUG_FREED_BLOCK)
		write_freed_block();
	if (flags & DEBUG_PAST_BLOCK)
		write_past(100);
	if (flags & DEBUG_PAST_LARGE)
		write_past(5000);
}

/*
 * Disturbances of kcpc, by its system call (include/sys/cpc.h).
 * CPC_OP_TEST_DISTURB acts on a running context at a given tick, so that a test
 * can interrupt a direct read at any instruction.  CPC_OP_ADVANCE lets the
 * software PMU count.
 */

static void
freeze_due(struct kcpc_ctx *ctx)
{
	kcpc_stop(ctx);
	kcpc_freeze(ctx, 0);
}

/* Move the LWP to the next CPU, as another LWP's processor_bind(2) would. */
static void
migrate_due(struct kcpc_ctx *ctx)
{
	const struct cpuset *online = sched_cpus();
	unsigned self = arch_curcpu()->c_id;
	unsigned next = cpuset_next(online, online, self + 1);

	if (next >= MAXCPU)
		next = cpuset_next(online, online, 0);
	if (next < MAXCPU && next != self)
		lwp_bind(ctx->kc_lwp, &cpus[next]);
}

static struct disturbance {
	struct timer ds_timer;
	const struct lwp *ds_lwp; /* only compared: it may have been freed */
	uint64_t ds_seq;          /* the cg_seq of its context */
	void (*ds_act)(struct kcpc_ctx *ctx);
} disturbances[MAXCPU]; /* one for each CPU */

/* It does nothing if the context has stopped since. */
static void
disturbance_due(void *arg)
{
	const struct disturbance *ds = arg;
	struct lwp *l = lwp_self();

	if (l == ds->ds_lwp && l->l_cpc != NULL && kcpc_running(l->l_cpc) &&
	    l->l_cpc->kc_pcbe.ps_page->cg_seq == ds->ds_seq)
		ds->ds_act(l->l_cpc);
}

static intptr_t
disturb(const uintptr_t *a)
{
	static void (*const acts[])(struct kcpc_ctx *) = {
		[CPC_DISTURB_SWITCH] =
		    kcpc_fold, /* stops and starts the PICs */
		[CPC_DISTURB_FREEZE] = freeze_due,
		[CPC_DISTURB_INVALIDATE] = kcpc_invalidate,
		[CPC_DISTURB_MIGRATE] = migrate_due,
	};
	struct disturbance *ds = &disturbances[arch_curcpu()->c_id];
	uintptr_t how = a[1];
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_find(lwp_self(), 0, &ctx)) != 0)
		return -err;
	if (how >= sizeof acts / sizeof acts[0] || !kcpc_running(ctx))
		return -EINVAL;
	ds->ds_lwp = lwp_self();
	ds->ds_seq = ctx->kc_pcbe.ps_page->cg_seq;
	ds->ds_act = acts[how];
	timer_start(&ds->ds_timer, arch_tick() + a[0], disturbance_due, ds);
	return 0;
}

static intptr_t
advance_soft_pmu(const uintptr_t *a)
{
	if (kcpc_ops->advance == NULL)
		return -ENOTSUP;
	kcpc_ops->advance(a[0], a[1] & (CPC_COUNT_USER | CPC_COUNT_SYSTEM));
	return 0;
}

void
test_hooks_init(bool on)
{
	hooks_on = on;
	kcpc_add_op(CPC_OP_TEST_DISTURB, disturb);
	kcpc_add_op(CPC_OP_ADVANCE, advance_soft_pmu);
}
