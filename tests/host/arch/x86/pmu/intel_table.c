/*
 * Names of Skylake's table on Intel's backend: the PICs that count them, the
 * values that are written, and the extra MSRs that all PICs share.  Intel SDM
 * vol. 3B, "Off-core Response Performance Monitoring".
 */
#include "tests/lib/host/named.h"
/* this header names the backend `ops` */
#include "tests/lib/host/x86/intel_shapes.h"

#include <stdio.h>
#include <string.h>

#include "kern/cpc/kcpc_impl.h"

/* Add the event of this name, as kcpc does. */
static int
add_name(struct x86_set *s, unsigned pic, const char *name, unsigned nattrs,
    const struct cpc_packattr *attrs)
{
	struct pcbe_cfg *cfg = &s->cfg[s->set.ps_n];
	struct cpc_event ev = { 0 };
	int subcode;

	assert_true(named_event(ops, name, &ev) != 0);
	s->set.ps_cfg = s->cfg;
	s->set.ps_page = &s->page;
	cfg->pc_pic = (uint8_t)pic;
	cfg->pc_flags = CPC_COUNT_USER;
	cfg->pc_notify = false;
	subcode =
	    ops->configure(cfg, &ev, nattrs, attrs, &s->set, &named_refusal);
	if (subcode == 0) {
		s->set.ps_n++;
		s->set.ps_pics |= 1U << pic;
	}
	return subcode;
}

/* The PICs of a name; *lacks: the machine lacks something that it needs. */
static uint64_t
pics_of(const char *name, bool *lacks)
{
	struct cpc_event ev = { 0 };

	assert_true(named_event(ops, name, &ev) != 0);
	*lacks = (ev.ce_flags & CPC_EVENT_LACKING) != 0;
	return ev.ce_pics;
}

TEST(pics_match_the_tables)
{
	bool lacks;

	boot(&skylake_whole);
	assert_string_equal(
	    named_machine(ops)->mc_table.es_pmu->ep_name, "skl");
	/* Four general PICs of the table's eight, then the fixed PICs. */
	assert_int_equal(pics_of("BR_INST_RETIRED:ALL_BRANCHES", &lacks), 0xf);
	assert_false(lacks);
	assert_int_equal(pics_of("UNHALTED_REFERENCE_CYCLES", &lacks), 0x40);
	assert_int_equal(pics_of("INST_RETIRED:PREC_DIST", &lacks), 0x2);
	/* A fixed PIC has no counter mask. */
	assert_int_equal(
	    pics_of("INST_RETIRED:ANY_P:c=1", &lacks) & ~0xfULL, 0);
	/* This CPU has no transactional memory. */
	pics_of("INST_RETIRED:ANY_P:intx", &lacks);
	assert_true(lacks);
	boot(&skylake);
	pics_of("OFFCORE_RESPONSE_0:DMND_DATA_RD", &lacks);
	assert_true(lacks);
}

TEST(selects_are_written)
{
	boot(&skylake_whole);
	assert_int_equal(
	    add_name(&set, 1, "INST_RETIRED:ANY_P:c=2:i", 0, NULL), 0);
	assert_int_equal(set.cfg[0].pc_sel, 0x2d100c0);
	assert_int_equal(add_name(&set, 2, "INST_RETIRED:ANY_P:intx", 0, NULL),
	    CPC_RESOURCE_UNAVAIL);
	assert_string_equal(named_refusal.cf_why,
	    "this CPU lacks bits 0x100000000 of the event select");
	set.set.ps_privileged = false;
	assert_int_equal(add_name(&set, 2, "INST_RETIRED:ANY_P:t", 0, NULL),
	    CPC_ATTR_REQUIRES_PRIVILEGE);
}

