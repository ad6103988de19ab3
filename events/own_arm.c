/*
 * Arm's common events, which PMCEID0_EL0 and PMCEID1_EL0 announce.  They have
 * the manual's mnemonics in small letters, or are PAPI's presets of the same
 * meaning, and are sorted by name.  CHAIN (0x1e), which joins two counters, and
 * 0x400c to 0x401b, which are not for counters, are left out.
 * Arm ARM (DDI 0487), "PMU events and event numbers".
 */
#include "events/machine.h"

static const struct arm_event {
	const char *re_name;
	uint16_t re_number;
	bool re_generic; /* a preset of PAPI */
} arm_events[] = {
	{ "PAPI_br_ins", 0x0021, true },
	{ "PAPI_br_msp", 0x0022, true },
	{ "PAPI_l1_dca", 0x0004, true },
	{ "PAPI_l1_dcm", 0x0003, true },
	{ "PAPI_l1_ica", 0x0014, true },
	{ "PAPI_l1_icm", 0x0001, true },
	{ "PAPI_l2_dca", 0x0016, true },
	{ "PAPI_l2_dcm", 0x0017, true },
	{ "PAPI_l2_ica", 0x0027, true },
	{ "PAPI_l2_icm", 0x0028, true },
	{ "PAPI_l3_dca", 0x002b, true },
	{ "PAPI_l3_dcm", 0x002a, true },
	{ "PAPI_ld_ins", 0x0006, true },
	{ "PAPI_res_stl", 0x0024, true },
	{ "PAPI_sr_ins", 0x0007, true },
	{ "PAPI_tlb_dm", 0x0005, true },
	{ "PAPI_tlb_im", 0x0002, true },
	{ "PAPI_tot_cyc", ARM_CPU_CYCLES, true },
	{ "PAPI_tot_ins", ARM_INST_RETIRED, true },
	{ "br_immed_retired", 0x000d, false },
	{ "br_mis_pred", 0x0010, false },
	{ "br_mis_pred_retired", 0x0022, false },
	{ "br_pred", 0x0012, false },
	{ "br_retired", 0x0021, false },
	{ "br_return_retired", 0x000e, false },
	{ "bus_access", 0x0019, false },
	{ "bus_cycles", 0x001d, false },
	{ "cid_write_retired", 0x000b, false },
	{ "cnt_cycles", 0x4004, false },
	{ "cpu_cycles", 0x0011, false },
	{ "dtlb_walk", 0x0034, false },
	{ "exc_return", 0x000a, false },
	{ "exc_taken", 0x0009, false },
	{ "inst_retired", 0x0008, false },
	{ "inst_spec", 0x001b, false },
	{ "itlb_walk", 0x0035, false },
	{ "l1d_cache", 0x0004, false },
	{ "l1d_cache_allocate", 0x001f, false },
	{ "l1d_cache_lmiss_rd", 0x0039, false },
	{ "l1d_cache_refill", 0x0003, false },
	{ "l1d_cache_wb", 0x0015, false },
	{ "l1d_tlb", 0x0025, false },
	{ "l1d_tlb_refill", 0x0005, false },
	{ "l1i_cache", 0x0014, false },
	{ "l1i_cache_lmiss", 0x4006, false },
	{ "l1i_cache_refill", 0x0001, false },
	{ "l1i_tlb", 0x0026, false },
	{ "l1i_tlb_refill", 0x0002, false },
	{ "l2d_cache", 0x0016, false },
	{ "l2d_cache_allocate", 0x0020, false },
	{ "l2d_cache_lmiss_rd", 0x4009, false },
	{ "l2d_cache_refill", 0x0017, false },
	{ "l2d_cache_wb", 0x0018, false },
	{ "l2d_tlb", 0x002f, false },
	{ "l2d_tlb_refill", 0x002d, false },
	{ "l2i_cache", 0x0027, false },
	{ "l2i_cache_lmiss", 0x400a, false },
	{ "l2i_cache_refill", 0x0028, false },
	{ "l2i_tlb", 0x0030, false },
	{ "l2i_tlb_refill", 0x002e, false },
	{ "l3d_cache", 0x002b, false },
	{ "l3d_cache_allocate", 0x0029, false },
	{ "l3d_cache_lmiss_rd", 0x400b, false },
	{ "l3d_cache_refill", 0x002a, false },
	{ "l3d_cache_wb", 0x002c, false },
	{ "ld_align_lat", 0x4021, false },
	{ "ld_retired", 0x0006, false },
	{ "ldst_align_lat", 0x4020, false },
	{ "ll_cache", 0x0032, false },
	{ "ll_cache_miss", 0x0033, false },
	{ "ll_cache_miss_rd", 0x0037, false },
	{ "ll_cache_rd", 0x0036, false },
	{ "mem_access", 0x0013, false },
	{ "mem_access_checked", 0x4024, false },
	{ "mem_access_checked_rd", 0x4025, false },
	{ "mem_access_checked_wr", 0x4026, false },
	{ "memory_error", 0x001a, false },
	{ "op_retired", 0x003a, false },
	{ "op_spec", 0x003b, false },
	{ "pc_write_retired", 0x000c, false },
	{ "remote_access", 0x0031, false },
	{ "remote_access_rd", 0x0038, false },
	{ "sample_collision", 0x4003, false },
	{ "sample_feed", 0x4001, false },
	{ "sample_filtrate", 0x4002, false },
	{ "sample_pop", 0x4000, false },
	{ "st_align_lat", 0x4022, false },
	{ "st_retired", 0x0007, false },
	{ "stall", 0x003c, false },
	{ "stall_backend", 0x0024, false },
	{ "stall_backend_mem", 0x4005, false },
	{ "stall_frontend", 0x0023, false },
	{ "stall_slot", 0x003f, false },
	{ "stall_slot_backend", 0x003d, false },
	{ "stall_slot_frontend", 0x003e, false },
	{ "sw_incr", 0x0000, false },
	{ "ttbr_write_retired", 0x001c, false },
	{ "unaligned_ldst_retired", 0x000f, false },
};

