/* Runs the program of stat once, under the meter's set, and adds its counts. */
#include "payloads/stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <payload.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "payloads/common/usage.h"
#include "payloads/tools/child.h"

/* In the child: start counting, and execute the program. */
static void __attribute__((noreturn)) become_program(int fd)
{
	cpc_t *cpc = st.meter.m_cpc;

	child_input();
	if (st.meter.m_nevent != 0 &&
	    (cpc_bind_curlwp(cpc, st.meter.m_set, CPC_BIND_LWP_INHERIT) == -1 ||
		cpc_syscall(CPC_OP_PROFILE, (uintptr_t)fd,
		    rows_wanted() ? CPC_PROFILE_ROWS : 0, 0, 0) != 0))
		fail(1, "cannot count: %s", strerror(errno));
	signal(SIGEMT, SIG_DFL);
	child_exec(st.program);
	fail(127, "%s: %s", st.program[0], strerror(errno));
}

static int64_t run_begin;

int64_t
run_program(int fd)
{
	pid_t pid;

	payload_progress(st.ns.s_n % st.runs, st.runs);
	fflush(stdout);
	fflush(st.out);
	run_begin = gethrtime();
	if ((pid = fork()) == -1)
		fail(1, "%s", strerror(errno));
	if (pid == 0)
		become_program(fd);
	st.status = child_wait(
	    pid, st.program[0], st.timeout, st.runs == 1 ? &st.keys : NULL);
	return gethrtime() - run_begin;
}

static void
add_reference(uint64_t value)
{
	st.reference_runs++;
	if (value < st.least)
		st.least = value;
	if (value > st.most)
		st.most = value;
}

/* Fill *by for all CPUs: the program may run on any of them. */
static bool
all_cpus(struct barecpc_interrupts *by)
{
	if (payload_interrupts(by) == -1)
		return false;
	by->by_interrupts = by->by_all_interrupts;
	by->by_nmis = by->by_all_nmis;
	return true;
}

/* Run the program, and keep the conditions and the time. */
static void
run_watched(struct group *g, int fd)
{
	struct barecpc_interrupts before = { 0 }, after = { 0 };
	unsigned run = g->grp_runs.rn_n;
	struct condition c;
	bool known = all_cpus(&before);

	g->grp_ns[run] = run_program(fd);
	known = all_cpus(&after) && known;
	if (before.by_cpu != after.by_cpu)
		before.by_flags = 0; /* of another CPU's SMIs */
	before.by_cpu = after.by_cpu;
	condition_between(&c, known ? &before : NULL, &after);
	runs_add(&g->grp_runs, &c);
	series_add(&st.ns, g->grp_ns[run]);
}

/* Read the sums of the set's requests. */
static void
take_counts(int fd, const struct group *g, uint64_t *count)
{
	size_t bytes = (grp_skip(g) + g->grp_n) * sizeof count[0];

	if (rows_wanted())
		rows_take(fd, g, run_begin, count);
	else if (read(fd, count, MAXEVENT * sizeof count[0]) != (ssize_t)bytes)
		fail(1, "cannot read the counts");
}

/* The kernel's events are those of the runs of the first group. */
static void
add_soft(const struct cpc_profile_usage *usage)
{
	for (unsigned i = st.nhard; i < st.nevent; i++) {
		struct counted *c = &st.all[i];

		series_add(
		    &c->cnt_count, (int64_t)soft_value(c->cnt_soft, usage));
	}
}

/* Is the event counted in the runs of this group? */
bool
is_of_group(const struct counted *c, const struct group *g)
{
	return c->cnt_soft != SOFT_NONE
	           ? g->grp_soft
	           : c >= g->grp_event && c < g->grp_event + g->grp_n;
}

/* No event of the group has its whole count in the last run. */
static void
spoil_run(struct group *g, const char *why)
{
	g->grp_left_out[g->grp_runs.rn_n - 1] = true;
	for (unsigned i = 0; i < st.nevent; i++) {
		struct counted *c = &st.all[i];

		if (!is_of_group(c, g))
			continue;
		c->cnt_status = NOT_COUNTED;
		c->cnt_spoiled++;
		c->cnt_spoil = why;
	}
}

void
run_once(struct group *g)
{
	struct counted *c = g->grp_event;
	struct cpc_profile_stat about;
	uint64_t count[MAXEVENT] = { 0 };
	unsigned i, skip = grp_skip(g);
	int fd;

	if ((fd = open("/dev/profile", O_RDONLY | O_CLOEXEC)) == -1)
		fail(1, "/dev/profile: %s", strerror(errno));
	run_watched(g, fd);
	if (cpc_syscall(CPC_OP_PROFILE_STAT, (uintptr_t)fd, (uintptr_t)&about,
		0, 0) != 0)
		fail(1, "cannot read the counts");
	if (about.ct_lwps == 0) /* the child has printed why */
		exit(st.status);
	take_counts(fd, g, count);
	close(fd);
	if (about.ct_left > st.left)
		st.left = about.ct_left;
	g->grp_task[g->grp_runs.rn_n - 1] = (int64_t)about.ct_usage.cu_task_ns;
	for (i = 0; i < g->grp_n; i++)
		series_add(&c[i].cnt_count, (int64_t)count[skip + i]);
	if (g->grp_soft)
		add_soft(&about.ct_usage);
	for (i = 0; i < st.nevent; i++) {
		if (is_of_group(&st.all[i], g))
			st.all[i].cnt_keys = st.keys;
	}
	if (about.ct_revoked != 0)
		spoil_run(g, "a set was bound to a CPU");
	else if (rows_wanted() && about.ct_lost != 0)
		spoil_run(g, "no memory was left for some threads or "
			     "intervals: give more by --mem");
	else if (g->grp_reference)
		add_reference(count[0]);
}
