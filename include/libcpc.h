/*
 * CPU performance counters: the public interface, and its manual.  Included
 * by programs; source-compatible with libcpc(3LIB) of Solaris and illumos.
 *
 * A request is one event to count, a set is requests counted together, a
 * bind gives each request a PIC (a physical counter, numbered from 0) and
 * starts it, a buffer holds one snapshot of a set.  Counts belong to an LWP,
 * have 64 bits, and start at the request's preset.
 *
 * Unless an entry says otherwise:
 * - int functions return 0, or -1 with errno; a success leaves errno alone,
 *   and a failure leaves nothing half made.  EINVAL is also the answer to a
 *   set or buffer that is not, or no longer, this handle's, and to NULL.
 * - "EINVAL, SUBCODE" means that the error handler (cpc_seterrhndlr) is told
 *   that subcode before the function returns.
 * - functions may be called from any LWP of the process that opened the
 *   handle, at the same time.  Those marked "signal-safe" may also be called
 *   from a SIGEMT handler, and allocate nothing.
 *
 * Each entry names the manual page that is its source.
 */
#ifndef LIBCPC_H
#define LIBCPC_H

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/types.h>
#include <ucontext.h>

#include <libpctx.h>
#include <sys/cpc.h> /* CPC_COUNT_*, CPC_BIND_*, CPC_CAP_*, subcodes */

#ifdef __cplusplus
extern "C" {
#endif

/* Versions of this interface; only the current one can be opened. */
#define CPC_VER_NONE    0
#define CPC_VER_1       1
#define CPC_VER_CURRENT 2

/* What the tick of cpc_buf_tick() counts, as tools title their columns. */
#ifdef __aarch64__
#define CPC_TICKREG_NAME "pmccntr"
#else
#define CPC_TICKREG_NAME "tsc"
#endif

/* Opaque; a set or buffer is a name for an object, not its address. */
typedef struct __cpc cpc_t;
typedef struct __cpc_set cpc_set_t;
typedef struct __cpc_buf cpc_buf_t;

/* A name and value that modify a request; cpc_walk_attrs() lists the names. */
typedef struct __cpc_attr {
	char *ca_name;
	uint64_t ca_val;
} cpc_attr_t;

/*
 * Open and close
 */

/*
 * Open a handle.  ver is CPC_VER_CURRENT.  Any number of handles may be
 * open; they do not know of each other.  Returns NULL with EINVAL for
 * another ver (tested first), ENOSYS where the machine has no usable PMU (the
 * kernel's log says why), ENOMEM.  Prints nothing.  cpc_open(3CPC).
 */
cpc_t *cpc_open(int ver);

/*
 * Unbind every set of the handle, on all LWPs, and destroy the handle with
 * all its sets and buffers; their names, cciname and cpuref die with it.
 * Always returns 0, for NULL too.  Process exit implies it.  cpc_open(3CPC).
 */
int cpc_close(cpc_t *cpc);

/*
 * Errors
 */

/*
 * An error handler: fn is the failing function's full name, subcode one of
 * CPC_*, and vfprintf(stderr, fmt, ap) prints one line.  It runs on the
 * failing LWP, may call any function here, and need not keep errno.
 */
typedef void(cpc_errhndlr_t)(
    const char *fn, int subcode, const char *fmt, va_list ap);

/*
 * Tell fn about failures on this handle; NULL brings back the default, which
 * writes `libcpc: <function>: <text>` to stderr.  Returns 0.
 * cpc_seterrhndlr(3CPC).
 */
int cpc_seterrhndlr(cpc_t *cpc, cpc_errhndlr_t *fn);

/*
 * Queries.  Answered from what cpc_open() learned.
 */

/* How many PICs there are, fixed ones included; 1 or more.  cpc_npic(3CPC). */
uint_t cpc_npic(cpc_t *cpc);

/* CPC_CAP_* in a word.  cpc_npic(3CPC). */
uint_t cpc_caps(cpc_t *cpc);

/*
 * The name of the counter interface, and where its events are documented.
 * Owned by the handle, never NULL; the first is not empty.  cpc_npic(3CPC).
 */
const char *cpc_cciname(cpc_t *cpc);
const char *cpc_cpuref(cpc_t *cpc);

/*
 * Walkers call action(arg, ...) once for each name, which is valid during
 * the call only.  action may call any function but cpc_close() of this
 * handle.  Platform events are the vendor's names, generic ones begin with
 * "PAPI_".  The walks over one PIC keep the backend's order; picno >=
 * cpc_npic() sets errno to EINVAL and calls nothing.  cpc_npic(3CPC),
 * generic_events(3CPC).
 */
void cpc_walk_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event));
void cpc_walk_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event));
void cpc_walk_generic_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event));
void cpc_walk_generic_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event));

/* Each attribute a request may have; the last is always "picnum". */
void cpc_walk_attrs(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *attr));

/*
 * Sets and requests
 */

