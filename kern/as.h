/*
 * An address space.  Included by kern/ and arch/.
 */
#ifndef KERN_AS_H
#define KERN_AS_H

#include <stdbool.h>
#include <stdint.h>

struct as {
	uint64_t as_root; /* arch: physical address of the root table */
	uint64_t as_asid; /* arch: address space id, 0 where unused */
	bool as_system;   /* pages are mapped without PROT_USER */
};

#endif /* KERN_AS_H */
