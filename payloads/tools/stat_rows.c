/*
 * Counts of each thread, and of each interval: the rows of a profile.
 */
#include "payloads/tools/stat.h"

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

/* The thread's place among all, by its id: ids grow from thread to thread. */
static unsigned
rank_of(uint32_t tid)
{
	const struct cpc_profile_sample *row = NULL, *other;
	unsigned rank = 0;

	/* Each thread has one row that is its last. */
	while ((row = next_row(row)) != NULL) {
		if (row->cm_tid >= tid)
			continue;
		for (other = next_row(row);
		     other != NULL && other->cm_tid != row->cm_tid;)
			other = next_row(other);
		rank += other == NULL;
	}
	return rank;
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
		uint64_t **counts = &st.all[i].cnt_thread;

		*counts =
		    fail_unless_room(realloc(*counts, n * sizeof **counts));
		memset(&(*counts)[st.nthread], 0,
		    (n - st.nthread) * sizeof **counts);
	}
	st.nthread = n;
}

/* The thread of a row, named by the program that it runs. */
static unsigned
thread_of(int fd, const struct cpc_profile_sample *row)
{
	struct cpc_profile_image image;
	unsigned rank = rank_of(row->cm_tid);
	const char *name = "[unknown]", *slash;
	struct thread *th;

	make_threads(rank + 1);
	th = &st.threads[rank];
	if (cpc_syscall(CPC_OP_PROFILE_IMAGE, (uintptr_t)fd, row->cm_image,
		(uintptr_t)&image, 0) == 0) {
		slash = strrchr(image.ci_path, '/');
		name = slash != NULL ? slash + 1 : image.ci_path;
	}
	snprintf(th->thr_name, sizeof th->thr_name, "%s", name);
	if (th->thr_tid == 0)
		th->thr_tid = row->cm_tid;
	return rank;
}

/* Is the event counted in the runs of this group? */
static bool
is_of_group(const struct counted *c, const struct group *g)
{
	return c->cnt_soft != SOFT_NONE
	           ? g->grp_soft
	           : c >= g->grp_event && c < g->grp_event + g->grp_n;
}

static uint64_t
value_of(const struct counted *c, const struct group *g,
    const struct cpc_profile_sample *row)
{
	struct cpc_profile_usage usage;

	if (c->cnt_soft == SOFT_NONE)
		return row->cm_pc[CPC_PROFILE_USAGE + grp_skip(g) +
				  (size_t)(c - g->grp_event)];
	memcpy(&usage, row->cm_pc, sizeof usage);
	return soft_value(c->cnt_soft, &usage);
}

static void
take_row(int fd, const struct group *g, int64_t begin,
    const struct cpc_profile_sample *row)
{
	unsigned rank = thread_of(fd, row);
	struct part pa = { st.per_thread ? &st.threads[rank] : NULL,
		row->cm_hrtime - begin };

	for (unsigned place = 0; place < st.nevent; place++) {
		struct counted *c = counted_at(place);
		uint64_t value;

		if (!is_of_group(c, g))
			continue;
		value = value_of(c, g, row);
		c->cnt_thread[rank] += value;
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
	while ((row = next_row(row)) != NULL) {
		take_row(fd, g, begin, row);
		for (i = 0; i < n; i++)
			count[i] += row->cm_pc[CPC_PROFILE_USAGE + i];
	}
}
