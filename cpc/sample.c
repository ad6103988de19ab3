/*
 * Sampling: by the LWP's counter page where that tells of the set, otherwise
 * by the kernel.
 */
#include "cpc/cpci.h"

#include <errno.h>

uint64_t cpci_changes = 1; /* so that what is zero is of the past */

/*
 * What this thread sampled lately, by the low bits of the buffer's name, so
 * that the next time no name has to be looked up; good as long as no set or
 * buffer was changed or destroyed.
 */
static _Thread_local struct recent {
	cpc_t *re_cpc;
	cpc_set_t *re_set;
	cpc_buf_t *re_buf;
	struct cpci_buf *re_cb;
	uint64_t re_changes;
} recent[4];

static _Thread_local const struct cpc_page *page; /* the LWP's, or NULL */

/* A forked process has none of its parent's pages. */
static void
forget_page(void)
{
	page = NULL;
}

void
cpci_page_find(void)
{
	static bool registered;
	intptr_t r;

	if (!cpci_can_read || page != NULL)
		return;
	if (!__atomic_exchange_n(&registered, true, __ATOMIC_RELAXED))
		pthread_atfork(NULL, NULL, forget_page);
	r = cpc_syscall(CPC_OP_PAGE, (uintptr_t)cpci_read,
	    (uintptr_t)cpci_read_end, (uintptr_t)cpci_read_fail, 0);
	if (r > 0)
		page = (const struct cpc_page *)r;
}

static int __attribute__((noinline)) sample_by_call(const struct cpci_buf *cb)
{
	intptr_t r = cpc_syscall(CPC_OP_SAMPLE, cb->cb_set,
	    (uintptr_t)cb->cb_sample, (uintptr_t)cb->cb_n, 0);

	if (r < 0) {
		errno = (int)-r;
		return -1;
	}
	return 0;
}

static inline int
sample(struct cpci_buf *cb)
{
	struct cpc_sample *s = cb->cb_spare;

	if (page == NULL || !cpci_read(page, s, cb->cb_set, (uint64_t)cb->cb_n))
		return sample_by_call(cb);
	/* A signal handler that sampled to the same buffer may have swapped. */
	if (s != cb->cb_sample) {
		cb->cb_spare = cb->cb_sample;
		cb->cb_sample = s;
	}
	return 0;
}

/* Look the names up, and remember them. */
static int __attribute__((noinline))
sample_by_name(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	uint64_t changes = __atomic_load_n(&cpci_changes, __ATOMIC_ACQUIRE);
	const struct cpci_set *cs = cpci_set(cpc, set);
	struct cpci_buf *cb = cpci_buf(cpc, buf);

	if (cs == NULL || cb == NULL || cb->cb_set != cs->cs_id ||
	    cb->cb_n != cs->cs_nreqs) {
		errno = EINVAL;
		return -1;
	}
	recent[(uintptr_t)buf % 4] =
	    (struct recent){ cpc, set, buf, cb, changes };
	return sample(cb);
}

int
cpc_set_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	const struct recent *re = &recent[(uintptr_t)buf % 4];

	/* One branch: a miss costs the same whatever it is that differs. */
	if ((((uintptr_t)re->re_cpc ^ (uintptr_t)cpc) |
		((uintptr_t)re->re_set ^ (uintptr_t)set) |
		((uintptr_t)re->re_buf ^ (uintptr_t)buf) |
		(re->re_changes ^
		    __atomic_load_n(&cpci_changes, __ATOMIC_RELAXED))) != 0)
		return sample_by_name(cpc, set, buf);
	return sample(re->re_cb);
}

int
cpc_buf_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	return cpc_set_sample(cpc, set, buf);
}
