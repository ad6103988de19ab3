/*
 * cpc_set_sample(): a direct read if the LWP's counter page shows the set as
 * running or frozen, otherwise a system call.
 */
#include "cpc/cpci.h"

#include <errno.h>
#include <stddef.h>

#include "cpc/read.h"

#define AT(type, field, at)                                                    \
	_Static_assert(offsetof(struct type, field) == (at), "cpc/read.h")
AT(cpc_page, cg_seq, CG_SEQ);
AT(cpc_page, cg_tick, CG_TICK);
AT(cpc_page, cg_set, CG_SET);
AT(cpc_page, cg_mult, CG_MULT);
AT(cpc_page, cg_lift, CG_LIFT);
AT(cpc_page, cg_req, CG_REQ);
AT(cpc_page_req, cq_data, CQ_DATA);
AT(cpc_page_req, cq_last, CQ_LAST);
AT(cpc_page_req, cq_index, CQ_INDEX);
AT(cpc_page_req, cq_mask, CQ_MASK);
_Static_assert(sizeof(struct cpc_page_req) == CQ_BYTES, "cpc/read.h");
AT(cpc_sample, cs_hrtime, CS_HRTIME);
AT(cpc_sample, cs_tick, CS_TICK);
AT(cpc_sample, cs_value, CS_VALUE);
AT(cpci_buf, cb_page_set, CB_SET);
AT(cpci_buf, cb_n, CB_N);
AT(cpci_buf, cb_sample, CB_SAMPLE);
AT(cpci_buf, cb_both, CB_BOTH);
_Static_assert(_Alignof(struct cpci_buf) % 8 == 0, "one store is atomic");

/* Counter pages of an LWP without one: not asked for yet, or refused. */
static const struct cpc_page page_not_asked, page_refused;

/* A buffer that no call names. */
static struct cpci_buf no_buf = { .cb_cpc = (cpc_t *)&no_buf };

/*
 * Each thread has the counter page of its LWP, and the buffers to which it
 * sampled last, indexed by the low bits of their names.  After fork(2) the
 * child's LWP has its page at the same address.
 *
 * A signal handler may replace an entry of recent[] between any two
 * instructions.  So an entry is one pointer, and a sample reads it once.  The
 * buffer itself holds the three names that a caller must pass.
 */
static _Thread_local struct {
	const struct cpc_page *page;
	struct cpci_buf *recent[4];
} own = { &page_not_asked, { &no_buf, &no_buf, &no_buf, &no_buf } };

void
cpci_page_find(void)
{
	if (!cpci_can_read || own.page != &page_not_asked)
		return;
	intptr_t r = cpc_syscall(CPC_OP_PAGE, (uintptr_t)cpci_read,
	    (uintptr_t)cpci_read_end, (uintptr_t)cpci_read_fail, 0);
	own.page = r > 0 ? (const struct cpc_page *)r : &page_refused;
}

/* Copy a frozen set's counts from the page.  False: it is not frozen. */
static inline bool
read_frozen(const struct cpc_page *cg, struct cpci_buf *cb)
{
	struct cpc_sample *s;
	int64_t i, n = cb->cb_n;
	uint64_t seq;

	do {
		seq = __atomic_load_n(&cg->cg_seq, __ATOMIC_RELAXED);
		s = (struct cpc_sample *)(cb->cb_both -
					  (uintptr_t)cb->cb_sample);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (cg->cg_frozen != cb->cb_page_set)
			return false;
		s->cs_hrtime = cg->cg_hrtime;
		s->cs_tick = cg->cg_tick;
		i = 0; /* a bound set has at least one request */
		do {
			s->cs_value[i] = cg->cg_req[i].cq_data;
		} while (++i < n);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (__atomic_load_n(&cg->cg_seq, __ATOMIC_RELAXED) != seq);
	/* A handler may sample to the same buffer here: see read.S. */
	__atomic_store_n(&cb->cb_sample, s, __ATOMIC_RELAXED);
	return true;
}

/* noinline: a frozen sample of one request takes 47 instructions, not 53. */
static int __attribute__((noinline)) sample_by_call(struct cpci_buf *cb)
{
	intptr_t r = cpc_syscall(CPC_OP_SAMPLE, cb->cb_set,
	    (uintptr_t)cb->cb_sample, (uintptr_t)cb->cb_n, 0);
	if (r == -EINVAL)
		return cpci_sample_target(cb);
	if (r < 0) {
		errno = (int)-r;
		return -1;
	}
	cpci_page_find(); /* an LWP that inherited the set has not asked yet */
	return 0;
}

int
cpci_read_else(const struct cpc_page *cg, struct cpci_buf *cb)
{
	return read_frozen(cg, cb) ? 0 : sample_by_call(cb);
}

void
cpci_sample_expect(struct cpci_buf *cb)
{
	own.recent[(uintptr_t)cb->cb_name % 4] = cb;
}

/*
 * Look up the names, and put the buffer into recent[].  noinline: a sample of
 * one request takes 49 instructions, not 60.
 */
static int __attribute__((noinline))
sample_by_name(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	struct cpci_buf *cb = cpci_buf(cpc, buf);

	/* The page and the kernel compare cb_n with the bound set. */
	if (!cpci_is_set(cpc, set) || cb == NULL || cb->cb_set != cpci_id(set))
		return cpci_invalid();
	own.recent[(uintptr_t)buf % 4] = cb;
	return cpci_read(own.page, cb);
}

/*
 * One load of what another thread may store.  Not __atomic_load_n(): for that,
 * gcc 12 computes each address first, and a sample on arm64 takes 54
 * instructions, not 51.  The thread sanitizer does not know such a load.
 */
#define LOAD_ONCE(lvalue) (*(volatile __typeof__(lvalue) *)&(lvalue))

__attribute__((no_sanitize("thread"))) int
cpc_set_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	struct cpci_buf *cb = own.recent[(uintptr_t)buf % 4];
	const cpc_t *its_cpc = LOAD_ONCE(cb->cb_cpc);
	const cpc_set_t *its_set = LOAD_ONCE(cb->cb_set_name);
	const cpc_buf_t *its_name = LOAD_ONCE(cb->cb_name);

	/*
	 * If the set was destroyed since, it is not bound, and neither the page
	 * nor the kernel samples it.
	 */
	if (its_cpc == cpc && its_set == set && its_name == buf)
		return cpci_read(own.page, cb);
	return sample_by_name(cpc, set, buf);
}

int
cpc_buf_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	return cpc_set_sample(cpc, set, buf);
}
