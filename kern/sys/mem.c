/* System calls on memory: brk(2), mmap(2) and the like. */
#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/file/file.h"
#include "kern/file/tmp.h"
#include "kern/mm/as.h"
#include "kern/mm/shared_memory.h"
#include "kern/platform/entry_budget.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/xcall.h"
#include "kern/sys/file/wait_files.h"
#include "kern/sys/syscall.h"

/* Linux's values.  PROT_* of the kernel have the same (checked below). */
#define LINUX_PROT_MASK     7u
#define MAP_SHARED          0x01
#define MAP_PRIVATE         0x02
#define MAP_SHARED_VALIDATE 0x03
#define MAP_TYPE            0x0f
#define MAP_FIXED           0x10
#define MAP_ANONYMOUS       0x20
#define MAP_LOCKED          0x2000
#define MAP_FIXED_NOREPLACE 0x100000
#define MAP_OLD             0x7f9f3u /* what MAP_SHARED_VALIDATE takes */
#define MREMAP_MAYMOVE      1

_Static_assert(PROT_READ == 1 && PROT_WRITE == 2 && PROT_EXEC == 4,
    "Linux's numbers are passed on as they are");

static size_t
round_page(size_t len)
{
	return (len + PAGE_SIZE - 1) & -PAGE_SIZE;
}

/*
 * Would private writable memory be over RLIMIT_DATA, with so many bytes more,
 * and if that in [va, end) were writable, too?
 */
static bool
is_over_limit(const struct as *as, size_t more, uintptr_t va, uintptr_t end)
{
	uint64_t limit = proc_self()->p_limit[LIMIT_DATA].li_soft;
	size_t bytes = 0;
	const struct region *r = as->as_regions.rt_first;

	if (limit == UINT64_MAX)
		return false;
	for (; r != NULL && r->r_end != REGION_TOP; r = r->r_next) {
		entry_budget_add(1);
		if (r->r_shared)
			continue;
		if (r->r_prot & PROT_WRITE)
			bytes += r->r_end - r->r_start;
		else if (r->r_start < end && va < r->r_end)
			more += (r->r_end < end ? r->r_end : end) -
			        (va < r->r_start ? r->r_start : va);
	}
	return more > 0 && bytes + more > limit;
}

/* Returns the new end of the heap, or on failure the old one. */
intptr_t
sys_brk(const uintptr_t *a)
{
	struct as *as = proc_self()->p_as;
	uintptr_t old = round_page(as->as_brk), new = round_page(a[0]);

	if (a[0] < as->as_brk_base || a[0] > REGION_TOP)
		return (intptr_t)as->as_brk;
	if (new > old &&
	    (is_over_limit(as, new - old, 0, 0) ||
		as_map(as, old, new - old, PROT_READ | PROT_WRITE, false) != 0))
		return (intptr_t)as->as_brk;
	if (new < old && as_unmap(as, new, old - new) != 0)
		return (intptr_t)as->as_brk;
	as->as_brk = a[0];
	return (intptr_t)a[0];
}

/* Choose the address of a mapping.  Returns it, or -errno. */
static intptr_t
choose_address(
    struct as *as, uintptr_t hint, size_t len, unsigned flags, size_t align)
{
	int err;

	if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		if (hint % align != 0 || hint < USER_BASE ||
		    hint > REGION_TOP || len > REGION_TOP - hint)
			return hint % align != 0 ? -EINVAL : -ENOMEM;
		if (flags & MAP_FIXED_NOREPLACE)
			return (intptr_t)hint; /* as_map() returns EEXIST */
		err = as_unmap(as, hint, len);
		return err != 0 ? -err : (intptr_t)hint;
	}
	/* A hint counts if the range there is free. */
	uintptr_t va = hint & -align;
	if (va < USER_BASE || va > REGION_TOP || len > REGION_TOP - va ||
	    !as_is_free(as, va, len))
		va = as_gap(as, len, align);
	return va == 0 ? -ENOMEM : (intptr_t)va;
}

/*
 * Can the archive's own pages be mapped?  They can if the program only reads
 * them, and the file begins at a page boundary and has whole pages there.
 */
static bool
is_shareable(const struct file *f, uint64_t offset, size_t len, unsigned prot)
{
	return prot == PROT_READ && f->f_kind == FILE_ARCHIVE &&
	       (uintptr_t)f->f_data % PAGE_SIZE == 0 && offset <= f->f_bytes &&
	       len <= f->f_bytes - offset;
}

