/* Shared by the software PMU's files.  Included by kern/cpc/soft/ alone. */
#pragma once

#include "kern/cpc/soft/soft_pcbe.h"

/* Weights are in quarters of an event, so that a branch has one. */
#define QUARTERS 4U

/*
 * pc_sel of a request: its weight, the ESCR that selects its event, and the
 * levels at which it counts the sibling CPU.
 */
#define SEL(weight, escr, sibling)                                             \
	((weight) | (uint64_t)(escr) << 32 | (uint64_t)(sibling) << 40)
#define SEL_WEIGHT(sel)  ((unsigned)(sel))
#define SEL_ESCR(sel)    ((sel) >> 32 & 0xff)
#define SEL_SIBLING(sel) ((sel) >> 40)

/* soft_configure.c: the shape, which soft_pcbe() sets. */
extern struct soft_shape soft_shape;
/* The bits of a PIC. */
uint64_t soft_pic_mask(void);
/* PICs 0 to n - 1. */
uint32_t soft_first_pics(unsigned n);
/* Core types: with pics2= and more than one CPU. */
bool soft_has_types(void);
/* The type of this CPU, as in ps_type. */
unsigned soft_this_type(void);
/* The number of PICs; type 0: that all CPUs have. */
unsigned soft_npics(unsigned type);
/* General PICs: they count any event, fixed PICs one only. */
uint32_t soft_general_pics(unsigned type);
uint32_t soft_event_pics(unsigned event, unsigned type);
/* The attributes that the shape's model offers, as bits. */
uint32_t soft_attrs(void);
/* Operations of struct pcbe_ops. */
uint64_t soft_attr_pics(
    uint64_t pics, unsigned nattrs, const struct cpc_packattr *attrs);
int soft_configure(struct pcbe_cfg *cfg, const struct cpc_event *ev,
    unsigned nattrs, const struct cpc_packattr *attrs, struct pcbe_set *set,
    struct cpc_refusal *rf);
