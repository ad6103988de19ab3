/*
 * Processor states and bindings, with the constants of Solaris and illumos.
 * Included by <libcpc.h> and by programs.
 */
#ifndef SYS_PROCESSOR_H
#define SYS_PROCESSOR_H

#include <sys/types.h>
#include <sys/wait.h> /* idtype_t: P_PID, P_ALL */

/* States of a processor. */
#define P_OFFLINE  1
#define P_ONLINE   2
#define P_STATUS   3 /* a query, not a state */
#define P_FAULTED  4
#define P_POWEROFF 5
#define P_NOINTR   6
#define P_SPARE    7

/* Values that processor_bind() takes in place of a processor id. */
#define PBIND_NONE       (-1)
#define PBIND_QUERY      (-2)
#define PBIND_HARD       (-3)
#define PBIND_SOFT       (-4)
#define PBIND_QUERY_TYPE (-5)

/* An idtype_t and an id that <sys/wait.h> lacks. */
#define P_LWPID ((idtype_t)8)
#define P_MYID  (-1) /* the caller */

#define PI_TYPELEN 16
#define PI_FPUTYPE 32

typedef struct {
	int pi_state;                       /* P_ONLINE, P_OFFLINE */
	char pi_processor_type[PI_TYPELEN]; /* "x86_64", "aarch64" */
	char pi_fputypes[PI_FPUTYPE];       /* empty */
	int pi_clock;                       /* MHz, of the tick counter */
} processor_info_t;

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bind an LWP (P_LWPID) or all LWPs of a process (P_PID) to a CPU.  PBIND_NONE
 * removes the binding; PBIND_QUERY leaves it.  *old becomes the previous
 * binding, unless old is NULL.  Returns 0, or -1 with errno EINVAL (no such
 * CPU, an offline CPU, another idtype), ESRCH or EFAULT.  processor_bind(2).
 */
int processor_bind(
    idtype_t idtype, id_t id, processorid_t cpu, processorid_t *old);
/*
 * Let a CPU run LWPs (P_ONLINE) or not (P_OFFLINE); P_STATUS changes nothing.
 * Returns the state before the call, or -1 with errno.  EINVAL: no such CPU or
 * state.  EBUSY: an LWP is bound to it, or it is the last one online.
 * p_online(2).
 */
int p_online(processorid_t cpu, int state);

/*
 * Describe a CPU.  Returns 0, or -1 with errno EINVAL (no such CPU) or EFAULT.
 * processor_info(2).
 */
int processor_info(processorid_t cpu, processor_info_t *info);

/* The CPU that the caller runs on.  getcpuid(3C). */
processorid_t getcpuid(void);

#ifdef __cplusplus
}
#endif

#endif /* SYS_PROCESSOR_H */
