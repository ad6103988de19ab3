/*
 * Sampling: by the LWP's counter page where that tells of the set, otherwise
 * by the kernel.
 */
#include "cpc/cpci.h"

#include <errno.h>

uint64_t cpci_changes;
#define NEVER UINT64_MAX

/*
 * What this thread sampled last, so that the next time no name has to be
 * looked up; good as long as no set or buffer was changed or destroyed.
 */
static _Thread_local struct {
	cpc_t *la_cpc;
	cpc_set_t *la_set;
	cpc_buf_t *la_buf;
	uint64_t la_changes;
	struct cpci_buf *la_cb;
	const struct cpc_page *la_page; /* of this LWP, for ever; or NULL */
} last = { .la_changes = NEVER };

/* A forked process has none of its parent's pages. */
static void
forget_page(void)
{
	last.la_page = NULL;
	last.la_changes = NEVER;
}

static void
find_page(void)
{
	static bool registered;
	intptr_t page;

	if (!cpci_can_read)
		return;
	if (!__atomic_exchange_n(&registered, true, __ATOMIC_RELAXED))
		pthread_atfork(NULL, NULL, forget_page);
	page = cpc_syscall(CPC_OP_PAGE, (uintptr_t)cpci_read,
	    (uintptr_t)cpci_read_end, (uintptr_t)cpci_read_fail, 0);
	last.la_page = page > 0 ? (const struct cpc_page *)page : NULL;
}

/* By the kernel; remembers the names once they were good for a sample. */
static int __attribute__((noinline))
sample_slow(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	uint64_t changes = __atomic_load_n(&cpci_changes, __ATOMIC_ACQUIRE);
	const struct cpci_set *cs = cpci_set(cpc, set);
	struct cpci_buf *cb = cpci_buf(cpc, buf);
	intptr_t r;

	if (cs == NULL || cb == NULL || cb->cb_set != cs->cs_id ||
	    cb->cb_n != cs->cs_nreqs) {
		errno = EINVAL;
		return -1;
	}
	r = cpc_syscall(CPC_OP_SAMPLE, cs->cs_id, (uintptr_t)cb->cb_sample,
	    (uintptr_t)cb->cb_n, 0);
	if (r < 0) {
		errno = (int)-r;
		return -1;
	}
	if (last.la_page == NULL)
		find_page();
	if (last.la_page != NULL) {
		last.la_cpc = cpc;
		last.la_set = set;
		last.la_buf = buf;
		last.la_changes = changes;
		last.la_cb = cb;
	}
	return 0;
}

int
cpc_set_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	struct cpci_buf *cb;
	struct cpc_sample *s;

	if (last.la_cpc != cpc || last.la_set != set || last.la_buf != buf ||
	    last.la_changes != __atomic_load_n(&cpci_changes, __ATOMIC_RELAXED))
		return sample_slow(cpc, set, buf);
	cb = last.la_cb;
	s = cb->cb_spare;
	if (!cpci_read(last.la_page, s, cb->cb_set, (uint64_t)cb->cb_n))
		return sample_slow(cpc, set, buf);
	cb->cb_spare = cb->cb_sample;
	cb->cb_sample = s;
	return 0;
}

int
cpc_buf_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	return cpc_set_sample(cpc, set, buf);
}
