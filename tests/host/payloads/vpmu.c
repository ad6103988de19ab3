/* vpmu passes on a right PMU; with a defect just the points of it fail. */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "payloads/common/events/errata.h"
#include "payloads/common/read_cost.h"
#include "tests/lib/host/vpmu/model.h"

int vpmu_main(int argc, char **argv);

static char output[1 << 16];

/* Run vpmu in a process of its own, and keep what it prints. */
static int
capture(int (*run)(void), enum defect defect)
{
	size_t n = 0;
	ssize_t got;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	if ((child = fork()) == 0) {
		vpmu_defect = defect;
		dup2(ends[1], STDOUT_FILENO);
		status = run();
		fflush(stdout);
		_exit(status);
	}
	close(ends[1]);
	while ((got = read(ends[0], output + n, sizeof output - 1 - n)) > 0)
		n += (size_t)got;
	output[n] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
judge_pics(void)
{
	char name[] = "vpmu", runs[] = "-r", number[] = "4";
	char *argv[] = { name, runs, number, NULL };

	return vpmu_main(3, argv);
}

static int
judge_events_only(void)
{
	char name[] = "vpmu", runs[] = "-r", number[] = "4",
	     word[] = "--events";
	char *argv[] = { name, runs, number, word, NULL };

	return vpmu_main(4, argv);
}

static int
run_vpmu(enum defect defect)
{
	return capture(judge_pics, defect);
}

/* The failed points: those of PICs with a mask of the PICs, "exact:7". */
static void
failed_points(char *text, size_t size)
{
	unsigned mask[32] = { 0 }, pic;
	char names[32][40], group[16], name[24];
	size_t n = 0, i, used = 0;

	for (const char *line = output; *line != '\0';
	     line += strcspn(line, "\n") + 1) {
		if (sscanf(line, "not ok %*u - %15s %23s", group, name) != 2)
			continue;
		if (sscanf(group, "pic%u", &pic) == 1) {
			snprintf(names[n], sizeof names[n], "%s", name);
		} else {
			snprintf(
			    names[n], sizeof names[n], "%s %s", group, name);
			pic = 31;
		}
		for (i = 0; strcmp(names[i], names[n]) != 0; i++)
			;
		mask[i] |= 1U << pic;
		n += i == n;
	}
	*text = '\0';
	for (i = 0; i < n; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%s",
		    i == 0 ? "" : ", ", names[i]);
		if (mask[i] >> 31 == 0)
			used += (size_t)snprintf(
			    text + used, size - used, ":%x", mask[i]);
	}
}

TEST(a_right_pmu_passes)
{
	assert_int_equal(run_vpmu(RIGHT), 0);
	assert_null(strstr(output, "not ok"));
	/* Five PICs with 16 points, three of fixed PICs, nine of the PMU. */
	assert_non_null(strstr(output, "\n1..92\n"));
}

TEST(each_defect_fails_its_points)
{
	/* In a mask, bits 0 to 2 are PICs that count instructions. */
	static const struct {
		enum defect defect;
		const char *failed;
	} cases[] = {
		{ UNPROVED, "proof:2" },
		{ OVERCOUNTS, "exact:7, both:7, stopped:7, trapped:7, "
			      "halt_lwp:7, halt_cpu:7, migration:7, "
			      "fixed_event:4, event instructions" },
		{ COUNTS_TWICE, "both:7" },
		{ IGNORES_USER, "user_filter:1f" },
		{ IGNORES_SYSTEM, "kernel_filter:1f" },
		{ RUNS_ON, "stopped:1f, pmu together" },
		{ LOSES_TRAPPED, "trapped:7" },
		{ NARROW, "width:1f" },
		{ CUTS_PRESET, "width:1f, preset:1f, wrap:1f" },
		{ JUMPS, "wrap:1f" },
		{ LOSES_INTERRUPT, "overflow:1f, freeze:1f" },
		{ EARLY, "overflow:1f" },
		{ INTERRUPTS_TWICE, "freeze:1f" },
		{ OTHERS_RUN_ON, "freeze:1f" },
		{ HALT_LOSES, "halt_lwp:7" },
		{ CPU_HALT_LOSES, "halt_cpu:7" },
		{ COUNTS_OTHERS, "busy_cpu:7" },
		{ MOVE_LOSES, "migration:7" },
		{ ONE_STANDS, "freeze:7, overflow:2, pmu together" },
		{ TICK_STANDS, "fixed_event:10, pmu tick" },
		{ REFUSES_BRANCHES, "event branches" },
		{ DOUBLES_BRANCHES, "event branches" },
		{ CYCLES_STAND,
		    "exact:8, both:8, user_filter:8, kernel_filter:8, "
		    "stopped:8, width:8, preset:8, wrap:8, overflow:8, "
		    "freeze:8, halt_lwp:8, halt_cpu:8, migration:8, "
		    "fixed_event:8, pmu together, event cycles" },
		{ IGNORES_CMASK, "pmu cmask" },
		{ READS_ABSENT, "pmu rdpmc_absent" },
		{ FIXED_INSNS_WRONG,
		    "freeze:7, exact:4, both:4, stopped:4, trapped:4, "
		    "halt_lwp:4, halt_cpu:4, migration:4, fixed_event:4, pmu "
		    "together" },
		{ FIXED_FAST, "fixed_event:8" },
		{ REFERENCE_FAST, "fixed_event:10" },
	};
	char failed[4096];
	int wrong = 0;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int status = run_vpmu(cases[i].defect);

		failed_points(failed, sizeof failed);
		if (status == 1 && strcmp(failed, cases[i].failed) == 0)
			continue;
		wrong++;
		print_error("defect %d: status %d: %s\n", cases[i].defect,
		    status, failed);
	}
	assert_int_equal(wrong, 0);
}

