/*
 * Counts the user instructions of a piece of code by libcpc.  The examples
 * include it.
 */
#ifndef EXAMPLES_COUNT_H
#define EXAMPLES_COUNT_H

#include <libcpc.h>
#include <stdio.h>
#include <stdlib.h>

/* The status of a run that could count nothing. */
#define NOTHING_COUNTED 77

struct count {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *before, *after;
	int ins;
};

static inline void
count_open(struct count *c)
{
	if ((c->cpc = cpc_open(CPC_VER_CURRENT)) == NULL) {
		perror("cpc_open");
		exit(NOTHING_COUNTED);
	}
	if ((c->set = cpc_set_create(c->cpc)) == NULL) {
		perror("cpc_set_create");
		exit(NOTHING_COUNTED);
	}
	c->ins = cpc_set_add_request(
	    c->cpc, c->set, "PAPI_tot_ins", 0, CPC_COUNT_USER, 0, NULL);
	c->before = cpc_buf_create(c->cpc, c->set);
	c->after = cpc_buf_create(c->cpc, c->set);
	if (c->ins < 0 || c->before == NULL || c->after == NULL ||
	    cpc_bind_curlwp(c->cpc, c->set, 0) != 0) {
		perror("libcpc");
		exit(NOTHING_COUNTED);
	}
}

/* Print how many instructions ran between the two samples. */
static inline void
count_print(struct count *c, const char *what)
{
	uint64_t from, to;

	cpc_buf_get(c->cpc, c->before, c->ins, &from);
	cpc_buf_get(c->cpc, c->after, c->ins, &to);
	printf(
	    "%s: %llu instructions\n", what, (unsigned long long)(to - from));
	cpc_close(c->cpc);
}

#define COUNT_BEGIN(c) cpc_set_sample((c)->cpc, (c)->set, (c)->before)
#define COUNT_END(c)   cpc_set_sample((c)->cpc, (c)->set, (c)->after)

#endif /* EXAMPLES_COUNT_H */
