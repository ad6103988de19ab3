/* Sets on an x86 backend, as kcpc does it.  Included by its tests. */
#pragma once

#include <stdbool.h>

#include "kern/cpc/pcbe.h"

struct x86_set {
	const struct pcbe_ops *ops;
	struct pcbe_set set;
	struct pcbe_cfg cfg[PCBE_MAXPIC];
	struct cpc_sample sample;
	uint64_t data[PCBE_MAXPIC]; /* the counts, by request */
	struct cpc_page page;
	struct cpc_page_req reqs[PCBE_MAXPIC]; /* the requests of the page */
};

void set_init(struct x86_set *s, const struct pcbe_ops *ops);
/*
 * Add a request for the event, by name or number, on a PIC.  Attributes have
 * the form "umask=0x41,inv=1".  Returns 0 or a CPC_* subcode.
 */
int set_add(struct x86_set *s, unsigned pic, const char *event, unsigned flags,
    const char *attrs, uint64_t preset);
/* Start to count from data[]. */
void set_start(struct x86_set *s);
/* Update data[]; set_stop() also stops and returns what overflowed. */
void set_sample(struct x86_set *s);
uint64_t set_stop(struct x86_set *s);

/* The proof of the overflow interrupt succeeds only if it comes. */
void expect_proves_overflow(const struct pcbe_ops *ops);
/* The proof finds each lie of fake_msr.h. */
void expect_finds_lies(const struct pcbe_ops *ops);
/* A kept PIC counts without a break while other sets start and stop. */
void expect_keeps(const struct pcbe_ops *ops, unsigned pic);

/* Configure random sets: accepted ones raise no #GP.  Returns requests. */
unsigned set_invent(const struct pcbe_ops *ops);

/* The PICs that count the event; 0: the name is unknown. */
uint64_t covers(const struct pcbe_ops *ops, const char *event);
/* Does the machine know the event, by name or number, without counting it? */
bool lacks(const struct pcbe_ops *ops, const char *event);
/* All names in order, separated by commas. */
const char *names_on(const struct pcbe_ops *ops, unsigned pic);
const char *attr_names(const struct pcbe_ops *ops);

/* The set that pcbe_any_bound() finds, or NULL. */
extern const struct pcbe_set *fake_bound;
