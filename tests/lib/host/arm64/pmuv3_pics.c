/* arch/arm64/pmu/pmuv3_pics.S in C, on the fake registers. */
#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/pmu/regs.h"

#include <stdio.h>

/* "pmevcntr3_el0" */
static const char *
numbered(const char *name, unsigned n)
{
	static char reg[32];

	snprintf(reg, sizeof reg, "%s%u_el0", name, n);
	return reg;
}

static uint64_t
pmu_read_pmevcntr(unsigned n)
{
	return fake_mrs(numbered("pmevcntr", n));
}

void
pmuv3_start(struct pcbe_set *set, uint64_t pics)
{
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];
		struct cpc_page_req *cq = &set->ps_page->cg_req[i];

		cq->cq_last = cq->cq_data & set->ps_cfg->pc_mask;
		fake_msr(numbered("pmevtyper", cfg->pc_pic), cfg->pc_sel);
		fake_msr(numbered("pmevcntr", cfg->pc_pic), cq->cq_last);
	}
	pmu_isb();
	pcbe_begin(set->ps_page, pmu_read_pmccntr());
	pmu_write_pmcntenset(pics);
	pmu_isb();
}

uint64_t
pmuv3_fold(const struct pcbe_set *set)
{
	for (unsigned i = 0; i < set->ps_n; i++)
		pcbe_fold(&set->ps_page->cg_req[i], set->ps_cfg->pc_mask,
		    pmu_read_pmevcntr(set->ps_cfg[i].pc_pic), false);
	return 0;
}

uint64_t
pmuv3_fold_overflowed(const struct pcbe_set *set, uint64_t told)
{
	pmu_write_pmovsclr(told);
	pmu_isb();
	for (unsigned i = 0; i < set->ps_n; i++) {
		unsigned pic = set->ps_cfg[i].pc_pic;

		pcbe_fold(&set->ps_page->cg_req[i], set->ps_cfg->pc_mask,
		    pmu_read_pmevcntr(pic), (told >> pic & 1) != 0);
	}
	return told & set->ps_pics;
}

bool
pmuv3_sample(const struct pcbe_set *set, struct cpc_sample *s)
{
	pmu_isb();
	s->cs_tick = set->ps_page->cg_tick + pmu_read_pmccntr();
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct cpc_page_req *cq = &set->ps_page->cg_req[i];
		uint64_t now = pmu_read_pmevcntr(set->ps_cfg[i].pc_pic);

		s->cs_value[i] =
		    cq->cq_data + ((now - cq->cq_last) & set->ps_cfg->pc_mask);
	}
	return (pmu_read_pmovsclr() & set->ps_pics) == 0;
}
