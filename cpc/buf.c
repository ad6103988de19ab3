/* Buffers: create, destroy, read, write, add, subtract; without the kernel. */
#include "cpc/cpci.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t
sample_bytes(int64_t n)
{
	return sizeof(struct cpc_sample) + (size_t)n * sizeof(uint64_t);
}

#define PAGE_BYTES 4096

/* Unused buffers, for any handle. */
static struct cpci_buf *old_bufs;
static pthread_mutex_t old_lock = PTHREAD_MUTEX_INITIALIZER;

static void
buf_keep(struct cpci_buf *cb)
{
	pthread_mutex_lock(&old_lock);
	cb->cb_next = old_bufs;
	old_bufs = cb;
	pthread_mutex_unlock(&old_lock);
}

/*
 * Add a page of unused buffers.  Not by malloc(3): memory that is never freed
 * would keep its heap from shrinking.
 */
static void
bufs_add(void)
{
	struct cpci_buf *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	for (size_t i = 0; i < PAGE_BYTES / sizeof *page; i++) {
		page[i].cb_next = old_bufs;
		old_bufs = &page[i];
	}
}

/* Returns an unused buffer, or NULL with ENOMEM. */
static struct cpci_buf *
buf_get(void)
{
	struct cpci_buf *cb;

	pthread_mutex_lock(&old_lock);
	if (old_bufs == NULL)
		bufs_add();
	if ((cb = old_bufs) != NULL)
		old_bufs = cb->cb_next;
	pthread_mutex_unlock(&old_lock);
	return cb;
}

void
cpci_buf_end(struct cpci_buf *cb)
{
	__atomic_store_n(&cb->cb_cpc, (cpc_t *)cb, __ATOMIC_RELAXED);
	free(cb->cb_block);
	buf_keep(cb);
}

/* Make a buffer for the set.  Returns its name, or NULL with ENOMEM. */
static cpc_buf_t *
buf_new(cpc_t *cpc, cpc_set_t *set, const struct cpci_set *cs)
{
	struct cpci_buf *cb = buf_get();
	cpc_buf_t *name;

	if (cb == NULL)
		return NULL;
	cb->cb_n = cs->cis_nreqs;
	cb->cb_block = calloc(2, sample_bytes(cb->cb_n));
	if (cb->cb_block == NULL)
		goto keep_buf;
	if ((name = cpci_table_add(&cpc->c_bufs, cb)) == NULL)
		goto free_block;
	cb->cb_set = cs->cis_id;
	/* A larger set is never bound, so no page shows it. */
	cb->cb_page_set =
	    CPC_PAGE_SET(cs->cis_id, cb->cb_n <= CPC_MAX_REQS ? cb->cb_n : 0);
	cb->cb_sample = cb->cb_block;
	cb->cb_both = 2 * (uintptr_t)cb->cb_block + sample_bytes(cb->cb_n);
	__atomic_store_n(&cb->cb_set_name, set, __ATOMIC_RELAXED);
	__atomic_store_n(&cb->cb_name, name, __ATOMIC_RELAXED);
	__atomic_store_n(&cb->cb_cpc, cpc, __ATOMIC_RELEASE);
	cpci_sample_expect(cb);
	return name;

free_block:
	free(cb->cb_block);
keep_buf:
	buf_keep(cb);
	return NULL;
}

cpc_buf_t *
cpc_buf_create(cpc_t *cpc, cpc_set_t *set)
{
	cpc_buf_t *buf = NULL;
	struct cpci_set *cs;
	sigset_t mask;

	if (cpc == NULL)
		return cpci_null();
	cpci_lock(cpc, &mask);
	if ((cs = cpci_set(cpc, set)) != NULL)
		buf = buf_new(cpc, set, cs);
	else
		cpci_invalid();
	cpci_unlock(cpc, &mask);
	return buf;
}

