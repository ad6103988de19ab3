/*
 * The internal interface of libcpc.  Included by cpc/ and by tests/host.
 *
 * Each handle has one lock.  It guards the handle's tables of sets and
 * buffers, and the sets.  The holder blocks SIGEMT, so a handler never waits
 * for the LWP that it interrupted.  Sampling, buffer arithmetic and calls on
 * the LWP's context take no lock.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libcpc.h>
#include <sys/cpc.h>

#include "events/machine.h"

/* The archive's folder of event tables. */
#define CPCI_EVENTS "/events"

/*
 * object.c: a cpc_set_t * or cpc_buf_t * is a name, not an address.
 *
 * The high bits of a name are an identity that the process never uses twice.
 * The low bits are the index of a slot in one of the handle's tables.  The
 * slot holds the identity of its object.  So one comparison finds a name that
 * was destroyed, belongs to another handle, or never was a set.
 */
struct cpci_slot {
	uint64_t sl_id; /* 0: free */
	void *sl_obj;
	uint32_t sl_next; /* next free slot, counted from 1; 0: none */
};

/* Each chunk is twice the last.  None moves, so a look-up needs no lock. */
#define CPCI_NCHUNK     18
#define CPCI_CHUNK_BITS 6 /* log2 of the slots in the first chunk */
#define CPCI_INDEX_BITS 24

struct cpci_table {
	struct cpci_slot *t_chunk[CPCI_NCHUNK];
	uint32_t t_used; /* slots used so far, free ones included */
	uint32_t t_free; /* list of free slots, counted from 1; 0: none */
};

/* Give obj a name.  Returns the name, or NULL with ENOMEM. */
void *cpci_table_add(struct cpci_table *t, void *obj);
/*
 * Returns true if the table has this name.  Other threads may remove the name
 * at the same time.
 */
bool cpci_table_has(struct cpci_table *t, const void *name);
/*
 * Returns the object of a name, or NULL if the table does not have the name.
 * The caller makes sure that no other thread removes it.
 */
void *cpci_table_find(struct cpci_table *t, const void *name);
/* Remove a name.  Returns its object, or NULL. */
void *cpci_table_remove(struct cpci_table *t, const void *name);
/* Remove any name.  Returns its object, or NULL if the table is empty. */
void *cpci_table_drain(struct cpci_table *t);
void cpci_table_free(struct cpci_table *t);

static inline uint64_t
cpci_id(const void *name)
{
	return (uintptr_t)name >> CPCI_INDEX_BITS;
}

struct __cpc {
	pthread_mutex_t c_lock;
	cpc_errhndlr_t *c_errfn; /* NULL: stderr */
	uint_t c_npic, c_caps;
	char c_cciname[CPC_MAX_IMPL_NAME], c_cpuref[CPC_MAX_CPUREF];
	struct machine c_machine; /* event.c loads its table */
	struct machine *c_types;  /* its core types; NULL: CPUs are alike */
	uint_t c_ntypes;
	struct cpci_table c_sets;      /* struct cpci_set */
	struct cpci_table c_bufs;      /* struct cpci_buf */
	struct cpci_set *c_old_sets;   /* destroyed, for the next set */
	struct cpci_pack *c_old_packs; /* outgrown, until the handle closes */
	pid_t c_target; /* the process that it bound to last, or 0; atomic */
};

/*
 * A request.  Only cir_preset changes later.  Each request holds a reference
 * to the one added before it.  So a walk needs a reference to the newest only,
 * even if the callback destroys the set.
 */
struct cpci_req {
	struct cpci_req *cir_older;
	unsigned cir_refs; /* atomic */
	int cir_index;     /* of its struct cpc_packreq in the pack, too */
	char *cir_event;
	uint64_t cir_preset; /* atomic */
	uint_t cir_flags, cir_nattrs;
	cpc_attr_t *cir_attrs; /* NULL: none */
};

/*
 * A bind takes no lock: a signal handler may call it while its LWP holds the
 * lock, and may leave it by siglongjmp().  It passes cis_pack to the kernel.
 * The kernel refuses a pack that is closed or belongs to another set.  The
 * bind then takes the lock and tries again.  So a set or pack stays allocated
 * until its handle closes; the next set uses it again.
 */
struct cpci_pack {
	struct cpci_pack *cip_next; /* in c_old_packs */
	size_t cip_room;
	struct cpc_pack cip_pack; /* the part that the kernel reads */
};

struct cpci_set {
	cpc_setid_t cis_id;  /* the identity in its name */
	uint64_t cis_target; /* cpc_bind_pctx(): CPC_TARGET(), or 0; atomic */
	int cis_nreqs;       /* atomic */
	bool cis_bound_once; /* a bind was tried; atomic */
	struct cpci_req *cis_newest;
	struct cpci_pack *cis_pack; /* atomic */
	struct cpci_set *cis_next;  /* in c_old_sets */
};

/*
 * A buffer.  Its memory is never freed, because an entry of recent[] in
 * sample.c may point to it for ever.  The next buffer uses it again.
 *
 * The assembly in cpc/arm64 and cpc/x86 uses this layout: cpc/read.h.
 */
