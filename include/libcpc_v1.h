/*
 * Version 1 of libcpc, which programs of Solaris 8 and 9 use.  Included by
 * <libcpc.h>; define BARECPC_NO_CPC_V1 before to leave it out.
 *
 * An event (cpc_event_t) is what version 2 calls a set: two requests, of which
 * the first counts on counter 0, the second on counter 1.  It holds their
 * values, too.  Counters 0 and 1 are the two general PICs of lowest number.
 * An LWP has one event or one set of version 2; a bind of either displaces
 * the other.
 *
 * Unless an entry says otherwise:
 * - An int function returns 0, or -1 with errno set.  ENXIO: no usable PMU, or
 *   fewer than two general PICs.  EINVAL: an argument is NULL, or the event is
 *   of another cpuver.
 * - All LWPs of the process may call functions at the same time.
 * - Functions marked "signal-safe" may also be called in a SIGEMT handler.
 *
 * Each entry names the manual page that is its source.
 */
#ifndef LIBCPC_V1_H
#define LIBCPC_V1_H

#include <stdarg.h>
#include <stdint.h>
#include <sys/types.h>

#include <libpctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CPU versions.  cpc_getcpuver() returns one of the last three here; the others
 * have names, but no events.
 */
#define CPC_ULTRA1          1000
#define CPC_ULTRA2          1001
#define CPC_ULTRA3          1002
#define CPC_ULTRA3_PLUS     1003
#define CPC_ULTRA3_I        1004
#define CPC_ULTRA4_PLUS     1005
#define CPC_PENTIUM         2000
#define CPC_PENTIUM_MMX     2001
#define CPC_PENTIUM_PRO     2002
#define CPC_PENTIUM_PRO_MMX 2003
#define CPC_SPARC64_III     3000
#define CPC_SPARC64_V       3002
#define CPC_BARECPC_X86     9001 /* Intel and AMD */
#define CPC_BARECPC_ARM     9002 /* PMUv3 */
#define CPC_BARECPC_SOFT    9003 /* the software PMU */

/*
 * Two events and their values.  All 0 is a valid start; memset(3) may be used.
 *
 * ce_pes says what counter 0 and counter 1 count.  USR is bit 16, OS is bit 17.
 * On arm64 the event's number is in bits 15:0, on the software PMU its code.
 * On x86 a word is the low half of an event select.  It has the event in bits
 * 7:0, the unit mask in 15:8, the counter mask in 31:24.  Bit 18 is edge, 19
 * PC, 20 INT, 21 any thread, 22 EN, 23 INV.  PC, INT and EN have no effect.
 */
typedef struct __cpc_event {
	int ce_cpuver;
	hrtime_t ce_hrt;    /* when the values were taken: gethrtime(3C) */
	uint64_t ce_tsc;    /* CPU cycles (CPC_TICKREG_NAME) since the bind */
	uint64_t ce_pic[2]; /* the values; in a bind, the presets */
	uint32_t ce_pes[2];
} cpc_event_t;

/* Names of these members on other machines. */
#define ce_tick ce_tsc
#define ce_cesr ce_pes[0]

#define CPC_TICKREG(ev) ((ev)->ce_tsc)

/*
 * Negotiate the version of the interface.  v is the version for which the
 * program was compiled, or CPC_VER_NONE.  Returns the version that the library
 * then has: v, or the current one for CPC_VER_NONE; CPC_VER_NONE if it cannot.
 * cpc_version(3CPC).
 */
uint_t cpc_version(uint_t v);

/*
 * An error function.  fn is the name of the function that reports, without
 * `cpc_`.  vfprintf(stderr, fmt, ap) prints one line.
 */
typedef void(cpc_errfn_t)(const char *fn, const char *fmt, va_list ap);

/*
 * Make fn the process's error function for version 1.  NULL restores the
 * default, which writes `libcpc: <fn>: <text>` to stderr.
 * cpc_seterrfn(3CPC).
 */
void cpc_seterrfn(cpc_errfn_t *fn);

/*
 * Can this process use the counters now?  Returns 0; or -1 after one report,
 * with errno ENOSYS (no PMU), or EAGAIN while a CPU is being measured.  The
 * answer may be out of date at once.  cpc_access(3CPC).
 */
int cpc_access(void);

/*
 * The version of this machine's CPUs.  -1, silently, if it has no PMU, or not
 * two general PICs.  cpc_getcpuver(3CPC).
 */
int cpc_getcpuver(void);

/*
 * Facts of a cpuver: its name, the document of its events, the syntax of an
 * event specification, and the number of counters.  NULL or 0 for an unknown
 * cpuver.  The strings stay valid.  cpc_getcciname(3CPC).
 */
const char *cpc_getcciname(int cpuver);
const char *cpc_getcpuref(int cpuver);
const char *cpc_getusage(int cpuver);
uint_t cpc_getnpic(int cpuver);

/*
 * Call action for each event that counter regno of a cpuver counts.  bits is
 * the low byte of its code.  The name is valid during the call only.  No call
 * for an unknown cpuver or regno.  cpc_walk_names(3CPC).
 */
void cpc_walk_names(int cpuver, int regno, void *arg,
    void (*action)(void *arg, int regno, const char *name, uint8_t bits));