/* CPC-BIND-17: two values for one extra MSR conflict; the reason says so. */
TEST(extra_msrs_are_shared)
{
	const char *one = "OFFCORE_RESPONSE_0:DMND_DATA_RD";
	const char *two = "OFFCORE_RESPONSE_0:DMND_RFO";
	const char *other = "OFFCORE_RESPONSE_1:DMND_RFO";

	boot(&skylake_whole);
	assert_int_equal(add_name(&set, 0, one, 0, NULL), 0);
	assert_int_equal(add_name(&set, 1, two, 0, NULL), CPC_CONFLICTING_REQS);
	assert_string_equal(named_refusal.cf_why,
	    "MSR_OFFCORE_RSP_0 (0x1a6) is to "
	    "be 0x10002, and 0x10001 for "
	    "request 0");
	assert_int_equal(add_name(&set, 1, one, 0, NULL), 0);
	assert_int_equal(add_name(&set, 2, other, 0, NULL), 0);
	cpu->offcore[0] = cpu->offcore[1] = 0;
	ops->program(&set.set);
	assert_int_equal(cpu->offcore[0], 0x10001);
	assert_int_equal(cpu->offcore[1], 0x10002);
	ops->allstop();
	boot(&skylake);
	assert_int_equal(add_name(&set, 0, one, 0, NULL), CPC_RESOURCE_UNAVAIL);
	assert_string_equal(
	    named_refusal.cf_why, "this CPU lacks MSR_OFFCORE_RSP_0 (0x1a6)");
}

/* A set that is bound elsewhere has another value. */
TEST(extra_msrs_that_threads_share)
{
	const char *name = "OFFCORE_RESPONSE_0:DMND_DATA_RD";
	struct pcbe_set other = { .ps_extra_msr[EXTRA_OFFCORE0] = 0x10002 };

	boot(&skylake_whole);
	fake_bound = &other;
	assert_int_equal(add_name(&set, 0, name, 0, NULL), 0);
	intel_extras_shared = true;
	assert_int_equal(
	    add_name(&set, 1, name, 0, NULL), CPC_CONFLICTING_REQS);
	assert_string_equal(named_refusal.cf_why,
	    "the threads of a core share MSR_OFFCORE_RSP_0 (0x1a6), and "
	    "another set needs another value: unbind that, or boot one thread "
	    "(cpus=)");
	/* Sets of CPUs that are no threads of one core, and a set that moves.
	 */
	set.set.ps_cpu = 1;
	assert_int_equal(
	    add_name(&set, 1, name, 0, NULL), CPC_CONFLICTING_REQS);
	other.ps_cpu = 2;
	assert_int_equal(add_name(&set, 1, name, 0, NULL), 0);
	set.set.ps_cpu = other.ps_cpu = 0;
	other.ps_extra_msr[EXTRA_OFFCORE0] = 0x10001; /* the same */
	assert_int_equal(add_name(&set, 2, name, 0, NULL), 0);
	other.ps_extra_msr[EXTRA_OFFCORE0] = 0; /* not used */
	assert_int_equal(add_name(&set, 3, name, 0, NULL), 0);
	fake_bound = NULL;
	intel_extras_shared = false;
}

/* A bind configures while another set counts: it accesses no register. */
TEST(configure_touches_no_register)
{
	static const struct {
		const char *attrs;
		int subcode;
	} binds[] = {
		{ "umask=1,msr_offcore=0x10004", 0 },
		{ "umask=1,msr_offcore=0x10000000000",
		    CPC_ATTRIBUTE_OUT_OF_RANGE },
		{ "umask=1,msr_ldlat=3", CPC_INVALID_ATTRIBUTE },
	};
	struct x86_set other;
	unsigned touched;

	boot(&skylake_whole);
	assert_int_equal(set_add(&set, 0, "0xb7", CPC_COUNT_USER,
			     "umask=1,msr_offcore=0x10001", 0),
	    0);
	set_start(&set);
	touched = cpu->touched;
	for (size_t i = 0; i < sizeof binds / sizeof binds[0]; i++) {
		set_init(&other, ops);
		assert_int_equal(set_add(&other, 0, "0xb7", CPC_COUNT_USER,
				     binds[i].attrs, 0),
		    binds[i].subcode);
	}
	assert_int_equal(cpu->touched, touched);
	assert_int_equal(cpu->offcore[0], 0x10001);
	set_stop(&set);
}