/* May this file be mapped?  Returns 0 or an errno. */
static int
check_file(const struct file *f, unsigned prot, bool shared, uint64_t offset)
{
	if (offset % PAGE_SIZE != 0)
		return EINVAL;
	if (f->f_kind != FILE_ARCHIVE && f->f_kind != FILE_ZERO &&
	    f->f_kind != FILE_TMP && f->f_kind != FILE_PERF)
		return ENODEV;
	if (!can_read(f) || (shared && (prot & PROT_WRITE) && !can_write(f)))
		return EACCES;
	return 0;
}

/* Map a file's own pages, or copy its content.  Returns 0 or an errno. */
static int
map_file(struct as *as, uintptr_t va, size_t len, unsigned prot, struct file *f,
    uint64_t offset, bool shared)
{
	/* Even without access a mapping needs the file's content now. */
	unsigned first = prot != 0 ? prot : PROT_READ;
	struct tmp_node *tn = shared && f->f_kind == FILE_TMP ? f->f_tmp : NULL;
	size_t bytes = file_bytes(f), n = offset < bytes ? bytes - offset : 0;
	uint64_t end;
	int err;

	if (tn != NULL && (__builtin_add_overflow(offset, len, &end) ||
			      tmp_share(tn, end) != 0))
		return ENOMEM;
	if (f->f_kind == FILE_PERF)
		err = perf_mmap(f, va, len, first, offset, shared);
	else if (tn != NULL || (shared && is_shareable(f, offset, len, prot)))
		err = as_map_shared(as, va, va_to_pa(file_data(f)) + offset,
		    len, first, tn != NULL ? tn->tn_memory : NULL,
		    !can_write(f));
	else if ((err = as_map(as, va, len, first, false)) == 0)
		/* The bytes after the file's end stay zero. */
		as_write(as, va, file_data(f) + offset, n < len ? n : len);
	if (err != 0)
		return err;
	if (prot & PROT_EXEC) {
		as_sync_code(as, va, len);
		if (f->f_kind == FILE_ARCHIVE)
			kcpc_profile_map(
			    lwp_self(), f->f_name, va, len, offset);
	}
	if (f->f_kind == FILE_ARCHIVE && !as_find(as, va)->r_shared)
		err = as_note_file(
		    as, va, len, file_data(f), bytes, offset, shared);
	else if (f->f_kind == FILE_TMP && tn == NULL) /* it may move */
		err = as_note_file(as, va, len, "", 0, offset, false);
	if (err == 0 && prot == 0)
		err = as_protect(as, va, len, 0);
	if (err != 0)
		as_unmap(as, va, len);
	return err;
}

intptr_t
sys_mmap(const uintptr_t *a)
{
	struct as *as = proc_self()->p_as;
	unsigned prot = (unsigned)a[2], flags = (unsigned)a[3];
	unsigned type = flags & MAP_TYPE;
	bool contig = flags & MAP_CONTIG, shared = type != MAP_PRIVATE;
	bool was_lock = as->as_lock;
	size_t align = contig ? LARGE_SIZE : PAGE_SIZE;
	size_t len = (a[1] + align - 1) & -align;
	struct file *f = NULL;
	intptr_t va;
	int err;

	if (!(flags & MAP_ANONYMOUS) && (f = file_get((int)a[4])) == NULL)
		return -EBADF;
	if (a[1] == 0 || (prot & ~LINUX_PROT_MASK) ||
	    (type != MAP_PRIVATE && type != MAP_SHARED &&
		type != MAP_SHARED_VALIDATE))
		return -EINVAL;
	if (len < a[1] || len > REGION_TOP ||
	    (!shared && (prot & PROT_WRITE) && is_over_limit(as, len, 0, 0)))
		return -ENOMEM;
	if (f != NULL && type == MAP_SHARED_VALIDATE && (flags & ~MAP_OLD))
		return -ENOTSUP;
	if (f != NULL && (err = check_file(f, prot, shared, a[5])) != 0)
		return -err;
	if (contig && (f != NULL || prot == 0 || shared))
		return -EINVAL;
	if ((va = choose_address(as, a[0], len, flags, align)) < 0)
		return va;
	as->as_lock = was_lock || (flags & MAP_LOCKED);
	if (shared && (f == NULL || f->f_kind == FILE_ZERO))
		err = shared_map(
		    as, (uintptr_t)va, len, prot, f != NULL && !can_write(f));
	else if (f != NULL)
		err = map_file(as, (uintptr_t)va, len, prot, f, a[5], shared);
	else
		err = as_map(as, (uintptr_t)va, len, prot, contig);
	as->as_lock = was_lock;
	return err != 0 ? -err : va;
}

