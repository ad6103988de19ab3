/*
 * Scheduling classes: <sys/priocntl.h>.  The kernel knows two: LWPs that run as
 * all do, and LWPs that run while nothing else does.
 */
#include <sys/fxpriocntl.h>
#include <sys/priocntl.h>

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/barecpc.h>
#include <unistd.h>

/* The class with number n + 1. */
static const char *const classes[] = { "TS", "FX" };
#define NCLASSES 2
#define CID_FX   2

static long
refuse(int err)
{
	errno = err;
	return -1;
}

static long
find_class(pcinfo_t *info)
{
	for (id_t i = 0; i < NCLASSES; i++) {
		if (strncmp(info->pc_clname, classes[i], PC_CLNMSZ) == 0) {
			info->pc_cid = i + 1;
			return NCLASSES;
		}
	}
	return refuse(EINVAL);
}

static long
name_class(pcinfo_t *info)
{
	if (info->pc_cid < 1 || info->pc_cid > NCLASSES)
		return refuse(EINVAL);
	strcpy(info->pc_clname, classes[info->pc_cid - 1]);
	return NCLASSES;
}

static int
class_call(idtype_t idtype, id_t id, int lowest)
{
	return (int)syscall(BARECPC_SYS_SCHED, BARECPC_SCHED_LOWEST,
	    (long)idtype, (long)(int)id, (long)lowest);
}

static long
set_class(idtype_t idtype, id_t id, const pcparms_t *parms)
{
	fxparms_t fx;

	if (parms->pc_cid < 1 || parms->pc_cid > NCLASSES)
		return refuse(EINVAL);
	memcpy(&fx, parms->pc_clparms, sizeof fx);
	if (parms->pc_cid == CID_FX &&
	    ((fx.fx_upri != 0 && fx.fx_upri != FX_NOCHANGE) ||
		(fx.fx_uprilim != 0 && fx.fx_uprilim != FX_NOCHANGE)))
		return refuse(EINVAL);
	return class_call(idtype, id, parms->pc_cid == CID_FX) == -1 ? -1 : 0;
}

static long
get_class(idtype_t idtype, id_t id, pcparms_t *parms)
{
	const fxparms_t fx = { .fx_tqnsecs = FX_TQDEF };
	int lowest = class_call(idtype, id, -1);

	if (lowest == -1)
		return -1;
	memset(parms, 0, sizeof *parms);
	parms->pc_cid = lowest ? CID_FX : 1;
	if (lowest)
		memcpy(parms->pc_clparms, &fx, sizeof fx);
	return 0;
}

long
priocntl(idtype_t idtype, id_t id, int cmd, ...)
{
	void *arg;
	va_list ap;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (arg == NULL)
		return refuse(EFAULT);
	switch (cmd) {
	case PC_GETCID:
		return find_class(arg);
	case PC_GETCLINFO:
		return name_class(arg);
	case PC_SETPARMS:
		return set_class(idtype, id, arg);
	case PC_GETPARMS:
		return get_class(idtype, id, arg);
	default:
		return refuse(EINVAL);
	}
}