struct cpci_buf {
	uint64_t cb_page_set; /* CPC_PAGE_SET() of its set */
	int64_t cb_n;         /* values of a sample */
	/*
	 * The sample, and the sum of its address and that of its twin, where
	 * the next sample goes.  So one store of a pointer swaps the two.
	 */
	struct cpc_sample *cb_sample;
	uintptr_t cb_both;
	/* The arguments of a cpc_set_sample() to this buffer. */
	cpc_t *cb_cpc; /* the buffer itself, which is no handle: destroyed */
	cpc_set_t *cb_set_name;
	cpc_buf_t *cb_name;
	cpc_setid_t cb_set;
	void *cb_block;
	struct cpci_buf *cb_next; /* among those destroyed */
};

/*
 * cpc/arm64/read.S, cpc/x86/read.S: the direct read.  If the counter page cg
 * says that the buffer's set is running, sample to *cb and return 0.
 * Otherwise jump to cpci_read_else() with the same arguments.
 *
 * The code in [cpci_read, cpci_read_end) may fault, because the kernel closed
 * the PICs to user level in the middle.  The kernel then continues the LWP at
 * cpci_read_fail, which also jumps to cpci_read_else().
 */
extern const bool cpci_can_read;
int cpci_read(const struct cpc_page *cg, struct cpci_buf *cb);
extern const char cpci_read_end[], cpci_read_fail[];
/* bind.c: sample a set that is bound to an LWP of another process. */
int cpci_sample_target(struct cpci_buf *cb);

/*
 * sample.c: sample a set whose PICs cannot be read.  A frozen set's counts
 * are in the page; otherwise make a system call.  0, or -1 with errno.
 */
int cpci_read_else(const struct cpc_page *cg, struct cpci_buf *cb);

/* sample.c: ask the kernel for the LWP's counter page, unless done before. */
void cpci_page_find(void);

/*
 * This thread's next sample may be to cb.  A new buffer's first sample then
 * costs the same as its later ones.
 */
void cpci_sample_expect(struct cpci_buf *cb);

/* bind.c: make the context of a target's LWP invalid.  0 or -1 with errno. */
int cpci_pctx_invalidate(pctx_t *pctx, id_t id);

/* buf.c: the buffer's name is gone: keep its memory for the next buffer. */
void cpci_buf_end(struct cpci_buf *cb);

/*
 * handle.c: copy a text that the kernel has, without its end if it is longer.
 */
void cpci_text(enum cpc_op op, char *text, size_t size);
void cpci_lock(cpc_t *cpc, sigset_t *mask);
void cpci_unlock(cpc_t *cpc, const sigset_t *mask);

/*
 * error.c: set errno to err, and return -1.  Report the subcode to the error
 * handler, unless it is -1.  why is a further explanation, or "".  The caller
 * holds no lock.
 */
int cpci_fail(
    cpc_t *cpc, const char *fn, int err, int subcode, const char *why);
/* Set errno to EINVAL, and return -1, or NULL. */
int cpci_invalid(void);
void *cpci_null(void);

/* core_type.c: describe the machine's core types, if any.  False: no memory. */
bool cpci_types_fetch(struct machine *mc);
/* The machine of a core type, counted from 1; 0: the handle's. */
const struct machine *cpci_machine_of(cpc_t *cpc, unsigned type);

/*
 * event.c: resolve a name or number, for a core type counted from 1, or for the
 * handle's machine (0).  The caller holds the handle's lock.
 */
bool cpci_event(
    cpc_t *cpc, unsigned type, const char *event, struct cpc_event *ev);
/* The same for a machine whose table is loaded. */
bool cpci_event_of(
    const struct machine *mc, const char *event, struct cpc_event *ev);
/* Write to buf why cpci_event() failed, or "". */
void cpci_event_why(cpc_t *cpc, const char *event, char *buf, size_t size);

/* request.c: append a request.  Returns 0, or an errno and perhaps *subcode. */
int cpci_req_add(cpc_t *cpc, struct cpci_set *cs, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs,
    int *subcode);
struct cpci_req *cpci_req_hold(struct cpci_req *r);
void cpci_req_release(struct cpci_req *r);

/*
 * set.c: the kernel refuses a closed pack with ESTALE.  A thread that closed
 * the pack may change it.
 */
void cpci_pack_close(struct cpci_set *cs);
void cpci_pack_open(struct cpci_set *cs);
/* Unbind the set on all LWPs, and keep its memory for the next set. */
void cpci_set_end(cpc_t *cpc, struct cpci_set *cs);
/* Free the memory that destroyed sets left.  The handle is being closed. */
void cpci_sets_free(cpc_t *cpc);

static inline struct cpci_set *
cpci_set(cpc_t *cpc, const cpc_set_t *set)
{
	return cpc != NULL ? cpci_table_find(&cpc->c_sets, set) : NULL;
}

/* Needs no lock: it does not read the set, which another thread may destroy. */
static inline bool
cpci_is_set(cpc_t *cpc, const cpc_set_t *set)
{
	return cpc != NULL && cpci_table_has(&cpc->c_sets, set);
}

static inline struct cpci_buf *
cpci_buf(cpc_t *cpc, const cpc_buf_t *buf)
{
	return cpc != NULL ? cpci_table_find(&cpc->c_bufs, buf) : NULL;
}
