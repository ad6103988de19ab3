/* Counts of a PIC: a known loop, and at which privilege. */
#include "payloads/vpmu/vpmu.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * spin_loop(n) retires SPIN_INSNS instructions an iteration.  A cycle count is
 * not known, but a loop of three times the length takes longer.
 */
static void
judge_spin(struct measure *m, unsigned pic)
{
	int64_t d = measure_difference(m, spin_loop);

	if (vpmu.v_pic[pic].vp_exact)
		point_equal("instructions of 2000 iterations", d, SPIN_WANT);
	else if (d <= 0)
		point_fail("%d iterations count %lld more than %d", LONG_LOOP,
		    (long long)d, SHORT_LOOP);
}

static void
judge_exact(unsigned pic)
{
	struct measure m;

	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	judge_spin(&m, pic);
	measure_close(&m);
}

static void
judge_both(unsigned pic)
{
	struct measure m;

	if (!measure_open(&m, pic, CPC_COUNT_USER | CPC_COUNT_SYSTEM, 0))
		return;
	judge_spin(&m, pic);
	measure_close(&m);
}

/*
 * A short and a long system call.  The program retires the same instructions
 * for both.  syscall() always passes six arguments, and returns on the same
 * path, because both calls succeed.
 */
static long last_result;

static void
call_short(uint64_t)
{
	last_result =
	    syscall(SYS_getppid, AT_FDCWD, "/dev/machine", O_RDONLY, 0, 0, 0);
}

static void
call_long(uint64_t)
{
	last_result =
	    syscall(SYS_openat, AT_FDCWD, "/dev/machine", O_RDONLY, 0, 0, 0);
}

/* The least count of a call; an open file is closed after the last sample. */
static int64_t
least_call(struct measure *m, void (*call)(uint64_t))
{
	unsigned runs = vpmu.v_runs;
	int64_t least = INT64_MAX, count;

	vpmu.v_runs = 1;
	for (unsigned i = 0; i < runs; i++) {
		count = measure_least(m, call, 0);
		least = count < least ? count : least;
		if (call == call_long)
			for (int fd = (int)last_result; fd > STDERR_FILENO;
			     fd--)
				close(fd);
	}
	vpmu.v_runs = runs;
	return least;
}

/*
 * The count of a long system call, or loop of the program, less that of a short
 * one.  A sample may be a system call, which is the same for both.
 */
static int64_t
difference_of(bool calls, unsigned pic, uint_t flags)
{
	struct measure m;
	int64_t d;

	if (!measure_open(&m, pic, flags, 0))
		return 0;
	d = calls ? least_call(&m, call_long) - least_call(&m, call_short)
	          : measure_difference(&m, spin_loop);
	measure_close(&m);
	return d;
}

/*
 * Work of one privilege is counted at that privilege, and not at the other.
 * Cycles of the same instructions vary from run to run.  A filter counts the
 * work as a whole or not at all, so half of it is the limit between the two.
 */
static void
judge_filter(const char *work, unsigned pic, int64_t counted, int64_t filtered)
{
	if (counted <= 0)
		point_fail("%s counts %lld more at its own privilege", work,
		    (long long)counted);
	else if (vpmu.v_pic[pic].vp_exact)
		point_equal(work, filtered, 0);
	else if (filtered > counted / 2 || filtered < -counted / 2)
		point_fail("%s counts %lld more at the other privilege, %lld "
			   "at its own",
		    work, (long long)filtered, (long long)counted);
}

/* Nothing that the kernel retires is counted. */
static void
judge_user_filter(unsigned pic)
{
	judge_filter("a long system call", pic,
	    difference_of(true, pic, CPC_COUNT_SYSTEM),
	    difference_of(true, pic, CPC_COUNT_USER));
}

/* Nothing of the program is counted. */
static void
judge_kernel_filter(unsigned pic)
{
	judge_filter("a loop of 2000 more iterations", pic,
	    difference_of(false, pic, CPC_COUNT_USER),
	    difference_of(false, pic, CPC_COUNT_SYSTEM));
}