/* A new, empty set.  NULL with ENOMEM.  cpc_set_create(3CPC). */
cpc_set_t *cpc_set_create(cpc_t *cpc);

/*
 * Unbind the set wherever it is bound, and free it.  Its buffers stay, and
 * can be sampled into no more.  cpc_set_create(3CPC).
 */
int cpc_set_destroy(cpc_t *cpc, cpc_set_t *set);

/*
 * Append a request to a set that is bound nowhere; returns its index: 0, 1,
 * 2 in order of addition.  Everything is copied.
 *
 * event: a name, case and all, or a number as strtol(3) with base 0 takes
 * it, which is an event code of this machine.
 * preset: what the count starts from at each bind.
 * flags: CPC_COUNT_USER, CPC_COUNT_SYSTEM, both or neither (which counts
 * nothing); CPC_COUNT_HV; CPC_OVF_NOTIFY_EMT to be sent SIGEMT when the
 * counter overflows, after 2^64 - preset events for a preset in
 * [UINT64_MAX - INT32_MAX, UINT64_MAX].
 * attrs: nattrs of them; of two with one name the last holds.  "picnum" asks
 * for that PIC; the others are the backend's, and their values are not
 * judged before the bind.
 *
 * Returns -1 with, in the order of the tests: EINVAL if the set is bound;
 * EINVAL, CPC_INVALID_EVENT; EINVAL, CPC_REQ_INVALID_FLAGS; EINVAL if nattrs
 * is over 50 or attrs is NULL; EINVAL, CPC_INVALID_ATTRIBUTE; EINVAL,
 * CPC_INVALID_PICNUM; EINVAL, CPC_PIC_NOT_CAPABLE if that PIC cannot count
 * that (named) event; ENOMEM.  cpc_set_create(3CPC).
 */
int cpc_set_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs);

/*
 * Change what request `index` starts from at the next bind; a bound set
 * counts on unchanged.  Solaris 11, "Programming Interfaces Guide".
 */
int cpc_set_request_preset(
    cpc_t *cpc, cpc_set_t *set, int index, uint64_t preset);

/*
 * Call action once for each request, the last one added first.  attrs is
 * NULL where nattrs is 0, and includes "picnum" where that was given; event
 * and attrs are valid during the call only.  cpc_set_create(3CPC).
 */
void cpc_walk_requests(cpc_t *cpc, cpc_set_t *set, void *arg,
    void (*action)(void *arg, int index, const char *event, uint64_t preset,
	uint_t flags, int nattrs, const cpc_attr_t *attrs));

/*
 * Where request `index` of a set bound to the calling LWP is being counted:
 * the PIC, the bits of its counter, the event as the PMU encodes it, and what
 * the machine's read instruction takes for the PIC (RDPMC, PMEVCNTR<n>_EL0).
 * EINVAL if the set is not bound to the caller or has no such request.
 * Signal-safe.  barecpc's own.
 */
typedef struct __cpc_reqinfo {
	uint_t ri_picnum;
	uint_t ri_width;
	uint64_t ri_code;
	uint_t ri_index;
} cpc_reqinfo_t;
int cpc_request_info(
    cpc_t *cpc, cpc_set_t *set, int index, cpc_reqinfo_t *info);

/*
 * Buffers: values by request index, a time and a tick.  All are signal-safe
 * but create and destroy.  cpc_buf_create(3CPC).
 */

/*
 * A buffer for the requests the set has now, all zero.  Adding another
 * request makes it useless for sampling.  NULL with EINVAL or ENOMEM.
 */
cpc_buf_t *cpc_buf_create(cpc_t *cpc, cpc_set_t *set);
int cpc_buf_destroy(cpc_t *cpc, cpc_buf_t *buf);

/* The value of a request in buf; EINVAL for an index it has not. */
int cpc_buf_get(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t *val);
int cpc_buf_set(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t val);

/*
 * When the values were taken from the PICs, in ns of gethrtime(3C); 0 if
 * they never were, or buf is no buffer.
 */
hrtime_t cpc_buf_hrtime(cpc_t *cpc, cpc_buf_t *buf);

/*
 * CPU cycles (CPC_TICKREG_NAME), at any privilege, that the set had been
 * programmed for since its bind: not those it spent off the CPU, frozen or
 * disabled.
 */
uint64_t cpc_buf_tick(cpc_t *cpc, cpc_buf_t *buf);

/*
 * ds = a - b and ds = a + b, modulo 2^64, values and tick; hrtime becomes the
 * later of the two.  The three may be one buffer, and of different sets;
 * nothing happens unless their request counts are equal.
 */
void cpc_buf_sub(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b);
void cpc_buf_add(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b);

/* Values, hrtime and tick; nothing unless request counts are equal. */
void cpc_buf_copy(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *src);
/* Values, hrtime and tick. */
void cpc_buf_zero(cpc_t *cpc, cpc_buf_t *buf);

