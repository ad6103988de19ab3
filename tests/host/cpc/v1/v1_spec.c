/* Version 1: each word of a specification is printed as one that makes it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpc/v1/v1.h"
#include "tests/lib/host/test.h"

/* The library asks the kernel about this machine only. */
intptr_t
cpc_syscall(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	return -ENOSYS;
}

static struct machine intel, amd, arm, soft;

/* No table of a CPU: these have the names that every such PMU has. */
static int
set_up(void **state)
{
	intel = (struct machine){ .mc_loaded = true,
		.mc_pmu = { .pm_kind = CPC_PMU_INTEL,
		    .pm_pics = 0x7f,
		    .pm_general = 0xf,
		    .pm_own = { 0x10, 0x20, 0x40 },
		    .pm_family = 6,
		    .pm_cache = 3,
		    .pm_events = { 0x7f } } };
	amd = (struct machine){ .mc_loaded = true,
		.mc_pmu = { .pm_kind = CPC_PMU_AMD,
		    .pm_pics = 0x3f,
		    .pm_general = 0x3f,
		    .pm_family = 0x17 } };
	arm = (struct machine){ .mc_loaded = true,
		.mc_pmu = { .pm_kind = CPC_PMU_ARM,
		    .pm_pics = 0x3e,
		    .pm_general = 0x3f,
		    .pm_events = { 0x20101, 0 } } };
	soft = (struct machine){ .mc_loaded = true,
		.mc_pmu = { .pm_kind = CPC_PMU_SOFTWARE,
		    .pm_pics = 0xf,
		    .pm_general = 0xf,
		    .pm_own = { 0xf, 0x1, 0xf } } };
	return 0;
}

TEST_FIRST(set_up);

static struct {
	int calls;
	char fn[32], text[256];
} reports;

static void
record_report(const char *fn, const char *fmt, va_list ap)
{
	reports.calls++;
	snprintf(reports.fn, sizeof reports.fn, "%s", fn);
	vsnprintf(reports.text, sizeof reports.text, fmt, ap);
}

static cpc_event_t
parse(const struct machine *mc, const char *spec)
{
	cpc_event_t event;

	assert_int_equal(
	    cpci_v1_parse(mc, cpci_v1_cpu_of(&mc->mc_pmu), spec, &event), 0);
	return event;
}

/* The specification makes these words, and they print as `text`. */
static void
expect_words(const struct machine *mc, const char *spec, uint32_t word0,
    uint32_t word1, const char *text)
{
	cpc_event_t event = parse(mc, spec), same;

	assert_int_equal(event.ce_pes[0], word0);
	assert_int_equal(event.ce_pes[1], word1);
	char *printed = cpci_v1_print(mc, cpci_v1_cpu_of(&mc->mc_pmu), &event);
	assert_string_equal(printed, text);
	same = parse(mc, printed);
	assert_memory_equal(&event, &same, sizeof event);
	free(printed);
}

/* CPC-V1-02, CPC-V1-03 */
TEST(intels_words_are_event_selects)
{
	expect_words(&intel, "pic0=inst_retired.any_p,pic1=PAPI_tot_cyc",
	    0x4100c0, 0x41003c,
	    "pic0=inst_retired.any_p,pic1=cpu_clk_unhalted.thread_p");
	expect_words(&intel, "0xc2,0xc2,umask=2,cmask1=1,inv1,sys0,nouser0",
	    0x4202c2, 0x1c102c2,
	    "pic0=0xc2,pic1=0xc2,cmask1=0x1,umask=0x2,nouser0,sys0,inv1");
	expect_words(&intel, "pic1=0x88,pic0=0x24,pc,int0,edge1,anythr0",
	    0x790024, 0x4d0088, "pic0=0x24,pic1=0x88,int0,pc,edge1,anythr0");
	expect_words(&intel, "0x10,r40018:u,noedge", 0x410010, 0x410018,
	    "pic0=0x10,pic1=0x18");
	expect_words(&intel,
	    "cpu/event=0xc2,umask=1/,pic1=cpu/event=0xc4/k,inv1", 0x4101c2,
	    0xc200c4, "pic0=0xc2,pic1=0xc4,umask0=0x1,nouser1,sys1,inv1");
	expect_words(&intel, "r1c0:k,0,cmask=0xff", 0xff4201c0, 0xff410000,
	    "pic0=0xc0,pic1=0,cmask=0xff,umask0=0x1,nouser0,sys0");
}

/* CPC-V1-02, CPC-V1-03 */
TEST(other_pmus_have_words_of_their_own)
{
	expect_words(&amd, "ExRetInstr,PAPI_tot_cyc,sys", 0x4300c0, 0x430076,
	    "pic0=ExRetInstr,pic1=LsNotHaltedCyc,sys");
	expect_words(&arm, "inst_retired,0x40f8,nouser1", 0x10008, 0x40f8,
	    "pic0=inst_retired,pic1=0x40f8,nouser1");
	expect_words(&soft, "cycles,instructions,sys0", 0x30101, 0x10100,
	    "pic0=cycles,pic1=instructions,sys0");
	expect_words(&soft, "7,0xff,nouser,sys", 0x20007, 0x200ff,
	    "pic0=0x7,pic1=0xff,nouser,sys");
}

