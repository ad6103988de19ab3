/*
 * vpmu: check the PMU of this machine, which a hypervisor may have made.
 *
 *	vpmu [-r RUNS] [--junit] [--tap] [--events]
 *
 * It prints one point for each PIC and property: TAP, or JUnit's XML, or both.
 * The exit status is 0 if all points pass, and 1 if one fails.  It is 77 if
 * nothing could be counted.  docs/vpmu.md says what each point means.
 */
#include "payloads/vpmu/vpmu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"

#define DEFAULT_RUNS 10

/* The proof at boot, which the kernel reports in /dev/machine. */
static void
judge_proof(unsigned pic)
{
	const struct vpmu_pic *vp = &vpmu.v_pic[pic];

	if (!vp->vp_offered)
		point_fail("%s", *vp->vp_unproved != '\0'
				     ? vp->vp_unproved
				     : "the kernel does not offer it");
	else if (vp->vp_event == NULL)
		point_skip("it counts neither instructions nor cycles");
	else
		point_note("%s, %u bits, counts %s",
		    vp->vp_fixed ? "fixed" : "general", vp->vp_width,
		    vp->vp_event);
}

static const struct vpmu_property proof_properties[] = {
	{ "proof", judge_proof, 0 },
	{ NULL, NULL, 0 },
};

/* Why the property cannot be judged here, or NULL. */
static const char *
why_not(const struct vpmu_property *pr, const struct vpmu_pic *vp)
{
	if ((pr->vpr_needs & NEEDS_USER) != 0 && vpmu.v_system)
		return "needs user privilege: boot without priv=system";
	if ((pr->vpr_needs & NEEDS_SYSTEM) != 0 && !vpmu.v_system)
		return "needs system privilege: boot with priv=system";
	if ((pr->vpr_needs & NEEDS_CPUS) != 0 &&
	    sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return "needs two CPUs";
	if ((pr->vpr_needs & NEEDS_EXACT) != 0 && vp != NULL && !vp->vp_exact)
		return "the PIC does not count instructions";
	return NULL;
}

static void
judge_points(const char *group, const struct vpmu_property *pr, unsigned pic,
    const struct vpmu_pic *vp)
{
	for (; pr->vpr_name != NULL; pr++) {
		const char *reason = why_not(pr, vp);

		report_begin(group, pr->vpr_name);
		if (reason != NULL)
			point_skip("%s", reason);
		else
			pr->vpr_judge(pic);
		report_end();
	}
}

static void
judge_pic(unsigned pic)
{
	static const struct vpmu_property *const tables[] = { count_properties,
		range_properties, overflow_properties, lwp_properties };
	const struct vpmu_pic *vp = &vpmu.v_pic[pic];
	char group[16];

	snprintf(group, sizeof group, "pic%u", pic);
	judge_points(group, proof_properties, pic, vp);
	if (vp->vp_event == NULL)
		return;
	for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
		judge_points(group, tables[i], pic, vp);
	if (vp->vp_fixed)
		judge_points(group, fixed_properties, pic, vp);
}

/* Then no set can be bound, and this point is the only one. */
static bool
counts_all_cpus(void)
{
	if (strstr(json_machine(), "\"counts_all_cpus\":true") == NULL)
		return false;
	report_begin("pmu", "busy_cpu");
	point_fail("the counters count what all CPUs retire, as the proof at "
		   "boot found: boot one CPU (cpus=1) to judge the rest");
	report_end();
	return true;
}

int
main(int argc, char **argv)
{
	static const struct option more[] = {
		{ "junit", no_argument, NULL, 'j' },
		{ "tap", no_argument, NULL, 't' },
		{ "events", no_argument, NULL, 'e' },
		{ 0 },
	};
	bool junit = false, tap = false, events = false;
	char why[256];
	int c;

	vpmu.v_runs = DEFAULT_RUNS;
	vpmu.v_late = -1;
	usage_is("[-r RUNS] [--junit] [--tap] [--events]",
	    "  -r RUNS  the minimum of so many runs is judged (10)\n"
	    "  --junit  print JUnit's XML instead of TAP\n"
	    "  --tap    print TAP; the XML of --junit follows it\n"
	    "  --events judge the events instead of the PICs\n");
	while ((c = usage_option(argc, argv, ":r:", more)) != -1) {
		if (c == 'r')
			vpmu.v_runs =
			    (unsigned)usage_number("-r", optarg, 1, 100000, "");
		else
			*(c == 'j' ? &junit : c == 't' ? &tap : &events) = true;
	}
	if (optind < argc)
		usage_mistake("%s: takes no argument", argv[optind]);
	report_start(junit, tap);
	if ((vpmu.v_cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		return report_nothing(cpc_error_of_open(why, sizeof why));
	vpmu_open();
	if (vpmu.v_pmu.pm_kind == CPC_PMU_SOFTWARE)
		return report_nothing("the PMU is software: it counts what "
				      "programs report");
	if (counts_all_cpus())
		return report_finish();
	if (events) {
		judge_offered();
		cpc_close(vpmu.v_cpc);
		return report_finish();
	}
	steady_begin();
	for (unsigned pic = 0; pic < vpmu.v_npic; pic++)
		judge_pic(pic);
	judge_points("pmu", set_properties, 0, NULL);
	judge_events();
	judge_points("pmu", arch_properties, 0, NULL);
	judge_points("pmu", register_properties, 0, NULL);
	judge_points("pmu", model_properties, 0, NULL);
	cpc_close(vpmu.v_cpc);
	return report_finish();
}
