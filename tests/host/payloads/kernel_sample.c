/*
 * A sample of the kernel without callers has one address.  record reads no
 * other.  A library keeps its name next to a program with a long path.
 */
#include "tests/lib/host/support.h"

#include <stdlib.h>
#include <string.h>

#include "payloads/record/sample_file.h"

#define KERNEL_PC 0xffff800000001000

/* The kernel cuts the path of a program, and not that of a library. */
#define FOLDER "/store/0123456789abcdefghijklmnopqrstuvwxyz-name-of-the-package"
_Static_assert(sizeof FOLDER == CPC_PROFILE_NAME, "as long as a cut path");
static const struct cpc_profile_image images[] = {
	{ .ci_path = "[unknown]" },
	{ .ci_path = FOLDER },
	{ .ci_path = FOLDER "/lib.so",
	    .ci_start = 0x1000,
	    .ci_end = 0x2000,
	    .ci_of = 1 },
};

/* The kernel knows one function, and these programs. */
intptr_t
cpc_syscall(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	if (op == CPC_OP_PROFILE_IMAGE && b < sizeof images / sizeof *images) {
		memcpy((void *)c, &images[b], sizeof images[b]);
		return 0;
	}
	if (op != CPC_OP_KERNEL_SYMBOL)
		return -1;
	assert_true(a == KERNEL_PC);
	strcpy((char *)b, "sys_read");
	return 8;
}

static const char *
first_name(const struct histogram *hg)
{
	struct histogram_entry **all = histogram_sorted(hg);
	const char *name = all[0]->hge_name;

	free(all);
	return name;
}

TEST(has_one_address)
{
	const size_t bytes = sizeof(struct cpc_profile_sample) + 8;
	struct cpc_profile_sample *at = calloc(1, bytes), *s;
	static struct sampled sd = { .sd_path = "prog", .sd_addresses = true };

	at->cm_nframes = 1;
	at->cm_pc[0] = KERNEL_PC;
	s = exact_copy(at, bytes);
	sampled_add(&sd, s);
	assert_string_equal(
	    first_name(&sd.sd_functions), "[unknown]         [k] sys_read");
	assert_string_equal(
	    first_name(&sd.sd_folded), "[unknown];sys_read_[k]");
	assert_string_equal(
	    first_name(&sd.sd_stacks), "0 sys_read ffff800000001000");
	free(sd.sd_placed);
	free(s);
	free(at);
}

TEST(a_library_keeps_its_name)
{
	const size_t bytes = sizeof(struct cpc_profile_sample) + 8;
	struct cpc_profile_sample *s = calloc(1, bytes);
	static struct sampled sd = { .sd_path = FOLDER "/prog" };

	s->cm_nframes = 1;
	s->cm_image = 1;
	s->cm_pc[0] = 0x1800;
	sampled_add(&sd, s);
	assert_string_equal(
	    first_name(&sd.sd_functions), FOLDER "/prog  [.] [unknown]@lib.so");
	free(s);
}
