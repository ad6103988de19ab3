/*
 * The tables of system calls, the private calls, and reports of calls that
 * are unknown or get bad pointers.
 */
#include "kern/sys/syscall.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/test/witness.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/timer.h"
#include "lib/printf.h"

/* Private calls */

static size_t npages_at_boot;

static intptr_t
sys_phys(const uintptr_t *a)
{
	uint64_t pa =
	    arch_translate(proc_self()->p_as, a[0] & -(uintptr_t)PAGE_SIZE);

	if (a[0] >= USER_TOP || pa == ~0ULL)
		return -usercopy_fault(a[0]);
	return (intptr_t)(pa + a[0] % PAGE_SIZE);
}

static intptr_t
sys_stat_kernel(const uintptr_t *a)
{
	struct barecpc_stat st = { .bs_pages = npages_at_boot };
	struct kcpc_stat kst;

	kcpc_stat(&kst);
	st.bs_free_pages = page_nfree();
	st.bs_lwps = nlwp;
	st.bs_contexts = kst.ks_contexts;
	st.bs_pics = kst.ks_pics;
	st.bs_cpus = cpu_nonline();
	return -copyout(a[0], &st, sizeof st);
}

static intptr_t
sys_witness(const uintptr_t *a)
{
	struct barecpc_witness bw;
	int err;

	if ((err = witness_stat(&bw)) != 0)
		return -err;
	return -copyout(a[0], &bw, sizeof bw);
}

static intptr_t
sys_interrupts(const uintptr_t *a)
{
	const struct cpu *self = arch_curcpu();
	struct barecpc_interrupts by = {
		.by_cpu = self->c_id,
		.by_interrupts = self->c_interrupts,
		.by_nmis = __atomic_load_n(&self->c_nmis, __ATOMIC_RELAXED),
	};

	arch_strain(&by);
	for (unsigned i = 0; i < ncpu; i++) {
		by.by_all_interrupts +=
		    __atomic_load_n(&cpus[i].c_interrupts, __ATOMIC_RELAXED);
		by.by_all_nmis +=
		    __atomic_load_n(&cpus[i].c_nmis, __ATOMIC_RELAXED);
	}
	return -copyout(a[0], &by, sizeof by);
}

static intptr_t
sys_quiet(const uintptr_t *a)
{
	if (!lwp_self()->l_system)
		return -EPERM;
	if (a[0] > BARECPC_QUIET_MAX)
		return -EINVAL;
	timer_postpone((hrtime_t)a[0]);
	return 0;
}

/* Report each unknown call once in a run, up to a limit. */
intptr_t
syscall_unknown(const uintptr_t *a)
{
	static unsigned said[64], nsaid;
	static const unsigned max = sizeof said / sizeof *said;
	unsigned sysno = tf_sysno(lwp_self()->l_tf);
	intptr_t ret = arch_syscall(sysno, a);

	if (ret != -ENOSYS)
		return ret;
	for (unsigned i = 0; i < nsaid; i++) {
		if (said[i] == sysno)
			return -ENOSYS;
	}
	if (nsaid == max)
		return -ENOSYS;
	said[nsaid++] = sysno;
	printf("barecpc: %s: system call %u is not known: ENOSYS%s\n",
	    proc_self()->p_name, sysno,
	    nsaid == max ? "; no more of them will be named" : "");
	return -ENOSYS;
}

/* The tables */

syscall_fn *syscall_linux[SYSCALL_NLINUX];

#define PRIVATE_CALLS(P)                                                       \
	P(BARECPC_SYS_CPC, "cpc", kcpc_syscall)                                \
	P(BARECPC_SYS_PHYS, "barecpc_phys", sys_phys)                          \
	P(BARECPC_SYS_STAT, "barecpc_stat", sys_stat_kernel)                   \
	P(BARECPC_SYS_SCHED, "processor_bind", sched_syscall)                  \
	P(BARECPC_SYS_WITNESS, "barecpc_witness", sys_witness)                 \
	P(BARECPC_SYS_TEST, "barecpc_test", test_hooks_syscall)                \
	P(BARECPC_SYS_INTERRUPTS, "barecpc_interrupts", sys_interrupts)        \
	P(BARECPC_SYS_CONTROL, "barecpc_control", control_syscall)             \
	P(BARECPC_SYS_QUIET, "barecpc_quiet", sys_quiet)                       \
	P(BARECPC_SYS_SCREEN, "barecpc_screen", screen_syscall)                \
	P(BARECPC_SYS_PROGRESS, "barecpc_progress", sys_progress)

#define PRIVATE_FN(sysno, name, fn) [(sysno)-BARECPC_SYS_CPC] = fn,
syscall_fn *const syscall_private[SYSCALL_NPRIVATE] = { PRIVATE_CALLS(
    PRIVATE_FN) };

static intptr_t
sys_absent(const uintptr_t *)
{
	return -ENOSYS;
}

#define SYSCALL_ENTRY(name, ...) [SYS_##name] = { #name, sys_##name },
#define SYSCALL_ENTRY_SHARED(name, other, ...)                                 \
	[SYS_##name] = { #name, sys_##other },
static const struct {
	const char *name;
	syscall_fn *fn;
} syscalls[NSYSCALL] = { SYSCALLS(SYSCALL_ENTRY, SYSCALL_ENTRY)
	    SYSCALLS_SHARED(SYSCALL_ENTRY_SHARED) };

static unsigned
kernel_sysno(unsigned sysno)
{
	int n = sysno < arch_sysmap_len ? arch_sysmap[sysno] : SYS_none;

	return n > SYS_none && n < NSYSCALL ? (unsigned)n : SYS_none;
}

#define PRIVATE_NAME(sysno, name, fn) [(sysno)-BARECPC_SYS_CPC] = (name),
/* The name of a call, or "a system call" if it has none. */
const char *
syscall_name(unsigned sysno)
{
	static const char *const private[] = { PRIVATE_CALLS(PRIVATE_NAME) };
	unsigned n = sysno - BARECPC_SYS_CPC;

	if (kernel_sysno(sysno) != SYS_none)
		return syscalls[kernel_sysno(sysno)].name;
	return n < SYSCALL_NPRIVATE && private[n] != NULL ? private[n]
	                                                  : "a system call";
}

/* Report the first bad pointer of a process, with the call and its place. */
static void
bad_pointer(uintptr_t uva)
{
	const struct trapframe *tf = lwp_self()->l_tf;
	struct proc *p = proc_self();
	char where[FAULT_WHERE_MAX];

	if (p->p_said_efault)
		return;
	p->p_said_efault = true;
	fault_where(p, tf_pc(tf), where, sizeof where);
	printf("barecpc: %s: %s at pc %s: bad address 0x%lx: EFAULT\n",
	    p->p_name, syscall_name(tf_sysno(tf)), where, (unsigned long)uva);
}

void
syscall_init(void)
{
	usercopy_on_refusal(bad_pointer);
	npages_at_boot = page_nfree();
	for (unsigned sysno = 0; sysno < SYSCALL_NLINUX; sysno++)
		syscall_linux[sysno] = kernel_sysno(sysno) != SYS_none
		                           ? syscalls[kernel_sysno(sysno)].fn
		                           : syscall_unknown;
}
