/*
 * Scheduling classes of Solaris and illumos: TS, and FX at its lowest priority.
 * Included by programs.
 */
#ifndef SYS_PRIOCNTL_H
#define SYS_PRIOCNTL_H

#include <stdint.h>
#include <sys/procset.h>
#include <sys/types.h>

#define PC_CLNMSZ   16
#define PC_CLINFOSZ 32
#define PC_CLPARMSZ 32

typedef short pri_t;

typedef struct {
	id_t pc_cid; /* PC_CLNULL: unknown */
	char pc_clname[PC_CLNMSZ];
	int32_t pc_clinfo[PC_CLINFOSZ / sizeof(int32_t)];
} pcinfo_t;

typedef struct {
	id_t pc_cid;
	int32_t pc_clparms[PC_CLPARMSZ / sizeof(int32_t)];
} pcparms_t;

#define PC_CLNULL ((id_t)-1)

#define PC_GETCID    0
#define PC_GETCLINFO 1
#define PC_SETPARMS  2
#define PC_GETPARMS  3

#ifdef __cplusplus
extern "C" {
#endif

/*
 * PC_GETCID takes a pcinfo_t with the class's name, "TS" or "FX", and fills in
 * pc_cid; PC_GETCLINFO the name for pc_cid.  Both return the number of classes.
 *
 * PC_SETPARMS and PC_GETPARMS take a pcparms_t, for an LWP (P_LWPID) or all
 * LWPs of a process (P_PID).  An LWP of TS runs as all do.  An LWP of FX runs
 * only while its CPU has nothing else to do.  TS has no parameters that count,
 * FX those of <sys/fxpriocntl.h>.
 *
 * Returns -1 with errno EINVAL (class, command or idtype), ESRCH or EFAULT.
 * priocntl(2).
 */
long priocntl(idtype_t idtype, id_t id, int cmd, ...);

#ifdef __cplusplus
}
#endif

#endif /* SYS_PRIOCNTL_H */
