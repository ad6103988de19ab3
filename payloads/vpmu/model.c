/*
 * How a hypervisor gives its guests a PMU, by what it costs.  A vPMU that is
 * emulated takes an exit to the hypervisor for each access to a PIC.  With one
 * that is mediated the guest has the counters themselves, and reads them.
 *
 * The unit is an iteration of spin_loop(), of two instructions: a cycle on any
 * CPU, and two instructions in an emulator.
 */
#include "payloads/vpmu/vpmu.h"

#include <stddef.h>
#include <sys/time.h>

#define SAMPLES 32
#define TRAPS   50 /* instructions that the hypervisor carries out */
/*
 * RDPMC and MRS take tens of cycles.  An exit saves and loads the state of two
 * machines, in more than five hundred.
 */
#define MOST_DIRECT 150
#define LEAST_EXIT  300

static void
take_samples(struct measure *m, uint64_t n)
{
	while (n-- > 0)
		measure_sample(m, 0);
}

static void
spin(struct measure *, uint64_t n)
{
	spin_loop(n);
}

static void
trap(struct measure *, uint64_t n)
{
	arch_trapped_loop(n);
}

/*
 * The time of one of n steps, in ns: the least of the runs.  The tick of a
 * sample leaves out the time in the kernel.
 */
static double
least_time(
    struct measure *m, void (*steps)(struct measure *, uint64_t), uint64_t n)
{
	hrtime_t least[2] = { INT64_MAX, INT64_MAX }, time;

	for (unsigned i = 0; i < 2 * vpmu.v_runs; i++) {
		time = gethrtime();
		steps(m, i % 2 == 0 ? n : 3 * n);
		time = gethrtime() - time;
		if (time < least[i % 2])
			least[i % 2] = time;
	}
	return least[1] > least[0]
	           ? (double)(least[1] - least[0]) / (2 * (double)n)
	           : 0;
}

/* The hypervisor's instructions for a trapped one must not be counted. */
static void
note_trapped(unsigned pic, double cost)
{
	struct measure m;

	point_note("an instruction that the hypervisor carries out: %.1f "
		   "iterations",
	    cost);
	if (vpmu.v_system || !vpmu.v_pic[pic].vp_exact ||
	    !measure_open(&m, pic, CPC_COUNT_SYSTEM, 0))
		return;
	int64_t count = measure_least(&m, arch_trapped_loop, 3 * TRAPS);
	count -= measure_least(&m, arch_trapped_loop, TRAPS);
	point_note("at system privilege %d of them count %lld", 2 * TRAPS,
	    (long long)count);
	measure_close(&m);
}

static void
conclude(double read, double trapped)
{
	if (read >= LEAST_EXIT)
		point_note("emulated: a read leaves the guest");
	else if (read > MOST_DIRECT)
		point_skip("cannot tell: a read may leave the guest or not");
	else if (trapped >= LEAST_EXIT)
		point_note("mediated: a read stays in the guest, and other "
			   "instructions leave it");
	else
		point_skip("cannot tell: no read and no other instruction of a "
			   "program leaves a guest");
}

static void
judge_cost(unsigned pic)
{
	double loop, one, all, read, trapped = 0;
	struct measure m;

	while (pic < vpmu.v_npic && vpmu.v_pic[pic].vp_event == NULL)
		pic++;
	if (pic == vpmu.v_npic) {
		point_skip("no PIC can be bound");
		return;
	}
	if (!measure_open(&m, pic, vpmu.v_own, 0))
		return;
	loop = least_time(&m, spin, SHORT_LOOP);
	one = least_time(&m, take_samples, SAMPLES);
	if (arch_trapped_loop != NULL)
		trapped = least_time(&m, trap, TRAPS);
	measure_close(&m);
	if (!measure_open_all(&m))
		return;
	all = least_time(&m, take_samples, SAMPLES);
	int n = m.vm_n;
	measure_close(&m);
	if (loop <= 0 || n < 2) {
		point_skip("cannot tell: it needs a clock and two PICs");
		return;
	}
	read = (all - one) / (n - 1) / loop;
	point_note("a read of a PIC: %.1f iterations", read);
	if (arch_trapped_loop != NULL)
		note_trapped(pic, trapped / loop);
	if (vpmu.v_late >= 0)
		point_note("an overflow interrupt: %lld counts late",
		    (long long)vpmu.v_late);
	conclude(read, trapped / loop);
}

static void
judge_model(unsigned pic)
{
	judge_cost(pic);
	note_steady();
}

const struct vpmu_property model_properties[] = {
	{ "model", judge_model, 0 },
	{ NULL, NULL, 0 },
};
