/*
 * What the files of libcpc share.  Included by cpc/ and, to look inside, by
 * tests/host.
 *
 * One lock for each handle guards its lists of sets and buffers, and the
 * sets; SIGEMT is blocked while it is held, so a handler never waits for the
 * LWP it interrupted.  Sampling, buffers and everything that acts on the
 * LWP's context take no lock.
 */
#ifndef CPC_CPCI_H
#define CPC_CPCI_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libcpc.h>
#include <sys/cpc.h>

#include "events/machine.h"

/* The folder of the archive that has the tables of events. */
#define CPCI_EVENTS "/events"

/*
 * object.c: what a cpc_set_t * or cpc_buf_t * really is.
 *
 * It is a name: an identity, given once in the life of the process, over the
 * index of a slot in a table of the handle.  The slot knows the identity it
 * holds, so a pointer that was destroyed, comes from another handle or was
 * never a set is told by one comparison, whatever the number of objects.
 */
struct cpci_slot {
	uint64_t sl_id; /* 0: free */
	void *sl_obj;
	uint32_t sl_next; /* the next free slot, counted from 1; 0: none */
};

/* Chunks double, and never move: a look-up takes no lock. */
#define CPCI_NCHUNK     18
#define CPCI_CHUNK_BITS 6 /* slots in the first, as a power of two */
#define CPCI_INDEX_BITS 24

struct cpci_table {
	struct cpci_slot *t_chunk[CPCI_NCHUNK];
	uint32_t t_used; /* slots ever handed out */
	uint32_t t_free; /* list of slots handed back, counted from 1 */
};

/* Name obj.  Returns the name, or NULL with ENOMEM. */
void *cpci_table_add(struct cpci_table *t, void *obj);
/* Has the name an object here?  Only this needs no lock against its removal. */
bool cpci_table_has(struct cpci_table *t, const void *name);
/* The object of a name, or NULL if it has none here. */
void *cpci_table_find(struct cpci_table *t, const void *name);
/* Forget the name, for ever; returns the object, or NULL. */
void *cpci_table_remove(struct cpci_table *t, const void *name);
/* Remove any one; NULL when all are gone. */
void *cpci_table_drain(struct cpci_table *t);
void cpci_table_free(struct cpci_table *t);

static inline uint64_t
cpci_id(const void *name)
{
	return (uintptr_t)name >> CPCI_INDEX_BITS;
}

/* Text that the kernel keeps. */
struct cpci_list {
	char *cil_text;
	const char **cil_name;
	unsigned cil_n;
};

struct __cpc {
	pthread_mutex_t c_lock;
	cpc_errhndlr_t *c_errfn; /* NULL: stderr */
	uint_t c_npic;
	uint_t c_caps;
	struct cpci_list c_cciname, c_cpuref; /* of one name each */
	struct machine c_machine;             /* its table: cpci_machine() */
	struct cpci_table c_sets;             /* struct cpci_set */
	struct cpci_table c_bufs;             /* struct cpci_buf */
	struct cpci_set *c_old_sets;
	struct cpci_pack *c_old_packs;
};

/*
 * A request.  Only cir_preset changes after it was made.  Each holds on to the
 * one added before it, so that a walk needs only the newest, whatever the
 * callback does to the set.
 */
struct cpci_req {
	struct cpci_req *cir_older;
	unsigned cir_refs; /* atomic */
	int cir_index;
	char *cir_event;
	uint64_t cir_preset; /* atomic */
	uint_t cir_flags;
	uint_t cir_nattrs;
	cpc_attr_t *cir_attrs; /* NULL: none */
	size_t cir_at;         /* of its struct cpc_packreq in cis_pack */
};

/*
 * A bind takes no lock: what it interrupts may hold one, and a handler may
 * leave it by a jump.  It hands cis_pack to the kernel, which looks whether
 * that is the set's and whole; if not, the bind waits for the lock and tries
 * again.  So neither a set nor a pack is freed before its handle is closed:
 * they are used again for the next.
 */
