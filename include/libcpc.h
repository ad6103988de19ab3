/*
 * The public interface to the CPU performance counters, and its manual.
 * Included by programs.  Source-compatible with libcpc(3LIB) of Solaris and
 * illumos.
 *
 * A request is one event to count.  A set holds requests that are counted
 * together.  A bind gives each request of a set a PIC (a physical counter,
 * numbered from 0) and starts it.  A buffer holds one snapshot of a set.
 * Counts belong to an LWP, have 64 bits, and start at the request's preset.
 *
 * Unless an entry says otherwise:
 * - An int function returns 0, or -1 with errno set.  A success does not
 *   change errno.  A failure leaves nothing half made.
 * - Every function fails with EINVAL if an argument is NULL, or is a set or
 *   buffer that this handle does not have (any more).
 * - "EINVAL, SUBCODE" means that the error handler (cpc_seterrhndlr) gets
 *   that subcode before the function returns.
 * - All LWPs of the process that opened the handle may call functions at the
 *   same time.
 * - A function marked "signal-safe" may also be called in a SIGEMT handler.
 *   It allocates nothing.
 *
 * Each entry names the manual page that is its source.
 */
#ifndef LIBCPC_H
#define LIBCPC_H

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/processor.h>
#include <sys/types.h>
#include <ucontext.h>

#include <libpctx.h>
#include <sys/cpc.h> /* CPC_COUNT_*, CPC_BIND_*, CPC_CAP_*, subcodes */

#ifdef __cplusplus
#include <string.h>
extern "C" {
#else
/*
 * Examples in the manual pages call these without their headers.  <string.h>
 * also declares index(), and an example has a variable of that name.
 */
char *strerror(int err);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
void bzero(void *s, size_t n);
#endif

/* Versions of this interface.  cpc_open() accepts the current one only. */
#define CPC_VER_NONE    0
#define CPC_VER_1       1
#define CPC_VER_CURRENT 2

/* The name of the counter under cpc_buf_tick(), for a column's title. */
#ifdef __aarch64__
#define CPC_TICKREG_NAME "pmccntr"
#else
#define CPC_TICKREG_NAME "tsc"
#endif

/* Opaque.  The value of a set or buffer is a name, not an address. */
typedef struct __cpc cpc_t;
typedef struct __cpc_set cpc_set_t;
typedef struct __cpc_buf cpc_buf_t;

/* An attribute refines a request's event.  cpc_walk_attrs() lists the names. */
typedef struct __cpc_attr {
	char *ca_name;
	uint64_t ca_val;
} cpc_attr_t;

/* Open and close */

/*
 * Open a handle.  ver is CPC_VER_CURRENT.  Any number of handles may be open,
 * and they are independent.  Returns NULL with EINVAL for another ver (tested
 * first), ENOSYS if the machine has no usable PMU (the kernel's log says
 * why), or ENOMEM.  Prints nothing.  cpc_open(3CPC).
 */
cpc_t *cpc_open(int ver);

/*
 * Unbind every set of the handle on all LWPs, and destroy the handle with its
 * sets and buffers.  The strings of cpc_cciname() and cpc_cpuref() become
 * invalid.  Always returns 0, also for NULL.  Process exit does the same.
 * cpc_open(3CPC).
 */
int cpc_close(cpc_t *cpc);

/* Errors */

/*
 * An error handler.  fn is the full name of the function that fails; subcode is
 * one of the subcodes CPC_*.  A call of vfprintf(stderr, fmt, ap) prints one
 * line.  The handler runs on the LWP that called fn.  It may call any function
 * of this header, and may change errno.
 */
typedef void(cpc_errhndlr_t)(
    const char *fn, int subcode, const char *fmt, va_list ap);

/*
 * Make fn the handle's error handler.  NULL restores the default, which writes
 * `libcpc: <function>: <text>` to stderr.  cpc_seterrhndlr(3CPC).
 */
int cpc_seterrhndlr(cpc_t *cpc, cpc_errhndlr_t *fn);

/* Queries.  cpc_open() fetched the answers.  Signal-safe. */

/* The number of PICs, 1 or more, fixed ones too.  NULL: 0.  cpc_npic(3CPC). */
uint_t cpc_npic(cpc_t *cpc);

/* The capabilities, CPC_CAP_*.  0 if cpc is NULL.  cpc_npic(3CPC). */
uint_t cpc_caps(cpc_t *cpc);

/*
 * The name of the counter interface, which is not empty, and the document that
 * describes its events, which may be.  The handle owns both strings.
 * cpc_npic(3CPC).
 */
const char *cpc_cciname(cpc_t *cpc);
const char *cpc_cpuref(cpc_t *cpc);

/*
 * The walkers call action(arg, ...) once for each name.  A name is valid
 * during its call only.  action may call any function except cpc_close() of
 * this handle.
 *
 * The first two walk over the vendor's events, the next two over generic
 * events, whose names begin with "PAPI_".  *_all() walks over the events of
 * all PICs, *_pic() over those of one PIC.  A picno of cpc_npic() or more sets
 * errno to EINVAL and calls nothing.  cpc_npic(3CPC), generic_events(3CPC).
 */
void cpc_walk_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event));
void cpc_walk_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event));
void cpc_walk_generic_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event));
void cpc_walk_generic_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event));