#define NUMBER_MASK 0xffffU

static uint64_t
own(const struct cpc_pmu *pm, unsigned n, struct cpc_event *ce)
{
	const struct arm_event *e = &arm_events[n];

	ce->ce_code = e->re_number;
	ce->ce_flags = e->re_generic ? CPC_EVENT_GENERIC : 0;
	return arm_has_common(pm->pm_events, e->re_number) ? pm->pm_general : 0;
}

/* The kernel checks which numbers there are. */
static uint64_t
number(const struct cpc_pmu *pm, uint64_t num, struct cpc_event *ce)
{
	ce->ce_code = num;
	return pm->pm_general;
}

/*
 * PMCEID says which common events exist.  The table, made from the CPU's
 * manual, says which events of the implementation exist.  An emulator has only
 * the events that PMCEID announces.
 */
static uint64_t
tabled(
    const struct cpc_pmu *pm, const struct event_code *ec, struct cpc_event *ce)
{
	unsigned num = (unsigned)ec->ec_select & NUMBER_MASK;

	ce->ce_code = num;
	if (arm_has_common(pm->pm_events, num))
		return pm->pm_general;
	/* A bind then fails with the kernel's reason. */
	if (pm->pm_listed != 0)
		ce->ce_flags |= CPC_EVENT_LACKING;
	return arm_is_common(num) ? 0 : pm->pm_general;
}

const struct machine_kind machine_arm = {
	.mk_first = arm_events,
	.mk_n = sizeof arm_events / sizeof arm_events[0],
	.mk_bytes = sizeof arm_events[0],
	.mk_kind = EVENT_ARM,
	.mk_capitals = true,
	.mk_own = own,
	.mk_number = number,
	.mk_tabled = tabled,
};