int
cpc_buf_destroy(cpc_t *cpc, cpc_buf_t *buf)
{
	struct cpci_buf *cb = NULL;
	sigset_t mask;

	if (cpc != NULL) {
		cpci_lock(cpc, &mask);
		if ((cb = cpci_table_remove(&cpc->c_bufs, buf)) != NULL)
			cpci_buf_end(cb);
		cpci_unlock(cpc, &mask);
	}
	return cb != NULL ? 0 : cpci_invalid();
}

/* Returns the address of request index's value, or NULL. */
static uint64_t *
value_of(cpc_t *cpc, cpc_buf_t *buf, int index)
{
	struct cpci_buf *cb = cpci_buf(cpc, buf);

	return cb != NULL && index >= 0 && index < cb->cb_n
	           ? &cb->cb_sample->cs_value[index]
	           : NULL;
}

int
cpc_buf_get(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t *val)
{
	const uint64_t *value = value_of(cpc, buf, index);

	if (value == NULL || val == NULL)
		return cpci_invalid();
	*val = *value;
	return 0;
}

int
cpc_buf_set(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t val)
{
	uint64_t *value = value_of(cpc, buf, index);

	if (value == NULL)
		return cpci_invalid();
	*value = val;
	return 0;
}

hrtime_t
cpc_buf_hrtime(cpc_t *cpc, cpc_buf_t *buf)
{
	const struct cpci_buf *cb = cpci_buf(cpc, buf);

	return cb != NULL ? cb->cb_sample->cs_hrtime : 0;
}

uint64_t
cpc_buf_tick(cpc_t *cpc, cpc_buf_t *buf)
{
	const struct cpci_buf *cb = cpci_buf(cpc, buf);

	return cb != NULL ? cb->cb_sample->cs_tick : 0;
}

/*
 * ds = a + sign * b.  Sets errno to EINVAL if the three do not have the same
 * number of requests.
 */
static void
add_scaled(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b, uint64_t sign)
{
	struct cpci_buf *cd = cpci_buf(cpc, ds);
	const struct cpci_buf *ca = cpci_buf(cpc, a);
	const struct cpci_buf *cb = cpci_buf(cpc, b);

	if (cd == NULL || ca == NULL || cb == NULL || cd->cb_n != ca->cb_n ||
	    cd->cb_n != cb->cb_n) {
		cpci_invalid();
		return;
	}
	struct cpc_sample *s = cd->cb_sample;
	for (int i = 0; i < cd->cb_n; i++)
		s->cs_value[i] = ca->cb_sample->cs_value[i] +
		                 sign * cb->cb_sample->cs_value[i];
	s->cs_tick = ca->cb_sample->cs_tick + sign * cb->cb_sample->cs_tick;
	s->cs_hrtime = ca->cb_sample->cs_hrtime > cb->cb_sample->cs_hrtime
	                   ? ca->cb_sample->cs_hrtime
	                   : cb->cb_sample->cs_hrtime;
}

void
cpc_buf_sub(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b)
{
	add_scaled(cpc, ds, a, b, UINT64_MAX); /* -1 modulo 2^64 */
}

void
cpc_buf_add(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *a, cpc_buf_t *b)
{
	add_scaled(cpc, ds, a, b, 1);
}

void
cpc_buf_copy(cpc_t *cpc, cpc_buf_t *ds, cpc_buf_t *src)
{
	struct cpci_buf *cd = cpci_buf(cpc, ds);
	const struct cpci_buf *cs = cpci_buf(cpc, src);

	if (cd == NULL || cs == NULL || cd->cb_n != cs->cb_n) {
		cpci_invalid();
		return;
	}
	memmove(cd->cb_sample, cs->cb_sample, sample_bytes(cd->cb_n));
}

void
cpc_buf_zero(cpc_t *cpc, cpc_buf_t *buf)
{
	struct cpci_buf *cb = cpci_buf(cpc, buf);

	if (cb == NULL) {
		cpci_invalid();
		return;
	}
	memset(cb->cb_sample, 0, sample_bytes(cb->cb_n));
}