/*
 * Walk over the attributes that a request may have.  The last is always
 * "picnum".  cpc_npic(3CPC).
 */
void cpc_walk_attrs(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *attr));

/*
 * Core types.  An extension of barecpc, for machines whose CPUs have different
 * PMUs, such as P and E cores.  CPUs with the same PMU form a core type, which
 * has the name that Linux's perf gives its PMU: "cpu_core" and "cpu_atom" on
 * x86, "armv8_cortex_a55" for example on Arm.
 *
 * An ordinary handle describes what all CPUs share: cpc_npic(), cpc_caps(), the
 * walkers, and the names of events, which must mean the same on every type.
 * Its sets count on any CPU.
 *
 * A set counts on one core type, and may use all that its CPUs have, if one of
 * its requests asks for the type:
 * - by the event's name, "cpu_core/EVENT/" or "cpu_core/event=0xa8,umask=1/";
 * - by the attribute "core_type", whose value is the number of the type;
 * - by a handle of cpc_open_core_type().
 *
 * Then cpc_set_add_request() may fail with EINVAL and one subcode more.
 * CPC_CONFLICTING_REQS: another request of the set asks for another type.
 * CPC_ATTRIBUTE_OUT_OF_RANGE: there is no core type of that number.
 *
 * While an LWP has such a set, it runs only on CPUs of the type: the bind moves
 * it there and restricts its affinity.  The affinity becomes as before with the
 * unbind, at exec(2), and when another set displaces this one.  LWPs that
 * inherit the set are restricted too; a forked process is not.
 *
 * The bind fails with EINVAL and CPC_PBIND_FAILED if the LWP's affinity or
 * processor binding leaves no such CPU.  So does cpc_bind_cpu() to a CPU of
 * another type.  If the LWP is bound to such a CPU later, or all CPUs of the
 * type go offline, the set becomes invalid: EAGAIN.
 */

/*
 * The name of core type n, from 0 on.  NULL with EINVAL past the last; the
 * first is NULL if all CPUs have the same PMU.  The handle owns the string.
 */
const char *cpc_core_type(cpc_t *cpc, uint_t n);
/* The core type of a CPU, or -1 with EINVAL. */
int cpc_core_type_of_cpu(cpc_t *cpc, processorid_t id);
/* The core type that a set counts on; -1 with EINVAL if it counts on any. */
int cpc_set_core_type(cpc_t *cpc, cpc_set_t *set);
/*
 * As cpc_open(), but for the core type of this name alone: its number of PICs,
 * its events and attributes.  All its sets count on that type.  EINVAL if the
 * machine has no such type.
 */
cpc_t *cpc_open_core_type(int ver, const char *name);

/* Sets and requests */

/* Create a set without requests.  NULL with ENOMEM.  cpc_set_create(3CPC). */
cpc_set_t *cpc_set_create(cpc_t *cpc);

/*
 * Unbind the set on all LWPs, and destroy it.  Its buffers stay, but can no
 * longer take a sample.  cpc_set_create(3CPC).
 */
int cpc_set_destroy(cpc_t *cpc, cpc_set_t *set);