/* The PICs of the model cost what each kind of vPMU makes them cost. */
TEST(the_cost_of_a_read_tells_the_model)
{
	static const struct {
		enum defect model;
		const char *said;
	} cases[] = {
		{ RIGHT, "model # SKIP cannot tell: no read and no other " },
		{ MEDIATED, "model\n# a read of a PIC: 0.0 iterations\n" },
		{ MEDIATED, "\n# mediated: a read stays in the guest, " },
		{ EMULATED, "model\n# a read of a PIC: 500.0 iterations\n" },
		{ EMULATED, "\n# emulated: a read leaves the guest\n" },
		{ EMULATED, "hypervisor carries out: 752.0 iterations\n" },
		{ EMULATED, "\n# at system privilege 100 of them count 0\n" },
		{ UNCLEAR, "model # SKIP cannot tell: a read may leave " },
		{ TICK_STANDS, "model # SKIP cannot tell: it needs a clock" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(
		    run_vpmu(cases[i].model), cases[i].model == TICK_STANDS);
		if (strstr(output, cases[i].said) == NULL)
			fail_msg("%s: %s", cases[i].said,
			    strstr(output, "pmu model"));
	}
}

/* Five presets of the rules, two other events; payloads/vpmu/believe.c. */
TEST(each_event_counts_what_its_loop_brings)
{
	static const struct {
		enum defect defect;
		const char *failed, *said;
	} cases[] = {
		{ RIGHT, "", "0 events without a rule count something, 1 not" },
		{ RIGHT, "", "event PAPI_sr_ins # SKIP the model refuses it" },
		{ OVERCOUNTS, "event PAPI_tot_ins", "at most 80000 can come" },
		{ CYCLES_STAND, "event PAPI_tot_cyc", "# stuck: it counts 0" },
		{ DOUBLES_BRANCHES, "event PAPI_br_ins", "of spin, at most" },
		{ LOADS_STAND, "event PAPI_ld_ins",
		    "# stuck: it counts 0 in 40000 iterations of load, at" },
		{ LOADS_ARE_STORES, "event PAPI_ld_ins",
		    "counts 40000 in 40000 iterations of store, at most 0 " },
		{ FORESEES, "event PAPI_br_msp",
		    "of random, at least 10000 must come" },
		{ OTHER_JUMPS, "event others", "# other counts " },
	};
	char failed[400];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int status = capture(judge_events_only, cases[i].defect);

		failed_points(failed, sizeof failed);
		assert_int_equal(status, cases[i].defect != RIGHT);
		assert_string_equal(failed, cases[i].failed);
		if (strstr(output, cases[i].said) == NULL)
			fail_msg("%s: %s", cases[i].said, output);
	}
}

/* The other parts of a program that measures. */
struct read_cost report_read_cost;

unsigned
meter_bind(struct meter *m, const struct event *events, unsigned n)
{
	return n;
}

void
meter_unbind(struct meter *m)
{
}

void
errata_found(int64_t code, int64_t count, unsigned want, const char *of)
{
	printf("%lld: %lld of %u %s\n", (long long)code, (long long)count, want,
	    of);
}

static int
bind_first(void)
{
	const struct event e = { .e_name = "PAPI_tot_ins" };
	struct meter m = { .m_cpc = cpc_open(CPC_VER_CURRENT) };

	return read_cost_bind(&m, &e, 1) == 1 ? 0 : 1;
}

/* A program checks cycles and branches once, before it counts. */
TEST(a_program_checks_the_events_that_it_knows)
{
	static const struct {
		enum defect defect;
		const char *found;
	} cases[] = {
		{ RIGHT, "" },
		{ CYCLES_STAND, "1: 0 of 2000 cycles or more\n" },
		{ DOUBLES_BRANCHES, "3: 4000 of 2000 branches\n" },
		{ REFUSES_BRANCHES, "" },
		{ OVERCOUNTS, "" }, /* instructions: the proof at boot */
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(capture(bind_first, cases[i].defect), 0);
		assert_string_equal(output, cases[i].found);
	}
}