/* The CPU that configures a set may have other bits in its extra MSRs. */
TEST(extra_msrs_of_the_right_cpu)
{
	struct fake_cpu p = skylake_whole, e = skylake_whole;
	const char *wide = "umask=1,msr_offcore=0x4000000000";

	p.core_type = 0x40;
	p.wide_offcore = true;
	e.core_type = 0x20;
	boot(&p);
	fake_cpu[1] = e;
	fake_self = 1;
	assert_int_equal(intel_pcbe_init(), PMU_FOUND);
	for (fake_self = 0; fake_self < 2; fake_self++) {
		for (uint8_t type = 0; type <= 2; type++) {
			set_init(&set, ops);
			set.set.ps_type = type;
			assert_int_equal(
			    set_add(&set, 0, "0xb7", CPC_COUNT_USER, wide, 0),
			    type == 1 ? 0 : CPC_ATTRIBUTE_OUT_OF_RANGE);
		}
	}
	fake_self = 0;
}

/* An extra MSR may refuse bits together that it takes alone. */
TEST(a_refused_extra_msr_ends_no_run)
{
	struct fake_cpu c = skylake_whole;

	c.offcore_excludes = 0x30000;
	boot(&c);
	assert_int_equal(set_add(&set, 0, "0xb7", CPC_COUNT_USER,
			     "umask=1,msr_offcore=0x30001", 0),
	    0);
	set_start(&set);
	fake_run(100, true);
	set_stop(&set);
	assert_int_equal(cpu->offcore[0], 0);
	assert_int_equal(cpu->fixed_ctrl, 0);
	assert_int_equal(cpu->sel[0] & 0xffff, 0x1b7);
}

/* Attributes set the extra MSRs. */
TEST(attributes_set_extra_msrs)
{
	struct cpc_packattr attr = { .cpa_id = CPC_ATTR_MSR_OFFCORE,
		.cpa_value = 0x10004 };

	boot(&skylake_whole);
	assert_string_equal(attr_names(ops),
	    "edge,inv,umask,cmask,anythr,msr_offcore,msr_ldlat,msr_frontend");
	assert_int_equal(
	    add_name(&set, 0, "OFFCORE_RESPONSE_1:DMND_RFO", 1, &attr), 0);
	assert_int_equal(set.set.ps_extra_msr[EXTRA_OFFCORE1], 0x10004);
	/* A value with bits that the register does not have. */
	attr.cpa_value = 1ULL << 40;
	assert_int_equal(
	    add_name(&set, 1, "OFFCORE_RESPONSE_0:DMND_RFO", 1, &attr),
	    CPC_ATTRIBUTE_OUT_OF_RANGE);
	assert_string_equal(named_refusal.cf_why,
	    "MSR_OFFCORE_RSP_0 (0x1a6) does not take 0x10000000000");
}

static void
add_accepted(unsigned pic, const char *event, const char *attrs)
{
	assert_int_equal(
	    set_add(&set, pic, event, CPC_COUNT_USER, attrs, 0), 0);
}

