#include "kern/syscall.h"

#include <stddef.h>

#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/cpu.h"
#include "kern/errno.h"
#include "kern/fault.h"
#include "kern/kcpc.h"
#include "kern/lwp.h"
#include "kern/page.h"
#include "kern/proc.h"
#include "kern/usercopy.h"
#include "lib/printf.h"

#define SYSCALL_ENTRY(name) [SYS_##name] = { #name, sys_##name },
static const struct {
	const char *name;
	syscall_fn *fn;
} syscalls[NSYSCALL] = { SYSCALLS(SYSCALL_ENTRY) };

#define NARG 6

/* Private calls */

static size_t npages_at_boot;

void
syscall_init(void)
{
	npages_at_boot = page_nfree();
}

static intptr_t
sys_phys(const uintptr_t *a)
{
	uint64_t pa =
	    arch_translate(&proc_self()->p_as, a[0] & -(uintptr_t)PAGE_SIZE);

	if (a[0] >= USER_TOP || pa == ~0ULL)
		return -EFAULT;
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

/* Each unknown call is named once a run, as long as there are not too many. */
static intptr_t
unknown(unsigned sysno)
{
	static unsigned said[64], nsaid;
	static const unsigned max = sizeof said / sizeof *said;

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

/* Where a call has no name, its number must do. */
static intptr_t
dispatch(
    struct trapframe *tf, unsigned sysno, const uintptr_t *a, const char **name)
{
	intptr_t ret;
	int known;

	*name = "a system call";
	switch (sysno) {
	case BARECPC_SYS_CPC:
		*name = "cpc";
		return kcpc_syscall(a);
	case BARECPC_SYS_PHYS:
		return sys_phys(a);
	case BARECPC_SYS_SCHED:
		*name = "processor_bind";
		return sched_syscall(a);
	case BARECPC_SYS_STAT:
		*name = "barecpc_stat";
		return sys_stat_kernel(a);
	}
	known = sysno < arch_sysmap_len ? arch_sysmap[sysno] : SYS_none;
	if (known > SYS_none && known < NSYSCALL) {
		*name = syscalls[known].name;
		return syscalls[known].fn(a);
	}
	if (arch_syscall(tf, sysno, &ret) != ENOSYS)
		return ret;
	return unknown(sysno);
}

void
trap_syscall(struct trapframe *tf)
{
	struct lwp *l = lwp_self();
	struct proc *p = l->l_proc;
	unsigned sysno = tf_sysno(tf);
	uintptr_t a[NARG];
	const char *name;
	intptr_t ret;

	l->l_tf = tf;
	tf_args(tf, a);
	ret = dispatch(tf, sysno, a, &name);
	if (ret == -EJUSTRETURN)
		return;
	tf_set_ret(tf, ret);
	if (ret == -EFAULT && p->p_efault)
		fault_hostile_pointer(tf, name);
	p->p_efault = false;
}
