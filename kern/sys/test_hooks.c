/*
 * Test hooks, by the private call BARECPC_SYS_TEST (include/sys/barecpc.h).
 * They make allocations fail, and summarize the state that a failed call must
 * not change.  tests/image/hostile/alloc_fail/alloc_fail.c uses them.
 */
#include "kern/sys/test_hooks.h"

#include <stddef.h>

#include "include/sys/barecpc.h"
#include "kern/cpc/kcpc.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sys/coverage.h"
#include "kern/sys/syscall.h"

static bool hooks_on;

/*
 * Allocations that fail
 */

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

static intptr_t
end_to_fail(void)
{
	page_alloc_fails = NULL;
	return (intptr_t)failing.made;
}

/*
 * State
 */

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
	describe_memory(&p->p_as, bt);
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

/*
 * The call
 */

intptr_t
test_hooks_syscall(const uintptr_t *a)
{
	if (!hooks_on)
		return -ENOSYS;
	switch (a[0]) {
	case BARECPC_TEST_FAIL:
		return begin_to_fail(a[1], a[2] != 0);
	case BARECPC_TEST_FAIL_END:
		return end_to_fail();
	case BARECPC_TEST_STATE:
		return copy_state(a[1]);
	case BARECPC_TEST_KNOWN:
		return a[1] < SYSCALL_NLINUX &&
		       syscall_linux[a[1]] != syscall_unknown;
	case BARECPC_TEST_COVERAGE:
		return coverage_blocks();
	default:
		return -EINVAL;
	}
}

void
test_hooks_init(bool on)
{
	hooks_on = on;
}
