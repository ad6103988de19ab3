/*
 * Results of a profile's samples: the rows of its table, and its folded stacks.
 * Included by record.c.
 */
#ifndef PAYLOADS_TOOLS_SAMPLE_FILE_H
#define PAYLOADS_TOOLS_SAMPLE_FILE_H

#include <stdbool.h>
#include <sys/cpc.h>

#include "payloads/tools/histogram.h"

struct sampled {
	int sd_fd;           /* the profile's file */
	const char *sd_path; /* of the profiled program */
	bool sd_kernel;      /* all events were the kernel's */
	struct histogram sd_functions, sd_folded;
};

/*
 * Add a sample as `program [.] function` and as `program;caller;function`.
 * Exits 1 without memory.
 */
void sampled_add(struct sampled *sd, const struct cpc_profile_sample *s);

#endif /* PAYLOADS_TOOLS_SAMPLE_FILE_H */