/* An attribute for an extra MSR that the event does not use is refused. */
TEST(attributes_need_their_event)
{
	static const struct {
		const char *event, *attrs, *why;
	} refused[] = {
		{ "0xc0", "msr_offcore=1", "event 0xc0 has no msr_offcore" },
		{ "0xb7", "umask=1,msr_ldlat=3",
		    "event 0xb7 has no msr_ldlat" },
		{ "0xb7", "msr_offcore=1,msr_frontend=17",
		    "event 0xb7 has no msr_frontend" },
		{ "0xcd", "umask=1,msr_offcore=1",
		    "event 0xcd has no msr_offcore" },
		{ "inst_retired.any_p", "msr_frontend=0x11",
		    "event 0xc0 has no msr_frontend" },
		{ "0xd0", "umask=0x81,msr_ldlat=3",
		    "event 0xd0 has no msr_ldlat" },
		{ "0xc2", "umask=2,msr_frontend=8",
		    "event 0xc2 has no msr_frontend" },
	};

	boot(&skylake_whole);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		assert_int_equal(set_add(&set, 0, refused[i].event,
				     CPC_COUNT_USER, refused[i].attrs, 0),
		    CPC_INVALID_ATTRIBUTE);
		assert_string_equal(named_refusal.cf_why, refused[i].why);
	}
	assert_int_equal(set.cfg[0].pc_extra, EXTRA_NONE);
	/* Events by number, too: event and unit mask select the MSR. */
	add_accepted(0, "0xb7", "umask=1,msr_offcore=0x11");
	add_accepted(1, "0xb7", "msr_offcore=0x12,umask=2");
	add_accepted(2, "0xcd", "umask=1,msr_ldlat=0x80");
	add_accepted(3, "0xc6", "umask=1,msr_frontend=0x12");
	/* Golden Cove's INT_MISC.UNKNOWN_BRANCH_CYCLES and UOPS_RETIRED.MS */
	add_accepted(2, "0xad", "umask=0x40,msr_frontend=0x12");
	add_accepted(1, "0xc2", "umask=4,msr_frontend=0x12");
	/* Gracemont's MEM_UOPS_RETIRED.LOAD_LATENCY_* */
	add_accepted(0, "0xd0", "umask=5,msr_ldlat=0x80");
	ops->program(&set.set);
	assert_int_equal(cpu->offcore[0], 0x11);
	assert_int_equal(cpu->offcore[1], 0x12);
	assert_int_equal(cpu->ldlat, 0x80);
	assert_int_equal(cpu->frontend, 0x12);
	ops->allstop();
	boot(&skylake_whole);
	add_accepted(0, "0x2b", "umask=1,msr_offcore=0x13");
	assert_int_equal(set.cfg[0].pc_extra, EXTRA_OFFCORE1);
}

/* CPC-BIND-17: latency and front end thresholds conflict, too. */
TEST(thresholds_are_shared)
{
	const char *three = "MEM_TRANS_RETIRED:LOAD_LATENCY";
	const char *four = "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=4";

	boot(&skylake_whole);
	assert_int_equal(add_name(&set, 0, three, 0, NULL), 0);
	assert_int_equal(
	    add_name(&set, 1, four, 0, NULL), CPC_CONFLICTING_REQS);
	assert_string_equal(named_refusal.cf_why,
	    "MSR_PEBS_LD_LAT (0x3f6) is to be 0x4, and 0x3 for request 0");
	assert_int_equal(add_name(&set, 1, three, 0, NULL), 0);
	assert_int_equal(
	    add_name(&set, 2, "FRONTEND_RETIRED:DSB_MISS", 0, NULL), 0);
	assert_int_equal(
	    add_name(&set, 3, "FRONTEND_RETIRED:ITLB_MISS", 0, NULL),
	    CPC_CONFLICTING_REQS);
	assert_string_equal(named_refusal.cf_why,
	    "MSR_PEBS_FRONTEND (0x3f7) is to be 0x14, and 0x11 for request 2");
}