/* Is the start page-aligned, and does the rounded length not wrap? */
static bool
range_arg(uintptr_t va, size_t *len)
{
	size_t rounded = round_page(*len);

	if (va % PAGE_SIZE != 0 || rounded < *len)
		return false;
	*len = rounded;
	return true;
}

intptr_t
sys_munmap(const uintptr_t *a)
{
	size_t len = a[1];

	if (len == 0 || !range_arg(a[0], &len))
		return -EINVAL;
	return -as_unmap(proc_self()->p_as, a[0], len);
}

intptr_t
sys_mprotect(const uintptr_t *a)
{
	struct as *as = proc_self()->p_as;
	size_t len = a[1];

	if (!range_arg(a[0], &len) || (a[2] & ~(uintptr_t)LINUX_PROT_MASK))
		return -EINVAL;
	if (len == 0)
		return 0;
	if ((a[2] & PROT_WRITE) && is_over_limit(as, 0, a[0], a[0] + len))
		return -ENOMEM;
	int err = as_protect(as, a[0], len, (unsigned)a[2]);
	if (err == 0 && (a[2] & PROT_EXEC))
		as_sync_code(as, a[0], len);
	return -err;
}

/*
 * Grow in place if the range after it is free, else move.  Shared memory and
 * files keep the size that they were mapped with.
 */
static intptr_t
grow_mapping(struct as *as, uintptr_t va, size_t old, size_t new, bool may_move)
{
	struct region *r = as_find(as, va);
	unsigned prot = r->r_prot;
	uintptr_t to;

	if (r->r_shared || r->r_file != NULL ||
	    ((prot & PROT_WRITE) && is_over_limit(as, new - old, 0, 0)))
		return -ENOMEM;
	int err = as_map(as, va + old, new - old, prot, false);
	if (err == 0)
		return (intptr_t)va;
	/* EINVAL: the region ends at REGION_TOP. */
	if ((err != EEXIST && err != EINVAL) || !may_move)
		return -ENOMEM;
	if ((to = as_gap(as, new, PAGE_SIZE)) == 0)
		return -ENOMEM;
	if (as_map(as, to + old, new - old, prot, false) != 0)
		return -ENOMEM;
	if ((err = as_move(as, va, to, old)) != 0) {
		as_unmap(as, to + old, new - old);
		return -err;
	}
	return (intptr_t)to;
}

intptr_t
sys_mremap(const uintptr_t *a)
{
	struct as *as = proc_self()->p_as;
	size_t old = a[1], new = a[2];
	int err;

	if (!range_arg(a[0], &old) || !range_arg(0, &new) || old == 0 ||
	    new == 0 || (a[3] & ~(uintptr_t)MREMAP_MAYMOVE))
		return -EINVAL;
	struct region *r = as_find(as, a[0]);
	if (r == NULL || old > r->r_end - a[0])
		return -EFAULT;
	if (r->r_contig || new > REGION_TOP)
		return r->r_contig ? -EINVAL : -ENOMEM;
	if (new > old) {
		bool was_lock = as->as_lock;
		as->as_lock = r->r_locked;
		intptr_t va =
		    grow_mapping(as, a[0], old, new, a[3] & MREMAP_MAYMOVE);
		as->as_lock = was_lock;
		return va;
	}
	if (new < old && (err = as_unmap(as, a[0] + new, old - new)) != 0)
		return -err;
	return (intptr_t)a[0];
}

/* The pages of a range in any part. */
static intptr_t
mark_pages(const uintptr_t *a, enum mark mark)
{
	size_t in_page = a[0] % PAGE_SIZE, len = a[1] + in_page;
	uintptr_t va = a[0] - in_page;

	if (len < a[1] || !range_arg(va, &len))
		return -EINVAL;
	return len > 0 ? -as_mark(proc_self()->p_as, va, len, mark) : 0;
}

/* Memory stays where it is: a lock only keeps its content. */
intptr_t
sys_mlock(const uintptr_t *a)
{
	return mark_pages(a, LOCK);
}

intptr_t
sys_munlock(const uintptr_t *a)
{
	return mark_pages(a, UNLOCK);
}

#define MS_INVALIDATE 2u
#define MS_BOTH       5u /* MS_ASYNC | MS_SYNC */

