/* The part of a kernel that kcpc needs, in software. */
#include "tests/lib/host/kcpc/fake_kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define sched_yield kern_sched_yield /* see tests/lib/host/kernel_names.h */
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/platform/ksym.h"
#include "kern/proc/control/control.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"
#include "kern/sched/xcall.h"
#include "tests/lib/host/kcpc/fake_pcbe.h"
#include "tests/lib/host/support.h"

unsigned fake_kmalloc_fails;
unsigned fake_syscalls;
uintptr_t fake_refused;
bool fake_hold_pmi;
void (*fake_on_syscall)(void), (*fake_on_return)(void);
char fake_console[4096];

int fake_printf(const char *fmt, ...);

const struct pcbe_ops *fake_backend;
struct file *fake_file;

struct cpu cpus[MAXCPU];
unsigned ncpu = FAKE_NCPU;
uint64_t fake_online;
void (*fake_on_move)(void), (*fake_on_cpu)(unsigned c);
unsigned fake_controlled;
bool fake_ready_rests;

static const struct lwp *yielding;
static struct cpu *curcpu = &cpus[0];
static struct proc procs[FAKE_NPROC];
static struct as memories[FAKE_NPROC];
static struct lwp lwps[FAKE_NPROC][FAKE_NLWP];
static struct lwp idle[FAKE_NCPU];
static struct timer *timers;
static uint64_t now;
static unsigned nalloc;
static bool pmi_shut[FAKE_NCPU]; /* by an interrupt, as an LVTPC is masked */

static void
act_as(struct cpu *c)
{
	curcpu = c;
	if (fake_on_cpu != NULL)
		fake_on_cpu(c->c_id);
}

void
fake_boot(void)
{
	unsigned p, l;

	memset(lwps, 0, sizeof lwps);
	memset(pmi_shut, 0, sizeof pmi_shut);
	for (p = 0; p < FAKE_NPROC; p++) {
		procs[p].p_cpc_cpu = true;
		procs[p].p_as = &memories[p];
		for (l = 0; l < FAKE_NLWP; l++) {
			lwps[p][l].l_id = (int)l + 1;
			lwps[p][l].l_proc = &procs[p];
			lwps[p][l].l_cpu = &cpus[0];
			lwps[p][l].l_bound = -1;
			memset(&lwps[p][l].l_wanted, 0xff,
			    sizeof lwps[p][l].l_wanted);
			lwps[p][l].l_affinity = lwps[p][l].l_wanted;
		}
	}
	for (l = 0; l < FAKE_NCPU; l++) {
		cpus[l] = (struct cpu){ .c_id = l, .c_online = true };
		cpus[l].c_lwp = cpus[l].c_idle = &idle[l];
	}
	act_as(&cpus[0]);
	curcpu->c_lwp = &lwps[0][0];
	fake_controlled = 0;
	fake_online = (1 << FAKE_NCPU) - 1;
	fake_on_move = NULL;
	timers = NULL;
	now = 0;
	fake_console[0] = '\0';
	fake_kmalloc_fails = 0;
	fake_hold_pmi = false;
	fake_on_syscall = fake_on_return = NULL;
	fake_pmu_reset();
	kcpc_ops = NULL;
	kcpc_set_notify(NULL);
	kcpc_init(fake_backend);
}

const char *
fake_halt(void)
{
	struct kcpc_stat st;
	int l;

	for (unsigned p = 0; p < FAKE_NPROC; p++) {
		for (l = 1; l <= FAKE_NLWP; l++)
			fake_exit(p, l);
	}
	kcpc_stat(&st);
	return nalloc != 0                              ? "kernel memory"
	       : st.ks_contexts != 0 || st.ks_pics != 0 ? "contexts or PICs"
	       : fake_pmu_any()                         ? "running PICs"
	       : timers != NULL                         ? "timers"
	                                                : NULL;
}

struct cpu *
arch_curcpu(void)
{
	return curcpu;
}

/* There are no frames, because nothing traps. */
struct trapframe *
arch_lwp_frame(struct lwp *l)
{
	return NULL;
}

void
fake_cpu(unsigned c)
{
	act_as(&cpus[c]);
}

void
fake_privilege(unsigned p, bool cpc_cpu)
{
	procs[p].p_cpc_cpu = cpc_cpu;
}

static void
switch_to(struct lwp *l)
{
	struct kcpc_ctx *left = curcpu->c_lwp->l_cpc;
	uint64_t overflowed;

	if (left != NULL && (overflowed = kcpc_save(left)) != 0)
		kcpc_overflow(left, overflowed);
	curcpu->c_lwp = l;
	l->l_cpu = curcpu;
	if (l->l_cpc != NULL)
		kcpc_restore(l->l_cpc);
}

/* Make the CPU that runs this LWP idle. */
static void
make_idle(struct lwp *l)
{
	struct cpu *here = curcpu;

	act_as(l->l_cpu);
	switch_to(curcpu->c_idle);
	act_as(here);
}