/*
 * Sampling and binding
 */

/*
 * Take a snapshot: buf[i] becomes the 64-bit count of request i, its preset
 * included, with hrtime and tick.  The calling LWP must hold an instance of
 * the set: it bound it, or inherited it.  A frozen set gives the same values
 * every time, hrtime too.  Signal-safe.
 *
 * Returns -1 with EINVAL if the set is not bound to this LWP or buf was made
 * for another set or before a request was added; EAGAIN if the counters were
 * taken since the bind.  buf is then unchanged.  cpc_buf_create(3CPC).
 */
int cpc_set_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf);
/* The same.  Solaris 11, "Programming Interfaces Guide". */
int cpc_buf_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf);

/*
 * Bind the set to the calling LWP: on return every request has a PIC and is
 * counting from its preset.  flags is 0 or CPC_BIND_LWP_INHERIT.  An LWP has
 * one set: what it had before is unbound, whichever handle it came from.
 * One set may be bound by many LWPs; each has its own counts.  Signal-safe.
 *
 * Returns -1 with, in the order of the tests: EINVAL for flags, or a set
 * without requests; EAGAIN while a CPU-bound set has the counters.  What
 * fails from here on has unbound the previous set: EINVAL for more than 100
 * requests, or more than PICs; EINVAL, CPC_REQ_INVALID_FLAGS; EINVAL,
 * CPC_INVALID_PICNUM; EINVAL if two requests want one PIC; EINVAL,
 * CPC_RESOURCE_UNAVAIL if no assignment to PICs exists; ENOTSUP for
 * CPC_OVF_NOTIFY_EMT without CPC_CAP_OVERFLOW_INTERRUPT; EINVAL with
 * CPC_INVALID_EVENT, CPC_INVALID_ATTRIBUTE, CPC_ATTRIBUTE_OUT_OF_RANGE or
 * CPC_CONFLICTING_REQS; EACCES, CPC_ATTR_REQUIRES_PRIVILEGE; EACCES,
 * CPC_HV_NO_ACCESS; ENOMEM.  cpc_bind_curlwp(3CPC).
 */
int cpc_bind_curlwp(cpc_t *cpc, cpc_set_t *set, uint_t flags);

/*
 * Bind the set to a CPU: it counts whatever runs there, the kernel and the
 * idle loop included, until it is unbound or the calling LWP ends.  The LWP
 * is bound to that CPU with it, and may sample the set as long as it stays
 * there; at unbind it gets back the processor binding it had.  flags is 0.
 * CPC_OVF_NOTIFY_EMT signals nobody here.
 *
 * While any CPU has a set no LWP has: what LWPs had bound samples EAGAIN, for
 * ever, and what they bind fails with EAGAIN.
 *
 * Returns -1 with, in the order of the tests: EINVAL for flags, or a set
 * without requests; from here on instances the set had are unbound: EINVAL,
 * CPC_PBIND_FAILED if there is no such CPU; ENOSYS, CPC_PBIND_FAILED if it is
 * offline; EACCES without the privilege cpc_cpu; EAGAIN if the CPU has a set;
 * EACCES if a sibling with the same PMU has one; then as cpc_bind_curlwp().
 * cpc_bind_curlwp(3CPC).
 */
int cpc_bind_cpu(cpc_t *cpc, processorid_t id, cpc_set_t *set, uint_t flags);

/*
 * Release the caller's instance of the set; what was not sampled is lost.
 * A set bound to a CPU is released by any LWP of the process.  EINVAL if
 * there is nothing to release.  Signal-safe.  cpc_bind_curlwp(3CPC).
 */
int cpc_unbind(cpc_t *cpc, cpc_set_t *set);

/*
 * Change what request `index` of the set bound to the calling LWP restarts
 * from; its count does not change before cpc_set_restart().  Forgotten at
 * unbind.  EINVAL without a bound set or for an index it has not; EAGAIN if
 * the counters were taken.  Signal-safe.  cpc_bind_curlwp(3CPC).
 */
int cpc_request_preset(cpc_t *cpc, int index, uint64_t preset);

/*
 * Count on from the presets, frozen or not.  set is the one bound to the
 * calling LWP, or NULL for whichever that is; tick goes on.  EINVAL, EAGAIN
 * as above.  Signal-safe.  cpc_bind_curlwp(3CPC).
 */
int cpc_set_restart(cpc_t *cpc, cpc_set_t *set);

/*
 * Freeze the set bound to the calling LWP, whichever handle bound it; count
 * on from the frozen values.  They do not nest: EINVAL without a bound set,
 * if it is frozen already, or not frozen; EAGAIN if the counters were taken.
 * Signal-safe.  cpc_enable(3CPC).
 */
int cpc_disable(cpc_t *cpc);
int cpc_enable(cpc_t *cpc);

#ifdef __cplusplus
}
#endif

#endif /* LIBCPC_H */
