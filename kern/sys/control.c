/* BARECPC_SYS_CONTROL, libpctx's private call (include/sys/barecpc.h). */
#include "kern/proc/control/control.h"

#include "include/sys/barecpc.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"
#include "kern/sys/syscall.h"
#include "lib/string.h"

static intptr_t
wait_for_event(int pid, uintptr_t ns, uintptr_t uva)
{
	static const uint32_t what[] = {
		[STOP_LWP_CREATE] = BARECPC_EVENT_LWP_CREATE,
		[STOP_LWP_EXIT] = BARECPC_EVENT_LWP_EXIT,
		[STOP_EXEC_ENTRY] = BARECPC_EVENT_EXEC_ENTRY,
		[STOP_EXEC_FAILED] = BARECPC_EVENT_EXEC_FAILED,
		[STOP_EXEC] = BARECPC_EVENT_EXEC,
		[STOP_FORK] = BARECPC_EVENT_FORK,
		[STOP_EXIT] = BARECPC_EVENT_EXIT,
	};
	struct control_event ev;
	struct barecpc_control_event be = { .be_what = BARECPC_EVENT_TICK };
	int err;

	/* An event that cannot be returned would be lost. */
	if ((err = copyzero(uva, sizeof be)) != 0)
		return -err;
	err = control_wait(
	    pid, (hrtime_t)ns < 0 ? ~0ULL : ns_to_tick((hrtime_t)ns), &ev);
	if (err != 0)
		return -err;
	if (!ev.cv_tick)
		be.be_what = what[ev.cv_at];
	be.be_lwp = ev.cv_lwp;
	be.be_arg = ev.cv_arg;
	return -copyout(uva, &be, sizeof be);
}

static intptr_t
next_lwp(int pid, int id)
{
	const struct proc *p = control_find(pid);

	if (p == NULL)
		return -ESRCH;
	const struct lwp *l = control_next_lwp(p, id);
	return l != NULL ? l->l_id : 0;
}

static intptr_t
args(int pid, uintptr_t uva, size_t bytes)
{
	const struct proc *p = control_find(pid);
	char text[PROC_ARGS_MAX];

	if (p == NULL)
		return -ESRCH;
	if (bytes == 0)
		return -EINVAL;
	if (bytes > sizeof text)
		bytes = sizeof text;
	strlcpy(text, p->p_args, bytes);
	return -copyout(uva, text, strlen(text) + 1);
}

intptr_t
control_syscall(const uintptr_t *a)
{
	int pid = (int)a[1];

	switch (a[0]) {
	case BARECPC_CONTROL_ME:
		return -control_me();
	case BARECPC_CONTROL_CAPTURE:
		return -control_capture(pid);
	case BARECPC_CONTROL_GIVE:
		return -control_give(pid, (int)a[2]);
	case BARECPC_CONTROL_WAIT:
		return wait_for_event(pid, a[2], a[3]);
	case BARECPC_CONTROL_CANCEL:
		return -control_cancel(pid);
	case BARECPC_CONTROL_NEXT_LWP:
		return next_lwp(pid, (int)a[2]);
	case BARECPC_CONTROL_ARGS:
		return args(pid, a[3], a[2]);
	case BARECPC_CONTROL_RELEASE:
		return -control_release(pid);
	default:
		return -EINVAL;
	}
}