/*
 * Append a request to a set that no LWP and no CPU has bound.  Returns its
 * index: 0, 1, 2 in order of addition.  The set keeps copies of event and
 * attrs.
 *
 * event: the name of an event, whose case matters, or an event code of this
 * machine: a number that strtol(3) accepts with base 0.
 *
 * preset: the value at which the count starts at each bind.
 *
 * flags: CPC_COUNT_USER, CPC_COUNT_SYSTEM and CPC_COUNT_HV choose the
 * privileges at which the request counts; with none of them it counts nothing.
 * CPC_OVF_NOTIFY_EMT asks for SIGEMT when the counter overflows.  For a preset
 * in [UINT64_MAX - INT32_MAX, UINT64_MAX] that is after 2^64 - preset events.
 *
 * attrs: nattrs attributes.  If two have the same name, the last one is used.
 * "picnum" asks for that PIC.  The backend defines the others, and checks their
 * values at the bind.
 *
 * Returns -1 with errno.  The tests have this order:
 * - EINVAL: the set is bound;
 * - EINVAL, CPC_INVALID_EVENT: no PIC counts such an event;
 * - EINVAL, CPC_REQ_INVALID_FLAGS;
 * - EINVAL: nattrs is over 50, or attrs is NULL and nattrs is not 0;
 * - EINVAL, CPC_INVALID_ATTRIBUTE: the PMU has no such attribute;
 * - EINVAL, CPC_INVALID_PICNUM: the PMU has no such PIC;
 * - EINVAL, CPC_PIC_NOT_CAPABLE: that PIC cannot count the named event;
 * - ENOMEM.
 * cpc_set_create(3CPC).
 */
int cpc_set_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs);

/*
 * Change the preset of request index.  It takes effect at the next bind.
 * Solaris 11, "Programming Interfaces Guide".
 */
int cpc_set_request_preset(
    cpc_t *cpc, cpc_set_t *set, int index, uint64_t preset);

/*
 * Call action once for each request, the last one added first.  The attributes
 * include "picnum" if the request has it.  If nattrs is 0, attrs is NULL.  The
 * event and attrs are valid during the call only.  cpc_set_create(3CPC).
 */
void cpc_walk_requests(cpc_t *cpc, cpc_set_t *set, void *arg,
    void (*action)(void *arg, int index, const char *event, uint64_t preset,
	uint_t flags, int nattrs, const cpc_attr_t *attrs));

/*
 * Describe the PIC of request index.  The set is bound to the calling LWP;
 * otherwise, or if it has no such request, EINVAL.  Signal-safe.  An extension
 * of barecpc.
 */
typedef struct __cpc_reqinfo {
	uint_t ri_picnum; /* the PIC */
	uint_t ri_width;  /* bits of its counter */
	uint64_t ri_code; /* the event, as the PMU encodes it */
	uint_t ri_index;  /* PIC number for RDPMC, n of PMEVCNTR<n>_EL0 */
} cpc_reqinfo_t;
int cpc_request_info(
    cpc_t *cpc, cpc_set_t *set, int index, cpc_reqinfo_t *info);

/*
 * Buffers.  A buffer holds a value for each request, a time and a tick.  All
 * these functions except create and destroy are signal-safe.
 * cpc_buf_create(3CPC).
 */

/*
 * Create a buffer for the requests that the set has now.  Everything in it is
 * 0.  If a request is added later, the buffer can no longer take a sample.
 * Returns NULL with EINVAL or ENOMEM on failure.
 */
cpc_buf_t *cpc_buf_create(cpc_t *cpc, cpc_set_t *set);
int cpc_buf_destroy(cpc_t *cpc, cpc_buf_t *buf);

/* Read or write the value of request index.  EINVAL: buf has no such index. */
int cpc_buf_get(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t *val);
int cpc_buf_set(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t val);

/*
 * The time at which the sample was taken, in ns of gethrtime(3C).  Returns 0 if
 * buf never took a sample, or is not a buffer of the handle.
 */
hrtime_t cpc_buf_hrtime(cpc_t *cpc, cpc_buf_t *buf);

/*
 * The CPU cycles (CPC_TICKREG_NAME) for which the set has counted since its
 * bind, at any privilege.  They do not include the time that the LWP was off
 * the CPU or the set was frozen.  Returns 0 if buf is not a buffer of the
 * handle.
 */
