/*
 * Try all schedules, depth first.  The kernel's state cannot be copied, so
 * each branch repeats the steps before it.  The search skips a state that the
 * model has met before with as many steps to go.
 */
#include "tests/host/kern/cpc/explore/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ex_ops[EX_NOP] = { "run1", "run2", "run3", "rest", "bind1",
	"bind2", "own1", "unbind1", "unbind2", "sample1", "sample2", "work",
	"system", "read", "disable", "enable", "restart", "preset", "cpu1",
	"cpu2", "revoke1", "revoke2", "move", "free", "clone", "fork", "exec",
	"exit", "invalid", "pmi", "lose", "extra", "timer" };

#define TABLE (1U << 20) /* number of states to remember */

static struct seen {
	uint64_t se_hash;
	unsigned se_ahead;
} * seen;

static struct ex_search *xs;
static struct ex_step path[EX_MAXSTEPS];
static struct ex_model model;

static bool
parse_step(const char *s, size_t n, struct ex_step *st)
{
	if (n < 3 || s[0] < '0' || s[0] >= '0' + EX_NCPU || s[1] != ':')
		return false;
	for (unsigned op = 0; op < EX_NOP; op++) {
		if (strlen(ex_ops[op]) == n - 2 &&
		    strncmp(ex_ops[op], s + 2, n - 2) == 0) {
			*st = (struct ex_step){ (uint8_t)(s[0] - '0'),
				(uint8_t)op };
			return true;
		}
	}
	return false;
}

int
ex_parse(const char *schedule, struct ex_step *steps, const char **bad)
{
	int n = 0;

	for (const char *s = schedule + strspn(schedule, " "); *s != '\0';) {
		size_t len = strcspn(s, " ");

		if (n == EX_MAXSTEPS || !parse_step(s, len, &steps[n])) {
			*bad = s;
			return -1;
		}
		n++;
		s += len;
		s += strspn(s, " ");
	}
	return n;
}

static bool
report_failure(unsigned n, const char *what)
{
	char *to = xs->exh_schedule;

	for (unsigned i = 0; i < n; i++)
		to += sprintf(to, "%s%u:%s", i > 0 ? " " : "", path[i].ext_cpu,
		    ex_ops[path[i].ext_op]);
	snprintf(xs->exh_wrong, sizeof xs->exh_wrong, "%s", what);
	return false;
}

static void
reset_both(void)
{
	struct soft_shape shape;

	soft_shape_parse(xs->exh_shape, &shape);
	ex_model_reset(&model, &shape);
	ex_world_boot(xs->exh_shape, xs->exh_fault);
}

/* The steps of a read depend on the page: only its result is checked. */
static bool
make_read(unsigned n, bool check)
{
	unsigned cpu = path[n - 1].ext_cpu;
	unsigned set = ex_model_set(&model, (unsigned)model.em_cpu[cpu].mp_lwp);
	struct ex_result got;

	ex_world_read(cpu, set, &got);
	const char *why = ex_model_read(&model, cpu, &got);
	if (check && why == NULL)
		why = ex_world_check(&model);
	return !check || why == NULL || report_failure(n, why);
}

/* Make step n - 1 of the path in the model and in the kernel. */
static bool
make_step(unsigned n, bool check)
{
	struct ex_result want, got;
	const char *why;
	char text[80];

	xs->exh_steps++;
	if (path[n - 1].ext_op == EX_READ)
		return make_read(n, check);
	ex_model_do(&model, path[n - 1], &want);
	ex_world_do(path[n - 1], &got);
	if (!check)
		return true;
	if (got.exr_err != want.exr_err) {
		snprintf(text, sizeof text, "returns errno %d, not %d",
		    got.exr_err, want.exr_err);
		return report_failure(n, text);
	}
	if (memcmp(&got, &want, sizeof got) != 0)
		return report_failure(n, "the sample is wrong");
	if ((why = ex_world_check(&model)) != NULL)
		return report_failure(n, why);
	return true;
}

/* The schedule ends: nothing may remain. */
static bool
end_schedule(unsigned n)
{
	const char *left = ex_world_end();
	char text[80];

	if (left == NULL)
		return true;
	snprintf(text, sizeof text, "still there at the end: %s", left);
	return report_failure(n, text);
}

/* A schedule that fails leaves things.  Remove them for the next one. */
static bool
clean_up(bool good)
{
	if (!good)
		ex_world_end();
	return good;
}

/* Was the state searched to this depth?  If not, it is searched now. */
static bool
is_known(unsigned ahead)
{
	uint64_t hash = ex_model_hash(&model);
	struct seen *se = &seen[hash % TABLE];

	if (se->se_hash == hash && se->se_ahead >= ahead)
		return true;
	*se = (struct seen){ hash, ahead };
	return false;
}

static void
repeat_path(unsigned n)
{
	reset_both();
	for (unsigned i = 1; i <= n; i++)
		make_step(i, false);
}

static bool
search(unsigned n, unsigned ahead)
{
	struct ex_model here = model;
	bool fresh = true;

	xs->exh_states++;
	for (unsigned cpu = 0; cpu < EX_NCPU; cpu++) {
		for (unsigned op = 0; op < EX_NOP; op++) {
			path[n] = (struct ex_step){ (uint8_t)cpu, (uint8_t)op };
			if (!ex_model_enabled(&here, path[n]))
				continue;
			if (!fresh)
				repeat_path(n);
			fresh = false;
			if (!make_step(n + 1, true))
				return false;
			if (ahead == 1 || is_known(ahead - 1)) {
				if (!end_schedule(n + 1))
					return false;
			} else if (!search(n + 1, ahead - 1)) {
				return false;
			}
		}
	}
	return true;
}

static int
begin_schedule(struct ex_search *x, const char *schedule)
{
	const char *bad;
	int n = ex_parse(schedule, path, &bad);

	xs = x;
	x->exh_states = x->exh_steps = 0;
	x->exh_wrong[0] = x->exh_schedule[0] = '\0';
	reset_both();
	if (n < 0) {
		snprintf(x->exh_wrong, sizeof x->exh_wrong,
		    "no such step: %.60s", bad);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		if (!ex_model_enabled(&model, path[i])) {
			report_failure(
			    (unsigned)i + 1, "this step cannot be made");
			return -1;
		}
		if (!make_step((unsigned)i + 1, true))
			return -1;
	}
	return n;
}

bool
ex_replay(struct ex_search *x, const char *schedule)
{
	int n = begin_schedule(x, schedule);

	return clean_up(n >= 0 && end_schedule((unsigned)n));
}

bool
ex_search(struct ex_search *x)
{
	int n = begin_schedule(x, x->exh_start);

	if (n < 0)
		return clean_up(false);
	if ((seen = calloc(TABLE, sizeof *seen)) == NULL)
		abort();
	bool good = search((unsigned)n, x->exh_depth);
	free(seen);
	return clean_up(good);
}
