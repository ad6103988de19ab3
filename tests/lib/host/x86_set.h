/*
 * Sets of requests, made as kcpc makes them.  Included by tests of the x86
 * backends.
 */
#ifndef TESTS_LIB_HOST_X86_SET_H
#define TESTS_LIB_HOST_X86_SET_H

#include <stdbool.h>

#include "kern/cpc/pcbe.h"

struct x86_set {
	const struct pcbe_ops *ops;
	struct pcbe_set set;
	struct pcbe_cfg cfg[PCBE_MAXPIC];
	struct cpc_sample sample;
	uint64_t data[PCBE_MAXPIC]; /* its values */
	struct cpc_page page;
	struct cpc_page_req reqs[PCBE_MAXPIC]; /* the page's */
};

void set_init(struct x86_set *s, const struct pcbe_ops *ops);
/*
 * Add a request for the event, by name or number, on a PIC.  Attributes are
 * given as "umask=0x41,inv=1".  0 or a CPC_* subcode.
 */
int set_add(struct x86_set *s, unsigned pic, const char *event, unsigned flags,
    const char *attrs, uint64_t preset);
/* From data[]. */
void set_start(struct x86_set *s);
/* Bring data[] up to now, while it runs, or with its end.  What overflowed. */
void set_sample(struct x86_set *s);
uint64_t set_stop(struct x86_set *s);

/* The overflow interrupt is proved where it comes, and only there. */
void expect_proves_overflow(const struct pcbe_ops *ops);
/* A kept PIC counts for good, and beside it sets that come and go. */
void expect_keeps(const struct pcbe_ops *ops, unsigned pic);

/*
 * Sets of events that nobody resolved, with attributes: those that configure()
 * takes raise no #GP.  How many it took.
 */
unsigned set_invent(const struct pcbe_ops *ops);

/* PICs that count it, 0 for an unknown name. */
uint64_t covers(const struct pcbe_ops *ops, const char *event);
/* Is it an event that this machine lacks, by its name or as a number? */
bool lacks(const struct pcbe_ops *ops, const char *event);
/* All names in order, with commas. */
const char *names_on(const struct pcbe_ops *ops, unsigned pic);
const char *attr_names(const struct pcbe_ops *ops);

#endif /* TESTS_LIB_HOST_X86_SET_H */