/* A stopped PIC does not count, and goes on from where it stopped. */
static void
judge_stopped(unsigned pic)
{
	struct measure m;

	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	spin_loop(SHORT_LOOP);
	cpc_disable(vpmu.v_cpc);
	uint64_t at = measure_sample(&m, 0);
	spin_loop(LONG_LOOP);
	uint64_t later = measure_sample(&m, 0);
	point_equal("counts of a stopped PIC", (int64_t)(later - at), 0);
	cpc_enable(vpmu.v_cpc);
	judge_spin(&m, pic);
	measure_close(&m);
}

/*
 * An instruction that the hypervisor carries out for the program has retired:
 * the hypervisor must add it to the counter.
 */
static void
judge_trapped(unsigned pic)
{
	struct measure m;

	if (arch_trapped_loop == NULL) {
		point_skip("no instruction of a program is emulated by every "
			   "hypervisor");
		return;
	}
	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	point_equal("instructions of 2000 iterations",
	    measure_difference(&m, arch_trapped_loop),
	    (int64_t)arch_trapped_insns * (LONG_LOOP - SHORT_LOOP));
	measure_close(&m);
}

const struct vpmu_property count_properties[] = {
	{ "exact", judge_exact, 0 },
	{ "both", judge_both, 0 },
	{ "user_filter", judge_user_filter, NEEDS_USER },
	{ "kernel_filter", judge_kernel_filter, NEEDS_USER },
	{ "stopped", judge_stopped, 0 },
	{ "trapped", judge_trapped, NEEDS_EXACT },
	{ NULL, NULL, 0 },
};

/*
 * All PICs at once, general and fixed.  The kernel starts and stops them, so
 * at user privilege none counts an instruction that another does not.
 */
static void
judge_together(unsigned)
{
	uint64_t first = 0, value;
	bool have_first = false;
	struct measure m;
	int index = 0;

	if (!measure_open_all(&m))
		return;
	spin_loop(LONG_LOOP);
	cpc_disable(vpmu.v_cpc);
	for (unsigned i = 0; i < vpmu.v_npic; i++) {
		if (vpmu.v_pic[i].vp_event == NULL)
			continue;
		value = measure_sample(&m, index++);
		if (value == 0)
			point_fail("PIC %u counts nothing", i);
		if (!vpmu.v_pic[i].vp_exact)
			continue;
		if (have_first && value != first)
			point_fail("PIC %u counts %llu, another PIC %llu", i,
			    (unsigned long long)value,
			    (unsigned long long)first);
		first = value;
		have_first = true;
	}
	if (have_first && first < SPIN_INSNS * LONG_LOOP)
		point_fail("%llu of %d instructions are counted",
		    (unsigned long long)first, SPIN_INSNS * LONG_LOOP);
	measure_close(&m);
}

/* The cycle counter of samples grows from one sample to the next. */
static void
judge_tick(unsigned pic)
{
	struct measure m;
	uint64_t last = 0, tick;

	for (pic = 0; vpmu.v_pic[pic].vp_event == NULL; pic++) {
		if (pic + 1 >= vpmu.v_npic) {
			point_skip("no PIC can be bound");
			return;
		}
	}
	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	for (unsigned i = 0; i < 100; i++) {
		measure_sample(&m, 0);
		tick = cpc_buf_tick(vpmu.v_cpc, m.vm_after);
		if (i > 0 && tick <= last)
			point_fail("%s reads %llu, then %llu", CPC_TICKREG_NAME,
			    (unsigned long long)last, (unsigned long long)tick);
		last = tick;
	}
	measure_close(&m);
}

const struct vpmu_property set_properties[] = {
	{ "together", judge_together, NEEDS_USER },
	{ "tick", judge_tick, 0 },
	{ NULL, NULL, 0 },
};
