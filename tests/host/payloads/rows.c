/* stat adds a profile's rows by thread, in linear time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/stat/stat.h"
#include "tests/lib/host/support.h"

#define THREADS 1000
#define ROWS    500 /* of each; the square of all would take too long */
#define FIRST   5000

struct statistics st;

/* The functions that stat_rows.c calls. */
bool
is_of_group(const struct counted *c, const struct group *g)
{
	return true;
}

uint64_t
soft_value(enum soft s, const struct cpc_profile_usage *is)
{
	return is->cu_task_ns;
}

static unsigned parts;

void
print_part(const struct counted *c, const struct part *pa, double value)
{
	parts += pa->prt_end == 7 && pa->prt_ns > 0;
}

intptr_t
cpc_syscall(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	struct cpc_profile_image *image = (struct cpc_profile_image *)c;

	assert_int_equal(op, CPC_OP_PROFILE_IMAGE);
	strcpy(image->ci_path, b == 0 ? "bin/prog" : "next");
	return 0;
}

struct row {
	struct cpc_profile_sample head;
	struct cpc_profile_usage usage;
	uint64_t count;
};

/* Thread t has the id FIRST + 3 t.  The last thread has the first row. */
static void
write_rows(FILE *f)
{
	for (unsigned i = 0; i < ROWS * THREADS; i++) {
		unsigned t = THREADS - 1 - i % THREADS;
		const struct row r = {
			.head = { .cm_tid = FIRST + 3 * t,
			    .cm_image = t == 1,
			    .cm_nframes = CPC_PROFILE_USAGE + 1,
			    .cm_hrtime = 1007 },
			.usage = { .cu_task_ns = 2 },
			.count = t + 1,
		};

		fwrite(&r, sizeof r, 1, f);
	}
	fflush(f);
	rewind(f);
}

TEST(rows_are_added_by_thread)
{
	struct counted all[2] = { { .cnt_soft = SOFT_NONE },
		{ .cnt_soft = SOFT_TASK_CLOCK } };
	struct counted *by_place[] = { &all[0], &all[1] };
	const struct group g = { .grp_event = all, .grp_n = 1 };
	uint64_t sum = 0;
	FILE *f = tmpfile();

	st = (struct statistics){ .all = all,
		.by_place = by_place,
		.nevent = 2,
		.nhard = 1,
		.interval = 1,
		.per_thread = true };
	write_rows(f);
	rows_take(fileno(f), &g, 1000, &sum);
	assert_int_equal(st.nthread, THREADS);
	assert_int_equal(sum, ROWS * (THREADS * (THREADS + 1) / 2));
	assert_int_equal(parts, 2 * ROWS * THREADS);
	for (unsigned t = 0; t < THREADS; t++) {
		assert_int_equal(st.threads[t].thr_tid, FIRST + 3 * t);
		assert_string_equal(
		    st.threads[t].thr_name, t == 1 ? "next" : "prog");
		assert_int_equal(
		    all[0].cnt_thread[t].shr_count, ROWS * (t + 1));
		assert_int_equal(all[0].cnt_thread[t].shr_ns, ROWS * 2);
		assert_int_equal(all[1].cnt_thread[t].shr_count, ROWS * 2);
	}
	free(all[0].cnt_thread);
	free(all[1].cnt_thread);
	fclose(f);
}