/* A set takes each name of newer CPUs, on the first PIC that counts it. */
TEST(newer_names_are_taken)
{
	static const struct {
		const char *pmu;
		unsigned model;
		const char *some; /* one of its names with an extra MSR */
		uint32_t msr;
		uint64_t value;
	} cpus[] = {
		{ "icl", 0x7e, "FRONTEND_RETIRED.DSB_MISS", 0x3f7, 0x11 },
		{ "spr", 0x8f, "UOPS_RETIRED.MS", 0x3f7, 8 },
		{ "adl_glc", 0x97, "INT_MISC.UNKNOWN_BRANCH_CYCLES", 0x3f7, 7 },
		{ "adl_n", 0xbe, "MEM_UOPS_RETIRED.LOAD_LATENCY_GT_128", 0x3f6,
		    0x80 },
		{ "mtl_rwc", 0xaa, "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_16",
		    0x3f6, 0x10 },
		{ "lnl_lnc", 0xbd, "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_1024",
		    0x3f6, 0x400 },
		{ "gnr", 0xad, "FRONTEND_RETIRED.MISP_ANT", 0x3f7, 9 },
		{ "srf", 0xaf, "MEM_UOPS_RETIRED.LOAD_LATENCY_GT_16", 0x3f6,
		    0x10 },
		{ "glp", 0x7a, NULL, 0, 0 },
	};
	struct fake_cpu c = ice_lake;

	c.extra_msrs = c.wide_offcore = true;
	for (size_t i = 0; i < sizeof cpus / sizeof cpus[0]; i++) {
		struct event_walk ew = { 0 };
		char name[CPC_MAX_EVENT_LEN];
		unsigned names = 0, extras = 0;

		boot(&c);
		x86_features.model = cpus[i].model;
		const struct machine *mc = named_machine(ops);
		assert_string_equal(mc->mc_table.es_pmu->ep_name, cpus[i].pmu);
		while (
		    events_next(&mc->mc_table, &ew, ~0ULL, name, sizeof name)) {
			struct cpc_event ev = { 0 };
			uint64_t pics = named_event(ops, name, &ev);

			memset(&set, 0, sizeof set);
			if (pics == 0)
				fail_msg("%s: %s: no PIC", cpus[i].pmu, name);
			int subcode = add_name(&set,
			    (unsigned)__builtin_ctzll(pics), name, 0, NULL);
			/* This CPU lacks version 6's unit mask. */
			if (subcode == CPC_RESOURCE_UNAVAIL &&
			    ev.ce_code >> 40 != 0)
				continue;
			if (subcode != 0)
				fail_msg("%s: %s: %d %s", cpus[i].pmu, name,
				    subcode, named_refusal.cf_why);
			names++;
			extras += set.cfg[0].pc_extra != EXTRA_NONE;
		}
		assert_in_range(names, 40, 2000);
		printf("# %s: %u names, %u with an extra MSR\n", cpus[i].pmu,
		    names, extras);
		if (cpus[i].some == NULL)
			continue;
		memset(&set, 0, sizeof set);
		assert_int_equal(add_name(&set, 0, cpus[i].some, 0, NULL), 0);
		ops->program(&set.set);
		assert_int_equal(
		    cpus[i].msr == 0x3f6 ? cpu->ldlat : cpu->frontend,
		    cpus[i].value);
		ops->allstop();
	}
}

/* Intel SDM vol. 3B, "Performance Monitoring and Intel TSX". */
TEST(intxcp_is_for_pic_2)
{
	struct fake_cpu c = skylake_whole;
	bool lacks;

	c.rtm = true;
	boot(&c);
	assert_int_equal(pics_of("INST_RETIRED:ANY_P:intx", &lacks), 0xf);
	assert_false(lacks);
	assert_int_equal(pics_of("INST_RETIRED:ANY_P:intxcp", &lacks), 0x4);
	assert_false(lacks);
	assert_int_equal(
	    add_name(&set, 2, "INST_RETIRED:ANY_P:intxcp", 0, NULL), 0);
	ops->program(&set.set);
	assert_int_equal(cpu->sel[2], 0x2005100c0);
	ops->allstop();
	assert_int_equal(
	    add_name(&set, 1, "INST_RETIRED:ANY_P:intxcp", 0, NULL),
	    CPC_INVALID_EVENT);
}

/* A program may pass any value to the kernel. */
TEST(invented_events_are_refused)
{
	static const struct cpc_event invented[] = {
		/* an extra MSR that does not exist */
		{ .ce_code = 0xc0, .ce_flags = 5U << CPC_EVENT_EXTRA_SHIFT },
		{ .ce_code = 0xc0, .ce_flags = 15U << CPC_EVENT_EXTRA_SHIFT },
		/* pin control, which no event name has */
		{ .ce_code = 0xc0 | 1U << 19 },
	};
	struct pcbe_cfg cfg = { .pc_pic = 0, .pc_flags = CPC_COUNT_USER };

	boot(&skylake_whole);
	for (size_t i = 0; i < sizeof invented / sizeof invented[0]; i++)
		assert_int_equal(ops->configure(&cfg, &invented[i], 0, NULL,
				     &set.set, &named_refusal),
		    CPC_INVALID_EVENT);
}

TEST(no_random_event_faults)
{
	const struct fake_cpu *const shapes[] = { &core_duo, &core_2, &nehalem,
		&skylake, &skylake_whole, &ice_lake, &gaps };
	struct fake_cpu rtm = skylake_whole;

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		boot(shapes[i]);
		assert_in_range(set_invent(ops), 1000, 1000000);
	}
	rtm.rtm = true;
	boot(&rtm);
	assert_in_range(set_invent(ops), 1000, 1000000);
}
