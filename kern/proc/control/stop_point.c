/* Stop points, and the trace of them that trace=stops prints. */
#include "kern/proc/control/stop_point.h"

#include <stddef.h>

#include "kern/proc/control/control.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "lib/printf.h"

void
stop_point(enum stop_at at, intptr_t arg)
{
	struct lwp *l = lwp_self();
	struct proc *p = l->l_proc;

	if (p->p_stop != NULL && !p->p_exiting)
		p->p_stop(l, at, arg);
	if (p->p_controller != NULL && !p->p_exiting)
		control_stop(l, at, arg);
}

static const char *
bound_text(const struct lwp *l)
{
	return l != NULL && l->l_cpc != NULL ? "bound" : "unbound";
}

/* The number of LWPs with a bound set. */
static unsigned
count_bound(const struct proc *p)
{
	unsigned n = 0;

	for (const struct lwp *l = p->p_lwps; l != NULL; l = l->l_sibling)
		n += l->l_cpc != NULL;
	return n;
}

void
stop_trace(struct lwp *l, enum stop_at at, intptr_t arg)
{
	struct proc *p = l->l_proc;

	printf("stop: %s: lwp %d (%s): ", p->p_name, l->l_id, bound_text(l));
	switch (at) {
	case STOP_LWP_CREATE:
		printf("lwp_create %d (%s)\n", (int)arg,
		    bound_text(lwp_by_id(p, (int)arg)));
		break;
	case STOP_LWP_EXIT:
		printf("lwp_exit\n");
		break;
	case STOP_EXEC_ENTRY:
		printf(
		    "exec of %u LWP(s), %u bound\n", p->p_nlwp, count_bound(p));
		break;
	case STOP_EXEC_FAILED:
		printf("exec failed\n");
		break;
	case STOP_EXEC:
		printf("exec done\n");
		break;
	case STOP_FORK:
		printf("fork\n");
		break;
	case STOP_EXIT:
		printf("exit %d of %u LWP(s), %u bound\n", (int)arg, p->p_nlwp,
		    count_bound(p));
		break;
	}
}
