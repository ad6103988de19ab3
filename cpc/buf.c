/*
 * Buffers: create, destroy, read, write, add and subtract.  No call here
 * enters the kernel.
 */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdlib.h>

static int
fail_invalid(void)
{
	errno = EINVAL;
	return -1;
}

static size_t
sample_bytes(int64_t n)
{
	return sizeof(struct cpc_sample) + (size_t)n * sizeof(uint64_t);
}

cpc_buf_t *
cpc_buf_create(cpc_t *cpc, cpc_set_t *set)
{
	cpc_buf_t *buf = NULL;
	struct cpci_set *cs;
	struct cpci_buf *cb;
	sigset_t mask;

	if (cpc == NULL) {
		errno = EINVAL;
		return NULL;
	}
	cpci_lock(cpc, &mask);
	if ((cs = cpci_set(cpc, set)) == NULL) {
		errno = EINVAL;
		goto unlock;
	}
	cb = calloc(1, sizeof *cb + 2 * sample_bytes(cs->cis_nreqs));
	if (cb == NULL)
		goto unlock;
	cb->cb_set = cs->cis_id;
	cb->cb_n = cs->cis_nreqs;
	cb->cb_sample = (struct cpc_sample *)(cb + 1);
	cb->cb_spare = (struct cpc_sample *)((char *)cb->cb_sample +
					     sample_bytes(cb->cb_n));
	if ((buf = cpci_table_add(&cpc->c_bufs, cb)) == NULL)
		free(cb);

unlock:
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
		cb = cpci_table_remove(&cpc->c_bufs, buf);
		cpci_changed();
		cpci_unlock(cpc, &mask);
	}
	if (cb == NULL)
		return fail_invalid();
	free(cb);
	return 0;
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
		return fail_invalid();
	*val = *value;
	return 0;
}

int
cpc_buf_set(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t val)
{
	uint64_t *value = value_of(cpc, buf, index);

	if (value == NULL)
		return fail_invalid();
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
	struct cpc_sample *s;
	int i;

	if (cd == NULL || ca == NULL || cb == NULL || cd->cb_n != ca->cb_n ||
	    cd->cb_n != cb->cb_n) {
		errno = EINVAL;
		return;
	}
	s = cd->cb_sample;
	for (i = 0; i < cd->cb_n; i++)
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
		errno = EINVAL;
		return;
	}
	memmove(cd->cb_sample, cs->cb_sample, sample_bytes(cd->cb_n));
}

void
cpc_buf_zero(cpc_t *cpc, cpc_buf_t *buf)
{
	struct cpci_buf *cb = cpci_buf(cpc, buf);

	if (cb == NULL) {
		errno = EINVAL;
		return;
	}
	memset(cb->cb_sample, 0, sample_bytes(cb->cb_n));
}
