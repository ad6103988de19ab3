/*
 * clone(2): another LWP in the process, or a process that is a copy of it.
 */
#include "kern/proc/fork.h"

#include "kern/arch.h"
#include "kern/mm/as.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/proc/signal.h"
#include "kern/sched/counting.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"

/* clone(2)'s flags, as Linux has them. */
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

/* What makes a thread, and what may come with it. */
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
 * A clone enters user code after its parent's system call.  child_tid: where
 * it first writes its id (CLONE_CHILD_SETTID), or NULL.  The copy is an access
 * to its own memory, so it has the program's rights and no more.  As on Linux
 * it is ignored where it fails.
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

/* An LWP of p that continues where the current one is. */
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
	l->l_affinity = self->l_affinity;
	if (self->l_bound >= 0)
		lwp_bind(l, &cpus[self->l_bound]);
	if (c->flags & CLONE_CHILD_CLEARTID)
		l->l_clear_tid = c->child_tid;
	return l;
}

/* Tell the parent first: a bad address there costs no child. */
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
 * vfork(2): until the child no longer needs its parent's memory.  Handlers
 * wait as long, but an LWP that is to end does not: the child may wait for
 * just that.
 */
static void
wait_vfork(struct proc *child)
{
	struct lwp *l = lwp_self();
	struct proc *p = l->l_proc;

	child->p_vforker = l;
	l->l_vforking = true;
	lock_acquire(&p->p_child_wait.wq_lock);
	while (l->l_vforking && (l->l_ast & AST_EXIT) == 0 && !sig_deadly(l))
		waitq_wait(&p->p_child_wait);
	lock_release(&p->p_child_wait.wq_lock);
	if (l->l_vforking) /* then the child is still there */
		child->p_vforker = NULL;
	l->l_vforking = false;
}

/*
 * CLONE_VM is taken only with CLONE_VFORK, and the child gets a copy then,
 * too: its parent sees nothing of what it writes, as POSIX allows.
 */
static intptr_t
clone_process(const struct clone *c)
{
	struct proc *p;
	struct lwp *l;
	int err, pid;

	if ((c->flags & ~(TIDS | CSIGNAL | CLONE_VM | CLONE_VFORK)) != 0 ||
	    ((c->flags & CLONE_VM) && !(c->flags & CLONE_VFORK)))
		return -EINVAL;
	if ((err = proc_copy(tf_sp(lwp_self()->l_tf), &p)) != 0)
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
	if (c->flags & CLONE_VFORK)
		wait_vfork(p);
	return pid;

unbind:
	lwp_bind(l, NULL);
free_proc:
	proc_reap(p);
	return -err;
}

static intptr_t
clone(const struct clone *c)
{
	const struct proc *p = proc_self();

	/* Nobody would tell the new LWP that it is to end. */
	if (p->p_exiting || p->p_execer != NULL)
		return -EAGAIN;
	/* Some machines take no others. */
	if ((c->flags & CLONE_SETTLS) && c->tls >= USER_TOP)
		return -EPERM;
	return c->flags & CLONE_THREAD ? clone_thread(c) : clone_process(c);
}

intptr_t
sys_clone(const uintptr_t *a)
{
	return clone(&(struct clone){ a[0], a[1], a[2], a[3], a[4] });
}

/* With the last two the other way round. */
intptr_t
sys_clone_backwards(const uintptr_t *a)
{
	return clone(&(struct clone){ a[0], a[1], a[2], a[4], a[3] });
}

intptr_t
sys_fork(const uintptr_t *a)
{
	(void)a;
	return clone(&(struct clone){ 0, 0, 0, 0, 0 });
}

intptr_t
sys_vfork(const uintptr_t *a)
{
	(void)a;
	return clone(&(struct clone){ CLONE_VM | CLONE_VFORK, 0, 0, 0, 0 });
}