uint64_t cpc_buf_tick(cpc_t *cpc, cpc_buf_t *buf);

/*
 * ds = a - b and ds = a + b, modulo 2^64, for values and tick.  The hrtime of
 * ds becomes the later of the two.  The three may be the same buffer, and may
 * belong to different sets.  If their numbers of requests differ, ds stays as
 * it is and errno becomes EINVAL.
 */
void cpc_buf_sub(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b);
void cpc_buf_add(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b);

/*
 * Copy values, hrtime and tick.  If the numbers of requests differ, ds stays
 * as it is and errno becomes EINVAL.
 */
void cpc_buf_copy(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *src);
/* Set values, hrtime and tick to 0. */
void cpc_buf_zero(cpc_t *cpc, cpc_buf_t *buf);

/* Sampling and binding */

/*
 * Take a sample: value i of buf becomes the 64-bit count of request i, its
 * preset included; hrtime and tick are set too.  The calling LWP has bound or
 * inherited the set.  Samples of a frozen set are equal, their hrtime too.
 * Signal-safe.
 *
 * Returns -1 with errno, and leaves buf as it is:
 * - EINVAL: the set is not bound to this LWP, or buf was created for another
 *   set, or before the last request was added;
 * - EAGAIN: a set bound to a CPU has taken the counters since the bind.
 * cpc_buf_create(3CPC).
 */
int cpc_set_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf);
/* Another name of it.  Solaris 11, "Programming Interfaces Guide". */
int cpc_buf_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf);

/*
 * Bind the set to the calling LWP.  On return every request has a PIC and
 * counts from its preset.  The argument flags is 0 or CPC_BIND_LWP_INHERIT,
 * which gives each LWP that this one creates an instance of its own.
 *
 * An LWP has at most one set: a bind unbinds the previous one, of any handle.
 * Many LWPs may bind the same set; each has its own counts.  Signal-safe.
 *
 * Returns -1 with errno.  The tests have this order:
 * - EINVAL: flags, or a set without requests;
 * - ENOMEM: no memory to copy a large set.
 * If this LWP has bound the set to a CPU, that binding ends now.
 * - EAGAIN: a profile counts this LWP, or a set bound to a CPU has the
 *   counters;
 * - EACCES: two CPUs that are online share one PMU.
 * A failure from here on has unbound the previous set:
 * - EINVAL: more than 100 requests;
 * - EINVAL, CPC_PBIND_FAILED: the LWP cannot run on the set's core type;
 * - EAGAIN or EACCES, as above: others took the counters while the LWP moved
 *   to that core type;
 * - EINVAL, CPC_RESOURCE_UNAVAIL: each PIC counts what all CPUs retire;
 * - EINVAL, CPC_REQ_INVALID_FLAGS;
 * - EINVAL: more requests than PICs;
 * - EINVAL, CPC_INVALID_PICNUM;
 * - EINVAL: two requests ask for the same PIC;
 * - ENOMEM;
 * - EINVAL, CPC_RESOURCE_UNAVAIL: the PICs cannot count all requests;
 * - ENOTSUP: CPC_OVF_NOTIFY_EMT without CPC_CAP_OVERFLOW_INTERRUPT.
 * Then one request after the other, in its PMU's order:
 * - EINVAL with CPC_INVALID_ATTRIBUTE, CPC_ATTRIBUTE_OUT_OF_RANGE,
 *   CPC_INVALID_EVENT, CPC_CONFLICTING_REQS or CPC_RESOURCE_UNAVAIL;
 * - EACCES with CPC_HV_NO_ACCESS or CPC_ATTR_REQUIRES_PRIVILEGE.
 * cpc_bind_curlwp(3CPC).
 */
int cpc_bind_curlwp(cpc_t *cpc, cpc_set_t *set, uint_t flags);

