/* The register files of PMUs below kcpc, for the files of this folder. */
#pragma once

#include <stdint.h>

#include "kern/cpc/pcbe.h"

#define REGS_NREQ 4

/*
 * A PMU, and two sets of requests that use other events and values on it.  A
 * request is the name or number of an event, with attributes after a blank:
 * "0xb7 umask=1,msr_offcore=0x10001".  `!` in front asks for overflows.
 */
struct regs_model {
	const char *rm_name;
	const char *rm_set[2][REGS_NREQ];
	/* The same for sets of each core type, or NULL if all CPUs are alike.
	 */
	const char *rm_typed[2][REGS_NREQ];
};
extern const struct regs_model regs_models[];
extern const unsigned regs_nmodel;

/* Power all CPUs up with this PMU. */
void regs_reset(unsigned model);
/* The code runs on CPU c from now on. */
void regs_on_cpu(unsigned c);
/* Initialise the backend on this CPU.  Returns it. */
const struct pcbe_ops *regs_init_cpu(unsigned model);

/*
 * The registers that decide now which events the CPU counts, where, and what
 * an overflow does.  Registers of a PIC that does not run are left out.
 */
struct regs_file {
	unsigned n;
	struct {
		char name[24];
		uint64_t value;
	} reg[64];
};
void regs_read(unsigned c, struct regs_file *rf);

/* For regs_read(): add a register, numbered unless n is -1. */
void regs_add(struct regs_file *rf, const char *name, int n, uint64_t value);