struct lwp *
fake_lwp(unsigned p, int lwp)
{
	return &lwps[p][lwp - 1];
}

int *
fake_bound(unsigned p, int lwp)
{
	return &fake_lwp(p, lwp)->l_bound;
}

uint64_t
fake_affinity(unsigned p, int lwp)
{
	return fake_lwp(p, lwp)->l_affinity.cs_word[0];
}

void
fake_set_affinity(unsigned p, int lwp, uint64_t set)
{
	struct lwp *l = fake_lwp(p, lwp);

	l->l_wanted.cs_word[0] = l->l_affinity.cs_word[0] = set;
}

struct kcpc_ctx *
fake_ctx(unsigned p, int lwp)
{
	return fake_lwp(p, lwp)->l_cpc;
}

void
fake_idle(void)
{
	switch_to(curcpu->c_idle);
}

void
fake_switch(unsigned p, int lwp)
{
	struct lwp *l = fake_lwp(p, lwp);

	if (l->l_cpu != curcpu && l->l_cpu->c_lwp == l)
		make_idle(l);
	switch_to(l);
}

void
fake_exit(unsigned p, int lwp)
{
	if (lwp_self() != fake_lwp(p, lwp))
		fake_switch(p, lwp);
	kcpc_lwp_exit(lwp_self());
}

const struct cpuset *
sched_cpus(void)
{
	static struct cpuset online;

	online.cs_word[0] = fake_online;
	return &online;
}

void
lwp_bind(struct lwp *l, struct cpu *c)
{
	l->l_bound = c != NULL ? (int)c->c_id : -1;
}

bool
lwp_run_only(struct lwp *l, const struct cpuset *only)
{
	struct cpuset may = l->l_wanted;

	for (unsigned i = 0; i < CPUSET_WORDS && only != NULL; i++)
		may.cs_word[i] &= only->cs_word[i];
	if (only != NULL && !cpuset_meets(&may, sched_cpus()))
		return false;
	l->l_only = only;
	l->l_affinity = may;
	return true;
}

struct spinlock klock;

void
kernel_lock_wait(void)
{
}

/* A yielding LWP moves to its CPU, or its affinity's first online one. */
void
sched_yield(void)
{
	struct lwp *l = lwp_self();

	make_idle(l);
	yielding = l;
	if (fake_on_move != NULL)
		fake_on_move();
	yielding = NULL;
	if (l->l_bound >= 0)
		act_as(&cpus[l->l_bound]);
	else if (!cpuset_has(&l->l_affinity, curcpu->c_id) &&
		 cpuset_meets(&l->l_affinity, sched_cpus()))
		act_as(&cpus[cpuset_next(&l->l_affinity, sched_cpus(), 0)]);
	switch_to(l);
}

void
xcall(struct cpu *c, void (*fn)(void *), void *arg)
{
	struct cpu *here = curcpu;

	act_as(c);
	fn(arg);
	act_as(here);
}

static struct {
	struct cpu *cpu;
	void (*fn)(void *);
	void *arg;
} call;

static void
call_again(void)
{
	fake_on_relax = NULL; /* fn may call arch_relax() itself */
	xcall(call.cpu, call.fn, call.arg);
	fake_on_relax = call_again;
}

/* Only with `again`: the CPU runs fn(arg) while this one waits. */
void
xcall_start(struct cpu *c, void (*fn)(void *), void *arg, bool again)
{
	assert_true(again);
	call.cpu = c;
	call.fn = fn;
	call.arg = arg;
	fake_on_relax = call_again;
}

void
xcall_end(void)
{
	fake_on_relax = NULL;
}

int
fake_clone(int lwp)
{
	struct lwp *self = lwp_self(), *child = self - self->l_id + lwp;

	return kcpc_inherit(self, child);
}

int
fake_fork(unsigned p, int lwp)
{
	return kcpc_profile_fork(lwp_self(), fake_lwp(p, lwp));
}

void
fake_enter(struct trapframe *tf)
{
	lwp_self()->l_tf = tf;
}

void
fake_exec(void)
{
	kcpc_exec_leave(lwp_self());
	kcpc_exec_enter(lwp_self());
}

bool
fake_return(void)
{
	return kcpc_sigemt_take(lwp_self(), lwp_self()->l_tf);
}

void
fake_invalidate(void)
{
	if (lwp_self()->l_cpc != NULL)
		kcpc_invalidate(lwp_self()->l_cpc);
}

bool
fake_pmi(void)
{
	bool *shut = &pmi_shut[curcpu->c_id];

	if (fake_hold_pmi || *shut)
		return false;
	*shut = true;
	return kcpc_pmi();
}

void *
kmalloc(size_t bytes)
{
	void *p;

	if (fake_kmalloc_fails != 0 && --fake_kmalloc_fails == 0)
		return NULL;
	if ((p = calloc(1, bytes)) != NULL)
		nalloc++;
	return p;
}

