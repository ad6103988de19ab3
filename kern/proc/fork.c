/*
 * clone(2), fork(2) and vfork(2): create an LWP in this process, or a process
 * that is a copy of this one.
 */
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/counting.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"
#include "lib/string.h"

/* Linux's flags of clone(2). */
#define CSIGNAL              0x000000ffUL
#define CLONE_VM             0x00000100UL
#define CLONE_FS             0x00000200UL
#define CLONE_FILES          0x00000400UL
#define CLONE_SIGHAND        0x00000800UL
#define CLONE_VFORK          0x00004000UL
#define CLONE_THREAD         0x00010000UL
#define CLONE_SYSVSEM        0x00040000UL
#define CLONE_SETTLS         0x00080000UL
#define CLONE_PARENT_SETTID  0x00100000UL
#define CLONE_CHILD_CLEARTID 0x00200000UL
#define CLONE_DETACHED       0x00400000UL
#define CLONE_CHILD_SETTID   0x01000000UL

/* Flags that a new thread must have, and flags that it may have. */
#define THREAD_SHARES                                                          \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define TIDS                                                                   \
	(CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |           \
	    CLONE_CHILD_SETTID)
#define THREAD_MAY (THREAD_SHARES | TIDS | CLONE_SYSVSEM | CLONE_DETACHED)

struct clone {
	uintptr_t flags, stack, parent_tid, child_tid, tls;
};

/*
 * The first code of a clone: enter user code as from the parent's system call.
 * If child_tid is not NULL, first write the id there (CLONE_CHILD_SETTID).  The
 * program's own rights apply, and as on Linux a failure is ignored.
 */
static void
clone_start(void *child_tid)
{
	struct lwp *l = lwp_self();
	int tid = l->l_tid;

	if (child_tid != NULL)
		(void)copyout((uintptr_t)child_tid, &tid, sizeof tid);
	trap_return(arch_lwp_frame(l));
	arch_lwp_resume(l);
}

/* Create an LWP of p that returns from the current system call too. */
static struct lwp *
clone_lwp(struct proc *p, const struct clone *c)
{
	uintptr_t child_tid = c->flags & CLONE_CHILD_SETTID ? c->child_tid : 0;
	struct lwp *self = lwp_self();
	struct lwp *l = lwp_create(p, clone_start, (void *)child_tid);

	if (l == NULL)
		return NULL;
	arch_lwp_fork(
	    l, self->l_tf, c->stack, c->flags & CLONE_SETTLS ? &c->tls : NULL);
	l->l_kept.sk_mask = self->l_kept.sk_mask;
	l->l_affinity = l->l_wanted = self->l_wanted;
	l->l_lowest = self->l_lowest;
	memcpy(l->l_name, self->l_name, sizeof l->l_name);
	if (self->l_bound >= 0)
		lwp_bind(l, &cpus[self->l_bound]);
	if (c->flags & CLONE_CHILD_CLEARTID)
		l->l_clear_tid = c->child_tid;
	if (p->p_stopped != 0)
		l->l_ast |= AST_JOB;
	return l;
}

/* Write the id to the parent.  Called before the child starts: it may fail. */
static int
tell_parent(const struct clone *c, int tid)
{
	if (!(c->flags & CLONE_PARENT_SETTID))
		return 0;
	return copyout(c->parent_tid, &tid, sizeof tid);
}

static intptr_t
clone_thread(const struct clone *c)
{
	struct proc *p = proc_self();
	struct lwp *l;
	int err, tid;

	if ((c->flags & THREAD_SHARES) != THREAD_SHARES ||
	    (c->flags & ~(THREAD_MAY | CSIGNAL)) != 0 || c->stack == 0)
		return -EINVAL;
	if ((l = clone_lwp(p, c)) == NULL)
		return -EAGAIN;
	tid = l->l_tid;
	err = EFAULT;
	if (tell_parent(c, tid) != 0 ||
	    (err = counting->inherit(lwp_self(), l)) != 0)
		goto free_lwp;
	stop_point(STOP_LWP_CREATE, l->l_id);
	sched_ready(l);
	return tid;

free_lwp:
	lwp_bind(l, NULL);
	lwp_free(l);
	return -err;
}

/*
 * vfork(2): wait until the child ends or executes a program.  Signal handlers
 * wait too.  But the wait ends if this LWP must exit, because the child may be
 * waiting for that.  Returns false then: the child may still use the memory.
 */
static bool
wait_vfork(struct proc *child)
{
	struct lwp *l = lwp_self();
	struct proc *p = l->l_proc;
	bool left;

	child->p_vforker = l;
	l->l_vforking = true;
	while (l->l_vforking && (l->l_ast & AST_EXIT) == 0 && !sig_deadly(l))
		waitq_wait(&p->p_child_wait);
	left = !l->l_vforking;
	if (!left)
		child->p_vforker = NULL;
	l->l_vforking = false;
	return left;
}

/* CLONE_VM needs CLONE_VFORK: the child shares the memory until it executes. */
static intptr_t
clone_process(const struct clone *c)
{
	struct proc *p;
	struct lwp *l;
	int err, pid;

	if ((c->flags & ~(TIDS | CSIGNAL | CLONE_VM | CLONE_VFORK)) != 0 ||
	    ((c->flags & CLONE_VM) && !(c->flags & CLONE_VFORK)))
		return -EINVAL;
	proc_account();
	if ((err = proc_copy(
		 tf_sp(lwp_self()->l_tf), c->flags & CLONE_VM, &p)) != 0)
		return -err;
	pid = p->p_pid;
	err = EAGAIN;
	if ((l = clone_lwp(p, c)) == NULL)
		goto free_proc;
	sig_fork(lwp_self(), l);
	if ((err = tell_parent(c, pid)) != 0)
		goto unbind;
	err = EAGAIN;
	if (counting->fork(lwp_self(), l) != 0)
		goto unbind;
	stop_point(STOP_FORK, pid);
	sched_ready(l);
	if ((c->flags & CLONE_VFORK) && wait_vfork(p) && (c->flags & CLONE_VM))
		counting->vforked(lwp_self());
	return pid;

unbind:
	lwp_bind(l, NULL);
free_proc:
	proc_reap(p);
	return -err;
}

static intptr_t
clone_any(const struct clone *c)
{
	const struct proc *p = proc_self();

	/* A new LWP would not get the order to exit. */
	if (p->p_exiting || p->p_execer != NULL)
		return -EAGAIN;
	/* Some machines cannot load such an address. */
	if ((c->flags & CLONE_SETTLS) && c->tls >= USER_TOP)
		return -EPERM;
	return c->flags & CLONE_THREAD ? clone_thread(c) : clone_process(c);
}

intptr_t
sys_clone(const uintptr_t *a)
{
	return clone_any(&(struct clone){
	    a[0], a[1], a[2], a[3 + 4 - arch_clone_tls], a[arch_clone_tls] });
}

intptr_t
sys_fork(const uintptr_t *)
{
	return clone_any(&(struct clone){ 0, 0, 0, 0, 0 });
}

intptr_t
sys_vfork(const uintptr_t *)
{
	return clone_any(&(struct clone){ CLONE_VM | CLONE_VFORK, 0, 0, 0, 0 });
}