/* Counters 0 and 1 are the lowest general PICs that requests may use. */
TEST(counters_are_the_lowest_general_pics)
{
	struct cpc_pmu one = { .pm_pics = 0xf0, .pm_general = 0x1f };

	assert_int_equal(cpci_v1_cpu_of(&arm.mc_pmu).vc_pic[0], 1);
	assert_int_equal(cpci_v1_cpu_of(&arm.mc_pmu).vc_pic[1], 2);
	assert_int_equal(cpci_v1_cpu_of(&arm.mc_pmu).vc_ver, CPC_BARECPC_ARM);
	assert_int_equal(cpci_v1_cpu_of(&one).vc_ver, -1);
}

/* CPC-V1-02: the number of errors, and the text of the last. */
static void
expect_errors(
    const struct machine *mc, const char *spec, int n, const char *text)
{
	cpc_event_t event;

	memset(&reports, 0, sizeof reports);
	assert_int_equal(
	    cpci_v1_parse(mc, cpci_v1_cpu_of(&mc->mc_pmu), spec, &event), n);
	assert_int_equal(reports.calls, n);
	assert_string_equal(reports.fn, "strtoevent");
	assert_string_equal(reports.text, text);
	assert_int_equal(event.ce_pes[0] | event.ce_pes[1], 0);
}

/* CPC-V1-02 */
TEST(errors_are_reported)
{
	cpc_seterrfn(record_report);
	expect_errors(&intel, "", 2, "two events must be specified\n");
	expect_errors(&intel, "0xc0", 1, "two events must be specified\n");
	expect_errors(&intel, "0xc0,0xc0,0xc0", 1, "bad token '0xc0'\n");
	expect_errors(&intel, "0xc0,0xc0,", 1, "bad token ''\n");
	expect_errors(&intel, "0xc0,0xc0,foo=1", 1, "bad token 'foo'\n");
	expect_errors(&intel, "0xc0,cpu/event=0xc0,nonsense/", 1,
	    "PerfCtr1 cannot measure 'cpu/event=0xc0,nonsense/' on this "
	    "cpu\n");
	expect_errors(&intel, "0xc0,0xc0,umask2=1", 1, "bad token 'umask2'\n");
	expect_errors(
	    &intel, "pic0=1,pic0=1,pic1=1", 1, "repeated 'pic0' token\n");
	expect_errors(
	    &intel, "0xc0,pic1=", 2, "two events must be specified\n");
	expect_errors(&intel, "0xc0,0xc0,cmask", 1, "missing 'cmask' value\n");
	expect_errors(
	    &intel, "0xc0,0xc0,cmask1=", 1, "missing 'cmask1' value\n");
	expect_errors(&intel, "0xc0,0xc0,umask=zz", 1, "bad 'umask' value\n");
	expect_errors(&intel, "0xc0,0xc0,umask=256", 1, "bad 'umask' value\n");
	expect_errors(&intel, "0xc0,0xc0,umask=-1", 1, "bad 'umask' value\n");
	expect_errors(&intel, "0xc0,0xc0,sys=1", 1, "bad arg to 'sys'\n");
	expect_errors(
	    &intel, "0xc0,0xc0,inv0,inv", 1, "repeated 'inv' token\n");
	expect_errors(&intel, "0x1c0,0xc0", 1,
	    "PerfCtr0 cannot measure '0x1c0' on this cpu\n");
	/* A fixed counter's event. */
	expect_errors(&intel, "0xc0,cpu_clk_unhalted.ref", 1,
	    "PerfCtr1 cannot measure 'cpu_clk_unhalted.ref' on this cpu\n");
	/* An event of 12 bits does not fit in a word. */
	expect_errors(&amd, "0xc0,0x1c0", 1,
	    "PerfCtr1 cannot measure '0x1c0' on this cpu\n");
	expect_errors(&soft, "cycles,cycles", 1,
	    "PerfCtr1 cannot measure 'cycles' on this cpu\n");
	expect_errors(&arm, "8,8,umask=1", 1, "bad token 'umask'\n");
	cpc_seterrfn(NULL);
}

/* Without a PMU there is no version. */
TEST(no_pmu_no_version)
{
	cpc_event_t event;

	memset(&reports, 0, sizeof reports);
	cpc_seterrfn(record_report);
	assert_int_equal(cpc_getcpuver(), -1);
	assert_int_equal(reports.calls, 0);
	assert_int_equal(cpc_strtoevent(-1, "8,8", &event), 1);
	assert_int_equal(reports.calls, 1);
	assert_int_equal(cpc_access(), -1);
	assert_int_equal(errno, ENOSYS);
	assert_string_equal(reports.fn, "access");
	assert_string_equal(reports.text, "CPU performance counters are "
					  "inaccessible on this machine\n");
	assert_int_equal(cpc_bind_event(&event, 0), -1);
	assert_int_equal(errno, ENXIO);
	assert_int_equal(cpc_take_sample(&event), -1);
	assert_int_equal(errno, ENXIO);
	assert_int_equal(cpc_shared_open(), -1);
	assert_int_equal(errno, ENXIO);
	assert_int_equal(cpc_rele(), 0);
	cpc_seterrfn(NULL);
}
