/*
 * Results of a profile's samples: the rows of its table, and its folded stacks.
 * Included by record.c.
 */
#pragma once

#include <stdbool.h>
#include <sys/cpc.h>

#include "payloads/record/histogram.h"

/* A sample, with the place of its stack in sd_stacks. */
struct placed {
	int64_t psm_hrtime;
	uint32_t psm_pid, psm_tid;
	size_t psm_stack;
};

struct sampled {
	int sd_fd;           /* the profile's file */
	const char *sd_path; /* of the profiled program */
	bool sd_kernel;      /* all events were the kernel's */
	struct histogram sd_functions, sd_folded;
	/*
	 * With sd_addresses: stacks as text, "IMAGE KERNEL ADDRESS...".  IMAGE
	 * is the number of the program.  KERNEL is the kernel's function, whose
	 * address is then the first, or "-".
	 */
	bool sd_addresses;
	struct histogram sd_stacks;
	struct placed *sd_placed;
	size_t sd_nplaced;
};

/*
 * Add a sample as `program [.] function` and as `program;caller;function`.
 * Exits 1 without memory.
 */
void sampled_add(struct sampled *sd, const struct cpc_profile_sample *s);

/* The samples' nth program or library: its number and path, or NULL. */
const struct cpc_profile_image *sampled_program(
    unsigned n, unsigned *number, const char **path);