/*
 * Bind the set to a CPU, until it is unbound or the calling LWP ends.  The set
 * counts everything that runs there, the kernel and the idle loop included.
 * The argument flags is 0.  CPC_OVF_NOTIFY_EMT sends no signal here.
 *
 * The call also binds the LWP to that CPU, and the LWP may sample the set
 * while it stays there.  The unbind restores the LWP's processor binding.
 *
 * While any CPU has a set, no LWP can have one.  Sets that LWPs had bound
 * become invalid: a sample returns EAGAIN until the set is unbound.  A new
 * cpc_bind_curlwp() fails with EAGAIN.
 *
 * Returns -1 with errno.  The tests have this order:
 * - EINVAL: flags, or a set without requests.
 * A failure from here on has unbound the set's other instances:
 * - EINVAL, CPC_PBIND_FAILED: no such CPU;
 * - ENOSYS, CPC_PBIND_FAILED: the CPU is offline;
 * - EACCES: the process lacks the privilege cpc_cpu;
 * - EAGAIN: the CPU has a set;
 * - EACCES: a CPU that shares its PMU has a set;
 * - EINVAL: more than 100 requests;
 * - EINVAL, CPC_PBIND_FAILED: the CPU is of another core type than the set;
 * - as cpc_bind_curlwp(), from "each PIC counts" on;
 * - EAGAIN or EACCES, as above, or EAGAIN if another LWP bound this one
 *   elsewhere: it happened while the LWP moved to the CPU.
 * cpc_bind_curlwp(3CPC).
 */
int cpc_bind_cpu(cpc_t *cpc, processorid_t id, cpc_set_t *set, uint_t flags);

/*
 * Bind the set to LWP id of the process that pctx controls, while that is
 * stopped: in a handler, or between runs (<libpctx.h>).  The LWP counts from
 * when it goes on.  The argument flags is 0.  LWPs that it creates inherit
 * nothing.  A notify overflow sends SIGEMT to that LWP.
 *
 * Any LWP of the calling process may sample the set.  A set has one such LWP:
 * another bind of the set unbinds it there first.  A bind of another set to
 * that LWP displaces this one.
 *
 * The instance ends with the LWP, with exec(2), and with pctx_release().  A
 * sample then fails: ESRCH if the LWP is gone, else EINVAL.  cpc_unbind()
 * succeeds.
 *
 * Returns -1 with errno as cpc_bind_curlwp() does, and ESRCH if there is no
 * such LWP.  Attributes need the privilege of the controlled process.
 * cpc_bind_curlwp(3CPC).
 */
int cpc_bind_pctx(
    cpc_t *cpc, pctx_t *pctx, id_t id, cpc_set_t *set, uint_t flags);

/*
 * pctx_run() of the process to which the handle bound a set last returns 0
 * soon.  Signal-safe.
 */
void cpc_terminate(cpc_t *cpc);

/*
 * Unbind the set from the calling LWP; its counts are lost.  If the set is
 * bound to a CPU, any LWP of the process may unbind it.  EINVAL if the set is
 * not bound.  Signal-safe.  cpc_bind_curlwp(3CPC).
 */
int cpc_unbind(cpc_t *cpc, cpc_set_t *set);

/*
 * Change the preset of request index of the set that is bound to the calling
 * LWP.  It takes effect at the next cpc_set_restart(), and lasts until the
 * unbind.  EINVAL if no set is bound or it has no such request; EAGAIN if a
 * set bound to a CPU took the counters.  Signal-safe.  cpc_bind_curlwp(3CPC).
 */
int cpc_request_preset(cpc_t *cpc, int index, uint64_t preset);

/*
 * Start all requests again at their presets, whether the set is frozen or not.
 * The tick is not reset.  set is the set bound to the calling LWP; NULL means
 * the same.  EINVAL if it is not bound; EAGAIN if a set bound to a CPU took
 * the counters.  Signal-safe.  cpc_bind_curlwp(3CPC).
 */
int cpc_set_restart(cpc_t *cpc, cpc_set_t *set);

/*
 * cpc_disable() freezes the set bound to the calling LWP, of any handle.
 * cpc_enable() lets it count again, from the frozen values.  They do not nest.
 * EINVAL if no set is bound, or if it is (disable) or is not (enable) frozen;
 * EAGAIN if a set bound to a CPU took the counters.  Signal-safe.
 * cpc_enable(3CPC).
 */
int cpc_disable(cpc_t *cpc);
int cpc_enable(cpc_t *cpc);

#ifdef __cplusplus
}
#endif

#ifndef BARECPC_NO_CPC_V1
#include <libcpc_v1.h>
#endif

#endif /* LIBCPC_H */