void
kfree(void *p)
{
	nalloc -= p != NULL;
	free(p);
}

/* The first page is unmapped: tests use its addresses as bad pointers. */
static bool
mapped(uintptr_t uva, size_t len)
{
	return uva >= PAGE_SIZE && len <= UINTPTR_MAX - uva;
}

/*
 * A program may change memory while the kernel copies it.  The kernel checks
 * for that itself (CPC_OP_BIND), so the sanitizer must not report it.
 */
__attribute__((no_sanitize("thread"))) int
copyin_quietly(void *dst, uintptr_t uva, size_t len)
{
	const volatile char *from = (const volatile char *)uva;
	char *to = dst;

	if (!mapped(uva, len))
		return EFAULT;
	while (len-- > 0)
		*to++ = *from++;
	return 0;
}

int
copyout_quietly(uintptr_t uva, const void *src, size_t len)
{
	if (!mapped(uva, len))
		return EFAULT;
	memcpy((void *)uva, src, len);
	return 0;
}

int
usercopy_fault(uintptr_t uva)
{
	fake_refused = uva;
	return EFAULT;
}

int
copyin(void *dst, uintptr_t uva, size_t len)
{
	return copyin_quietly(dst, uva, len);
}

int
copyout(uintptr_t uva, const void *src, size_t len)
{
	return copyout_quietly(uva, src, len);
}

int
copyinstr(char *dst, uintptr_t uva, size_t max)
{
	size_t len;

	if (!mapped(uva, 1))
		return EFAULT;
	if ((len = strnlen((const char *)uva, max)) == max)
		return ENAMETOOLONG;
	memcpy(dst, (const char *)uva, len + 1);
	return 0;
}

uint64_t
arch_tick(void)
{
	return now;
}

uint64_t
arch_tick_hz(void)
{
	return 1000000000;
}

uint64_t
ns_to_tick(hrtime_t ns)
{
	return (uint64_t)ns;
}

void
timer_start(struct timer *t, uint64_t tick, void (*fn)(void *), void *arg)
{
	timer_stop(t);
	t->t_tick = tick;
	t->t_fn = fn;
	t->t_arg = arg;
	t->t_cpu = curcpu;
	t->t_sibling = timers;
	timers = t;
}

void
timer_stop(struct timer *t)
{
	struct timer **link = &timers;

	if (t->t_cpu == NULL)
		return;
	/* The timer is in the list, unless a running timer was copied. */
	while (*link != t)
		link = &(*link)->t_sibling;
	*link = t->t_sibling;
	t->t_cpu = NULL;
}

void
fake_clock(uint64_t ns)
{
	now += ns;
}

void
fake_time(uint64_t ns)
{
	struct timer *t, *next;

	fake_clock(ns);
	for (t = timers; t != NULL; t = next) {
		next = t->t_sibling;
		if (t->t_tick <= now && t->t_cpu == curcpu) {
			timer_stop(t);
			t->t_fn(t->t_arg);
		}
	}
}

void
arch_pmi_enable(void)
{
}

void
arch_pmi_rearm(void)
{
	pmi_shut[curcpu->c_id] = false;
}

int
fake_printf(const char *fmt, ...)
{
	size_t at = strlen(fake_console);
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(fake_console + at, sizeof fake_console - at, fmt, ap);
	va_end(ap);
	return n;
}

intptr_t
cpc_syscall(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	const uintptr_t args[6] = { op, a, b, c, d };

	intptr_t r;

	if (fake_on_syscall != NULL)
		fake_on_syscall();
	fake_syscalls++;
	r = kcpc_syscall(args);
	if (fake_on_return != NULL)
		fake_on_return();
	return r;
}

struct file *
file_get(int fd)
{
	return fd == FAKE_FD ? fake_file : NULL;
}

void *
page_alloc(unsigned order)
{
	void *page = kmalloc(PAGE_SIZE << order);

	if (page != NULL)
		memset(page, 0xa5, PAGE_SIZE << order); /* old contents */
	return page;
}

void
page_free(void *va, unsigned order)
{
	kfree(va);
}

uintptr_t
tf_fp(const struct trapframe *tf)
{
	return tf->tf_fp;
}

uintptr_t
tf_pc(const struct trapframe *tf)
{
	return tf->tf_pc;
}

/* Host tests have no symbol table of the kernel. */
const char *
ksym_lookup(uintptr_t addr, uintptr_t *offset)
{
	*offset = 0;
	return "?";
}

int
control_find_lwp(int pid, int id, struct lwp **lp)
{
	if (pid < 0 || pid >= FAKE_NPROC || (fake_controlled >> pid & 1) == 0 ||
	    id < 1 || id > FAKE_NLWP)
		return ESRCH;
	*lp = fake_lwp((unsigned)pid, id);
	return (*lp)->l_cpu->c_lwp == *lp ||
	               (*lp == yielding && !fake_ready_rests)
	           ? EBUSY
	           : 0;
}
