/* Counts of each thread, and of each interval: the rows of a profile. */
#include "payloads/stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "payloads/common/usage.h"

#define READ_BYTES 65536

/* The rows of a run, one after the other. */
static char *data;
static size_t bytes, room;

bool
rows_wanted(void)
{
	return st.per_thread || st.interval != 0;
}

static void
read_rows(int fd)
{
	ssize_t n;

	bytes = 0;
	do {
		if (room - bytes < READ_BYTES) {
			room = 2 * room + READ_BYTES;
			data = fail_unless_room(realloc(data, room));
		}
		if ((n = read(fd, data + bytes, READ_BYTES)) == -1)
			fail(1, "cannot read the counts: %s", strerror(errno));
		bytes += (size_t)n;
	} while (n != 0);
}

/* The row after this one, or the first; NULL past the last. */
static const struct cpc_profile_sample *
next_row(const struct cpc_profile_sample *row)
{
	const char *at = data;

	if (row != NULL)
		at = (const char *)(row->cm_pc + row->cm_nframes);
	return at < data + bytes ? (const struct cpc_profile_sample *)at : NULL;
}

static void
make_threads(unsigned n)
{
	if (n <= st.nthread)
		return;
	st.threads =
	    fail_unless_room(realloc(st.threads, n * sizeof *st.threads));
	memset(
	    &st.threads[st.nthread], 0, (n - st.nthread) * sizeof *st.threads);
	for (unsigned i = 0; i < st.nevent; i++) {
		struct share **counts = &st.all[i].cnt_thread;

		*counts =
		    fail_unless_room(realloc(*counts, n * sizeof **counts));
		memset(&(*counts)[st.nthread], 0,
		    (n - st.nthread) * sizeof **counts);
	}
	st.nthread = n;
}

/* The place of each thread of a run among all, by its id less the first. */
static unsigned *ranks;
static uint32_t first_tid;

/* Ids grow from thread to thread. */
static void
rank_threads(void)
{
	const struct cpc_profile_sample *row = NULL;
	uint32_t last = 0;
	unsigned n = 0;

	first_tid = UINT32_MAX;
	while ((row = next_row(row)) != NULL) {
		first_tid = row->cm_tid < first_tid ? row->cm_tid : first_tid;
		last = row->cm_tid > last ? row->cm_tid : last;
	}
	if (first_tid > last)
		return;
	free(ranks);
	ranks = fail_unless_room(
	    calloc((size_t)last - first_tid + 1, sizeof *ranks));
	while ((row = next_row(row)) != NULL)
		ranks[row->cm_tid - first_tid] = 1;
	for (size_t i = 0; i <= last - first_tid; i++) {
		unsigned is_here = ranks[i];

		ranks[i] = n;
		n += is_here;
	}
	make_threads(n);
}

/* The thread of a row, named by the program that it runs. */
static unsigned
thread_of(int fd, const struct cpc_profile_sample *row)
{
	struct cpc_profile_image image;
	unsigned rank = ranks[row->cm_tid - first_tid];
	const char *name = "[unknown]", *slash;
	struct thread *th = &st.threads[rank];

	if (cpc_syscall(CPC_OP_PROFILE_IMAGE, (uintptr_t)fd, row->cm_image,
		(uintptr_t)&image, 0) == 0) {
		slash = strrchr(image.ci_path, '/');
		name = slash != NULL ? slash + 1 : image.ci_path;
	}
	snprintf(th->thr_name, sizeof th->thr_name, "%.63s", name);
	if (th->thr_tid == 0)
		th->thr_tid = row->cm_tid;
	return rank;
}

static uint64_t
value_of(const struct counted *c, const struct group *g,
    const struct cpc_profile_sample *row, const struct cpc_profile_usage *usage)
{
	return c->cnt_soft != SOFT_NONE
	           ? soft_value(c->cnt_soft, usage)
	           : row->cm_pc[CPC_PROFILE_USAGE + grp_skip(g) +
				(size_t)(c - g->grp_event)];
}

static void
take_row(int fd, const struct group *g, int64_t begin,
    const struct cpc_profile_sample *row)
{
	unsigned rank = thread_of(fd, row);
	struct cpc_profile_usage usage;
	struct part pa = { st.per_thread ? &st.threads[rank] : NULL,
		row->cm_hrtime - begin, 0 };

	memcpy(&usage, row->cm_pc, sizeof usage);
	pa.prt_ns = (int64_t)usage.cu_task_ns;
	for (unsigned place = 0; place < st.nevent; place++) {
		struct counted *c = st.by_place[place];

		if (!is_of_group(c, g))
			continue;
		uint64_t value = value_of(c, g, row, &usage);
		c->cnt_thread[rank].shr_count += value;
		c->cnt_thread[rank].shr_ns += pa.prt_ns;
		if (st.interval != 0)
			print_part(c, &pa, (double)value);
	}
}

void
rows_take(int fd, const struct group *g, int64_t begin, uint64_t *count)
{
	const struct cpc_profile_sample *row = NULL;
	unsigned i, n = grp_skip(g) + g->grp_n;

	read_rows(fd);
	rank_threads();
	while ((row = next_row(row)) != NULL) {
		take_row(fd, g, begin, row);
		for (i = 0; i < n; i++)
			count[i] += row->cm_pc[CPC_PROFILE_USAGE + i];
	}
}
