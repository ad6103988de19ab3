/*
 * nb's loop on arm64 ends in a branch of 128 MiB at most: a longer loop is
 * refused.
 * Arm ARM (DDI 0487), "B": imm26 is a signed number of instructions.
 */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "payloads/nb/nb.h"

#define REACH    ((size_t)128 << 20)
#define END_SIZE 12 /* SUB, CBZ, B */

const char nb_leave[1];

void
nb_emit(struct nb_buffer *b, const void *bytes, size_t n)
{
	memcpy(b->nbb_at, bytes, n);
	b->nbb_at += n;
}

/* End a loop whose branch is so far after its top.  Returns imm26. */
static int
end_loop(uint8_t *code, size_t distance)
{
	struct nb_buffer b = { .nbb_at = code + distance - END_SIZE + 4 };
	uint32_t branch;

	nb_emit_loop_end(&b, code);
	memcpy(&branch, code + distance, sizeof branch);
	assert_int_equal(branch >> 26, 5);
	return (int)(branch << 6) >> 6;
}

TEST(a_loop_beyond_the_reach_is_refused)
{
	uint8_t *code = mmap(NULL, REACH + 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int status;

	assert_true(code != MAP_FAILED);
	assert_int_equal(end_loop(code, 4000), -1000);
	assert_int_equal(end_loop(code, REACH), -(1 << 25));
	fflush(NULL);
	if (fork() == 0) {
		end_loop(code, REACH + 4);
		_exit(0);
	}
	wait(&status);
	assert_int_equal(WEXITSTATUS(status), 2);
	munmap(code, REACH + 4096);
}