/* A mapped file is the mapping. */
intptr_t
sys_msync(const uintptr_t *a)
{
	unsigned flags = (unsigned)a[2];

	if (a[0] % PAGE_SIZE != 0 || (flags & ~(MS_BOTH | MS_INVALIDATE)) ||
	    (flags & MS_BOTH) == MS_BOTH)
		return -EINVAL;
	if (a[1] > REGION_TOP)
		return -ENOMEM;
	return mark_pages(a, flags & MS_INVALIDATE ? SYNC : ANY);
}

/* Linux, include/uapi/asm-generic/mman-common.h. */
#define MADV_DONTNEED        4
#define MADV_FREE            8
#define MADV_REMOVE          9
#define MADV_DONTFORK        10
#define MADV_DOFORK          11
#define MADV_WIPEONFORK      18
#define MADV_KEEPONFORK      19
#define MADV_DONTNEED_LOCKED 24
/* 0 to 25 but 5, 6 and 7, and KSM's 12 and 13.  Most has no effect here. */
#define MADV_KNOWN 0x3ffcf1fUL

/*
 * Most advice has no effect.  MADV_DONTNEED must drop what was written to
 * memory, and programs rely on that, as on what fork(2) does with memory.
 */
intptr_t
sys_madvise(const uintptr_t *a)
{
	static const enum mark marks[64] = { [MADV_FREE] = FREE,
		[MADV_DONTFORK] = FORK_NONE,
		[MADV_DOFORK] = FORK_COPY,
		[MADV_WIPEONFORK] = FORK_ZERO,
		[MADV_KEEPONFORK] = FORK_COPY };
	size_t len = a[1];

	if (!range_arg(a[0], &len) || a[2] >= 64 ||
	    (MADV_KNOWN >> a[2] & 1) == 0)
		return -EINVAL;
	if (len == 0)
		return 0;
	if (a[2] == MADV_DONTNEED || a[2] == MADV_DONTNEED_LOCKED)
		return -as_zero(
		    proc_self()->p_as, a[0], len, a[2] != MADV_DONTNEED);
	/* No file has holes. */
	return a[2] == MADV_REMOVE ? -EINVAL : mark_pages(a, marks[a[2]]);
}

#define MCL_CURRENT 1u
#define MCL_FUTURE  2u
#define MCL_ONFAULT 4u

/* Without flags: unlock all. */
static intptr_t
lock_all(unsigned flags)
{
	struct as *as = proc_self()->p_as;

	as->as_lock = flags & MCL_FUTURE;
	if (flags != MCL_FUTURE) /* ENOMEM: there are holes */
		as_mark(as, USER_BASE, REGION_TOP - USER_BASE,
		    flags != 0 ? LOCK : UNLOCK);
	return 0;
}

intptr_t
sys_mlockall(const uintptr_t *a)
{
	bool ok = (a[0] & (MCL_CURRENT | MCL_FUTURE)) != 0 && a[0] < 8;

	return ok ? lock_all((unsigned)a[0] & ~MCL_ONFAULT) : -EINVAL;
}

intptr_t
sys_munlockall(const uintptr_t *)
{
	return lock_all(0);
}

/*
 * Linux, include/uapi/linux/membarrier.h: commands by bits.  A command of one
 * process needs registration, by the command with the next bit.
 */
#define MEMBARRIER_ALL      0x7fu
#define MEMBARRIER_PRIVATE  0x28u
#define MEMBARRIER_REGISTER 0x54u

static void
do_nothing(void *)
{
}

/* The way into the kernel and out again is a barrier, for instructions too. */
intptr_t
sys_membarrier(const uintptr_t *a)
{
	struct proc *p = proc_self();
	unsigned command = (unsigned)a[0];

	if (command == 0 && a[1] == 0)
		return MEMBARRIER_ALL;
	if (a[1] != 0 || (command & ~MEMBARRIER_ALL) ||
	    (command & (command - 1)))
		return -EINVAL;
	if (command & MEMBARRIER_REGISTER) {
		p->p_membarriers |= command >> 1;
		return 0;
	}
	if (command & MEMBARRIER_PRIVATE & ~p->p_membarriers)
		return -EPERM;
	for (unsigned i = 0; i < ncpu; i++) {
		const struct lwp *l = cpus[i].c_lwp;

		if (&cpus[i] != arch_curcpu() && cpus[i].c_online &&
		    (!(command & MEMBARRIER_PRIVATE) ||
			(l != NULL && l->l_proc == p)))
			xcall(&cpus[i], do_nothing, NULL);
	}
	return 0;
}