struct cpci_pack {
	struct cpci_pack *cip_next; /* in c_old_packs */
	size_t cip_room;
	struct cpc_pack cip_pack; /* what a bind hands to the kernel */
};

struct cpci_set {
	cpc_setid_t cis_id;  /* the identity in its name */
	int cis_nreqs;       /* atomic */
	bool cis_bound_once; /* else the kernel knows nothing of it; atomic */
	struct cpci_req *cis_newest;
	struct cpci_pack *cis_pack; /* atomic */
	struct cpci_set *cis_next;  /* in c_old_sets */
};

/* Assembly knows the layout: cpc/read.h. */
struct cpci_buf {
	cpc_setid_t cb_set;
	int64_t cb_n;
	struct cpc_sample *cb_sample; /* cb_n values, behind this */
	struct cpc_sample *cb_spare;  /* where the next is taken */
};

/*
 * The machine's read sequence, [cpci_read, cpci_read_end): samples to *cb from
 * the page, and returns 0, if that tells of its set; else, and where a fault
 * in it, of PICs just closed, comes out at cpci_read_fail, it goes on to
 * cpci_read_else(), with the same arguments.
 */
extern const bool cpci_can_read;
int cpci_read(const struct cpc_page *cg, struct cpci_buf *cb);
extern const char cpci_read_end[], cpci_read_fail[];
/* sample.c: what is not read from PICs. */
int cpci_read_else(const struct cpc_page *cg, struct cpci_buf *cb);

/* sample.c: have the kernel make the LWP's counter page, once. */
void cpci_page_find(void);

/* Sets and buffers destroyed and sets changed, ever: atomic. */
extern uint64_t cpci_changes;

static inline void
cpci_changed(void)
{
	__atomic_add_fetch(&cpci_changes, 1, __ATOMIC_RELEASE);
}

/* handle.c */
void cpci_lock(cpc_t *cpc, sigset_t *mask);
void cpci_unlock(cpc_t *cpc, const sigset_t *mask);

/*
 * error.c: report a failure and set errno; returns -1.  No lock is held.
 * A subcode of -1 is not reported; `why`, unless it is empty, goes with one.
 */
int cpci_fail(
    cpc_t *cpc, const char *fn, int err, int subcode, const char *why);

/* event.c */
/* li is empty before, and after a failure. */
bool cpci_list_fetch(struct cpci_list *li, enum cpc_op op);
void cpci_list_free(struct cpci_list *li);
/* Resolve a name or number, with the handle's lock held. */
bool cpci_event(cpc_t *cpc, const char *event, struct cpc_event *ev);
/* Why that failed, or "", into buf. */
void cpci_event_why(cpc_t *cpc, const char *event, char *buf, size_t size);

/*
 * request.c: append a request.  0, or an errno and perhaps a subcode.
 */
int cpci_req_add(cpc_t *cpc, struct cpci_set *cs, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs,
    int *subcode);
struct cpci_req *cpci_req_hold(struct cpci_req *r);
void cpci_req_release(struct cpci_req *r);

/*
 * set.c: from close to open no bind takes the pack, nor is one half done; for
 * ever, where it is not opened again.
 */
void cpci_pack_close(struct cpci_set *cs);
void cpci_pack_open(struct cpci_set *cs);
/* Unbind wherever it is bound; it may be used again. */
void cpci_set_end(cpc_t *cpc, struct cpci_set *cs);
/* The handle goes: free what was used, and all that may be used again. */
void cpci_sets_free(cpc_t *cpc);

static inline struct cpci_set *
cpci_set(cpc_t *cpc, const cpc_set_t *set)
{
	return cpc != NULL ? cpci_table_find(&cpc->c_sets, set) : NULL;
}

/*
 * The same without the lock, and so without a look into the set, which another
 * thread may destroy: its identity is in the name.
 */
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

#endif /* CPC_CPCI_H */
