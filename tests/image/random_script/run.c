/* Runs a mix, and compares each result with the prediction. */
#include "tests/image/random_script/mix.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <unistd.h>

#include "tests/lib/image/test.h"

#define MAX_NOTES 5 /* notes on wrong ops, at most */

static bool
result_is(long result, long want)
{
	return want == MIX_ANY ||
	       (want == MIX_DONE ? result >= 0 : result == want);
}

static bool
values_are(const struct mix_want *want, const struct mix_sample *s)
{
	bool good = true;

	for (unsigned i = 0; i < MIX_REQS; i++) {
		if ((want->mw_compare >> i & 1) != 0 &&
		    s->ms_value[i] != want->mw_value[i]) {
			test_note("request %u reads %" PRIu64 ", not %" PRIu64,
			    i, s->ms_value[i], want->mw_value[i]);
			good = false;
		}
	}
	return good;
}

/*
 * At the kernel's privilege: each request counted at least the known value.  If
 * the requests stopped at once, all counted the same beyond it.
 */
static bool
values_reach(const struct mix_want *want, const struct mix_sample *s,
    const struct mix_machine *mm)
{
	bool good = true, first = true;
	int64_t more, others = 0;

	for (unsigned i = 0; i < MIX_REQS; i++) {
		if ((want->mw_least >> i & 1) == 0)
			continue;
		more = (int64_t)(s->ms_value[i] - want->mw_value[i]);
		if (more < 0 || (!first && want->mw_frozen &&
				    mm->mxm_together && more != others)) {
			test_note("request %u counts %" PRId64
				  " beyond the least, others %" PRId64,
			    i, more, others);
			good = false;
		}
		others = more;
		first = false;
	}
	return good;
}

static bool
sample_is_good(const struct mix *mx, const struct mix_want *want,
    const struct mix_sample *s)
{
	bool good = values_are(want, s);

	return values_reach(want, s, mx->mx_machine) && good;
}

static bool
op_is_good(const struct mix *mx, const struct mix_lwp *l, unsigned n)
{
	const struct mix_want *want = &l->mxl_wants[n];

	if (!result_is(l->mxl_results[n], want->mw_result)) {
		test_note(
		    "result %ld, not %ld", l->mxl_results[n], want->mw_result);
		return false;
	}
	return want->mw_sample == NULL || want->mw_result != 0 ||
	       sample_is_good(mx, want, want->mw_sample);
}

/* Were the counters taken?  Before its creation: no context at all. */
static bool
taken_away(const struct mix_lwp *l, unsigned n, bool has_bound)
{
	if (!l->mxl_wants[n].mw_counts)
		return false;
	return l->mxl_results[n] == -EAGAIN ||
	       (!has_bound && l->mxl_results[n] == -EINVAL);
}

static unsigned
check_lwp(const struct mix *mx, unsigned lwp, bool disturbed)
{
	const struct mix_lwp *l = &mx->mx_lwps[lwp];
	bool known = true, has_bound = false;
	unsigned samples = 0;
	static unsigned notes;

	for (unsigned n = 0; n < l->mxl_nops; n++) {
		if (l->mxl_wants[n].mw_binds && l->mxl_results[n] == 0)
			known = has_bound = true;
		else if (disturbed && taken_away(l, n, has_bound))
			known = false;
		if (!known && l->mxl_wants[n].mw_counts)
			continue;
		if (disturbed && l->mxl_wants[n].mw_moves &&
		    l->mxl_results[n] == -EINVAL)
			continue;
		samples += (l->mxl_wants[n].mw_compare |
			       l->mxl_wants[n].mw_least) != 0;
		if (!EXPECT(op_is_good(mx, l, n)) && notes++ < MAX_NOTES)
			test_note("failed: seed %" PRIu64 ", LWP %u, op %u: %s",
			    mx->mx_seed, lwp, n, l->mxl_wants[n].mw_name);
	}
	return samples;
}

/* Only the samples that a child process reported are known here. */
static unsigned
check_report(const struct mix *mx, const struct mix_report *mr)
{
	const struct mix_lwp *l = &mx->mx_lwps[mr->mr_lwp % MIX_LWPS];
	const struct mix_report *made =
	    &l->mxl_reports[mr->mr_program % MIX_PROGRAMS];
	unsigned n = l->mxl_nops;

	while (n > 0 && l->mxl_wants[n].mw_sample != &made->mr_sample)
		n--;
	if (!EXPECT(sample_is_good(mx, &l->mxl_wants[n], &mr->mr_sample)))
		test_note("failed: seed %" PRIu64
			  ", child process %u, program %u",
		    mx->mx_seed, mr->mr_lwp, mr->mr_program);
	return 1;
}

/* Each program of a child reports before its parent's wait4() returns. */
static unsigned
check_reports(const struct mix *mx, bool disturbed)
{
	struct mix_report mr;
	unsigned samples = 0;

	for (unsigned i = 1; i < mx->mx_nlwp; i++) {
		if (!EXPECT_EQ(mx->mx_lwps[i].mxl_status, 0))
			return 0;
	}
	for (unsigned i = 0; i < mx->mx_nlwp * MIX_PROGRAMS; i++) {
		if (mx->mx_lwps[i / MIX_PROGRAMS]
			.mxl_reports[i % MIX_PROGRAMS]
			.mr_lwp == 0)
			continue;
		if (EXPECT_EQ(
			read(mx->mx_pipe[0], &mr, sizeof mr), sizeof mr) &&
		    !disturbed)
			samples += check_report(mx, &mr);
	}
	return samples;
}

unsigned
mix_run(
    struct mix *mx, uint64_t seed, const struct mix_machine *mm, bool disturbed)
{
	unsigned samples = 0;

	if (!EXPECT_EQ(pipe(mx->mx_pipe), 0))
		return 0;
	mix_make(mx, seed, mm);
	script_run(mx->mx_lwps[0].mxl_ops);
	for (unsigned i = 1; i < mx->mx_nlwp; i++) {
		/* A futex wait may have ended early. */
		while (*(volatile int *)&mx->mx_lwps[i].mxl_alive != 0)
			sched_yield();
	}
	for (unsigned i = 0; i < mx->mx_nlwp; i++) {
		if (!mx->mx_lwps[i].mxl_process)
			samples += check_lwp(mx, i, disturbed);
	}
	samples += check_reports(mx, disturbed);
	close(mx->mx_pipe[0]);
	close(mx->mx_pipe[1]);
	return samples;
}