/*
 * Make *event of a specification such as `pic0=EVENT,pic1=EVENT,sys1,nouser`.
 * cpc_getusage() has the syntax.  An EVENT is any name or number of
 * cpc_set_add_request() that ce_pes can hold.  Without `pic0=` and `pic1=` the
 * events take counter 0, then 1.  Each counts user mode, with `sys` also
 * system mode, with `nouser` not user mode; `sys0` means counter 0 alone.
 *
 * Everything else of *event becomes 0.  Returns 0, or the number of errors,
 * each of which was reported.  cpc_strtoevent(3CPC).
 */
int cpc_strtoevent(int cpuver, const char *spec, cpc_event_t *event);

/*
 * The specification of an event, which cpc_strtoevent() turns into the same
 * event.  The caller frees it with free(3).  NULL with ENOMEM, or with EINVAL
 * if the event is not this machine's.  cpc_strtoevent(3CPC).
 */
char *cpc_eventtostr(cpc_event_t *event);

/*
 * accum += event, for values and ticks; ce_hrt becomes the later of the two.
 * diff = left - right, for values and ticks; all else is left's.  The arguments
 * may be the same event.  cpc_event_diff(3CPC).
 */
void cpc_event_accum(cpc_event_t *accum, cpc_event_t *event);
void cpc_event_diff(cpc_event_t *diff, cpc_event_t *left, cpc_event_t *right);

/*
 * Bind the event to the calling LWP.  It counts from ce_pic on return.  Many
 * LWPs may bind the same event; each has its own counts.  A NULL event means
 * cpc_rele().  The event itself is not used after the call.
 *
 * flags: CPC_BIND_LWP_INHERIT gives each LWP that this one creates the event,
 * with the same presets.  CPC_BIND_EMT_OVF sends SIGEMT when a counter
 * overflows, and freezes both until the next bind.  With both flags a new LWP
 * gets SIGEMT first, and finds UINT64_MAX in both values.
 *
 * Signal-safe.  EINVAL: the event, or flags; EAGAIN: a CPU is being measured;
 * ENOTSUP: no overflow interrupt; EACCES: CPUs that are online share one PMU.
 * A failure other than these has unbound what was bound.
 * cpc_bind_event(3CPC).
 */
int cpc_bind_event(cpc_event_t *event, int flags);

/*
 * Fill *event with the values of the LWP's event, its words ce_pes, the time
 * and the ticks.  Signal-safe.  EINVAL: no event is bound; EAGAIN: a CPU is
 * being measured, or was since the bind.  cpc_bind_event(3CPC).
 */
int cpc_take_sample(cpc_event_t *event);

/* Unbind the LWP's event, if it has one.  Returns 0.  Signal-safe. */
int cpc_rele(void);

/*
 * Let both counters of the LWP's event count user mode (system mode), or not.
 * The values continue, the ticks start again.  So a program can mark what its
 * controller counts: of an event or set that the controller bound, all requests
 * change, and the ticks continue.
 *
 * Signal-safe.  EINVAL: neither is bound; EAGAIN: a CPU is being measured, or
 * was since the bind.  cpc_count_usr_events(3CPC).
 */
int cpc_count_usr_events(int enable);
int cpc_count_sys_events(int enable);

/*
 * The same for LWP id of the process that pctx controls, while that is
 * stopped: in a handler, or between runs (<libpctx.h>).  The argument flags is
 * 0.  The event is taken from the LWP by exec(2) and by pctx_release().
 * cpc_pctx_invalidate() makes the LWP's event or set invalid: a sample fails
 * with EAGAIN.  ESRCH: no such LWP; EBUSY: it is running.
 * cpc_pctx_bind_event(3CPC).
 */
int cpc_pctx_bind_event(pctx_t *pctx, id_t id, cpc_event_t *event, int flags);
int cpc_pctx_take_sample(pctx_t *pctx, id_t id, cpc_event_t *event);
int cpc_pctx_rele(pctx_t *pctx, id_t id);
int cpc_pctx_invalidate(pctx_t *pctx, id_t id);

/*
 * Measure a CPU.  The calling LWP is bound to it (processor_bind(2)), and so
 * is each LWP that uses the descriptor.  While any CPU is being measured, no
 * LWP can bind an event or set, and what LWPs had bound is invalid.
 * cpc_shared_open(3CPC).
 */

/*
 * Take the CPU to which the LWP is bound.  Returns a descriptor.  An LWP may
 * have several, of different CPUs.  EINVAL: the LWP is not bound to a CPU;
 * EACCES: the process lacks the privilege cpc_cpu, or a CPU that shares the PMU
 * is being measured; EAGAIN: the CPU is being measured; ENXIO: no PMU.
 */
int cpc_shared_open(void);

/*
 * As cpc_bind_event(), cpc_take_sample() and cpc_rele(), but for the CPU.
 * A bind replaces the event that was bound before.  The argument flags is 0.
 * EAGAIN: the LWP is not bound to that CPU any more.
 */
int cpc_shared_bind_event(int fd, cpc_event_t *event, int flags);
int cpc_shared_take_sample(int fd, cpc_event_t *event);
int cpc_shared_rele(int fd);

/* Release the CPU.  Any LWP may call it, on any CPU. */
void cpc_shared_close(int fd);

#ifdef __cplusplus
}
#endif

#endif /* LIBCPC_V1_H */
