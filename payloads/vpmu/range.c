/*
 * The range of a counter: its width, the values that it can start from, and
 * counts that pass its end.
 */
#include "payloads/vpmu/vpmu.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

/*
 * Counts from the preset to the end of the range.  A bind retires fewer
 * instructions, and takes fewer cycles if the hypervisor runs nothing else.
 */
#define INSNS_BEFORE_END  100000
#define CYCLES_BEFORE_END (1 << 24)
/* A PIC that has not wrapped after so many loops of LONG_LOOP does not. */
#define WRAP_LOOPS 100000
/* Counts from the preset to a place that a loop passes. */
#define BEFORE_PLACE 500

/*
 * The least count after a restart at the preset and a loop.  Each restart and
 * sample retires the same, whatever the preset is.
 */
static int64_t
count_from(struct measure *m, uint64_t preset, uint64_t loop)
{
	int64_t least = INT64_MAX, count;

	for (unsigned i = 0; i <= vpmu.v_runs; i++) {
		cpc_request_preset(vpmu.v_cpc, 0, preset);
		cpc_set_restart(vpmu.v_cpc, m->vm_set);
		spin_loop(loop);
		count = (int64_t)(measure_sample(m, 0) - preset);
		if (i > 0 && count < least)
			least = count;
	}
	return least;
}

/*
 * A count of cycles differs from run to run, but no run of this loop takes
 * 2^30 cycles.  Each jump of a counter is by 2^31 or more.
 */
static void
expect_same(const char *what, unsigned pic, int64_t got, int64_t want)
{
	const int64_t jump = 1 << 30;

	if (vpmu.v_pic[pic].vp_exact)
		point_equal(what, got, want);
	else if (got <= 0 || got >= jump)
		point_fail("%s: %lld cycles", what, (long long)got);
}

/* The restart is of a PIC that runs. */
static void
judge_preset(unsigned pic)
{
	static const unsigned bits[] = { 20, 31, 32, 39, 40, 47, 48, 62, 63 };
	struct measure m;

	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	int64_t want = count_from(&m, 0, SHORT_LOOP);
	for (unsigned i = 0; i < sizeof bits / sizeof bits[0]; i++)
		expect_same("counts from a preset of one bit", pic,
		    count_from(&m, 1ULL << bits[i], SHORT_LOOP), want);
	measure_close(&m);
}

/* The count goes on in 64 bits where a counter, or a half of it, is full. */
static void
judge_wrap(unsigned pic)
{
	const unsigned bits[] = { 31, 32, 40, 47, 48, 63,
		vpmu.v_pic[pic].vp_width - 1, vpmu.v_pic[pic].vp_width };
	struct measure m;

	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	int64_t want = count_from(&m, 0, LONG_LOOP);
	for (unsigned i = 0; i < sizeof bits / sizeof bits[0]; i++) {
		uint64_t place = bits[i] == 64 ? 0 : 1ULL << bits[i];

		expect_same("counts across a place of the counter", pic,
		    count_from(&m, place - BEFORE_PLACE, LONG_LOOP), want);
	}
	measure_close(&m);
}

static uint64_t
width_mask(unsigned width)
{
	return width == 64 ? ~0ULL : (1ULL << width) - 1;
}

static sigjmp_buf after_fault;

static void
leave_fault(int sig)
{
	siglongjmp(after_fault, sig);
}

/* Read the PIC.  Returns false if the program may not. */
static bool
read_raw(unsigned index, uint64_t *value)
{
	bool good = sigsetjmp(after_fault, 1) == 0;

	signal(SIGILL, leave_fault);
	signal(SIGSEGV, leave_fault);
	if (good)
		*value = arch_raw(index);
	signal(SIGILL, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	return good;
}

/* The PIC's value soon after it started at `start`, and after it wrapped. */
static bool
read_wrap(unsigned pic, uint64_t start, uint64_t *full, uint64_t *wrapped)
{
	cpc_reqinfo_t info = { 0 };
	struct measure m;

	if (!measure_open(&m, pic, vpmu.v_own, start))
		return false;
	cpc_request_info(vpmu.v_cpc, m.vm_set, 0, &info);
	point_equal(
	    "bits of its counter", info.ri_width, vpmu.v_pic[pic].vp_width);
	if (!read_raw(info.ri_index, full)) {
		point_skip("programs cannot read the PIC: the read faults");
		measure_close(&m);
		return false;
	}
	*wrapped = *full;
	for (unsigned i = 0; i < WRAP_LOOPS && *wrapped >= *full; i++) {
		spin_loop(LONG_LOOP);
		*wrapped = arch_raw(info.ri_index);
	}
	measure_close(&m);
	return true;
}

/*
 * The program reads the PIC itself.  Near the end of the range all bits of the
 * width are set, and after the loop the PIC reads a small number.  So it has
 * exactly that many bits.  A run that was interrupted may read only the end.
 */
static void
judge_width(unsigned pic)
{
	const struct vpmu_pic *vp = &vpmu.v_pic[pic];
	uint64_t mask = width_mask(vp->vp_width), full = 0, wrapped = 0;
	uint64_t start =
	    mask + 1 - (vp->vp_exact ? INSNS_BEFORE_END : CYCLES_BEFORE_END);

	start &= mask;
	for (unsigned i = 0; i < vpmu.v_runs && full < start; i++) {
		if (!read_wrap(pic, start, &full, &wrapped))
			return;
	}
	point_note("it reads %#llx, then %#llx", (unsigned long long)full,
	    (unsigned long long)wrapped);
	if (full > mask || wrapped > mask)
		point_fail("it reads more than %u bits", vp->vp_width);
	else if (full < start)
		point_fail(
		    "it did not start at %#llx", (unsigned long long)start);
	else if (wrapped >= full)
		point_fail("it did not wrap at %u bits", vp->vp_width);
}

const struct vpmu_property range_properties[] = {
	{ "width", judge_width, 0 },
	{ "preset", judge_preset, NEEDS_USER },
	{ "wrap", judge_wrap, NEEDS_USER },
	{ NULL, NULL, 0 },
};
