/* The library's read of a counter page in parts, as in cpc/ARCH/read.S. */
#include "tests/host/kern/cpc/explore/explore.h"

#include <string.h>

#include "include/sys/cpc.h"
#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/soft/soft_pcbe.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "tests/lib/host/kcpc/fake_mmu.h"

/* The read in progress of each LWP. */
static struct reader {
	const struct cpc_page *rd_page; /* NULL: the LWP has no page */
	uintptr_t rd_uva;
	unsigned rd_stage; /* parts that are read; 0: no read in progress */
	uint64_t rd_n, rd_seq, rd_tick;
	struct cpc_page_req rd_req; /* loaded; its PIC is not read yet */
	uint64_t rd_value[EX_NREQ];
} readers[EX_NLWP];

void
ex_page_reset(void)
{
	memset(readers, 0, sizeof readers);
}

void
ex_page_find(unsigned lwp, const struct as *as, uintptr_t uva)
{
	readers[lwp].rd_uva = uva;
	readers[lwp].rd_page = fake_mmu_page(as, uva);
}

void
ex_page_gone(unsigned lwp)
{
	memset(&readers[lwp], 0, sizeof readers[lwp]);
}

void
ex_page_fork(unsigned parent, unsigned lwp, const struct as *as)
{
	ex_page_gone(lwp);
	if (readers[parent].rd_page != NULL)
		ex_page_find(lwp, as, readers[parent].rd_uva);
}

/* Begin a read if the page shows the set. */
static bool
begin_read(struct reader *rd, cpc_setid_t set, uint64_t n)
{
	const struct cpc_page *cg = rd->rd_page;

	if (cg == NULL || cg->cg_set != CPC_PAGE_SET(set, n))
		return false;
	rd->rd_seq = cg->cg_seq;
	rd->rd_tick = cg->cg_tick;
	rd->rd_n = n;
	return true;
}

/* Read the PIC.  Returns false if the program may not read it, and faults. */
static bool
read_pic(struct reader *rd)
{
	const struct cpc_page_req *cq = &rd->rd_req;
	unsigned cpu = arch_curcpu()->c_id, pic = (unsigned)cq->cq_index;

	if (pic >= PCBE_MAXPIC || (soft_pcbe_running(cpu) >> pic & 1) == 0)
		return false;
	uint64_t d = soft_pcbe_raw(cpu, pic) - cq->cq_last;
	d &= cq->cq_mask;
	rd->rd_value[rd->rd_stage / 2] = d + cq->cq_data;
	return true;
}

bool
ex_page_read(unsigned lwp, uint64_t set, uint64_t n, struct ex_result *r)
{
	struct reader *rd = &readers[lwp];

	if (rd->rd_stage == 2 * rd->rd_n && rd->rd_stage != 0) {
		/* All is read: it is valid if the sequence is the same. */
		rd->rd_stage = 0;
		if (rd->rd_seq == rd->rd_page->cg_seq) {
			memcpy(r->exr_count, rd->rd_value,
			    n * sizeof rd->rd_value[0]);
			r->exr_ticks = rd->rd_tick + arch_tick();
			return true;
		}
	}
	if (rd->rd_stage == 0 && !begin_read(rd, set, n))
		return false;
	if (rd->rd_stage % 2 == 0) {
		rd->rd_req = rd->rd_page->cg_req[rd->rd_stage / 2];
	} else if (!read_pic(rd)) {
		rd->rd_stage = 0;
		return false;
	}
	r->exr_stage = (uint8_t)++rd->rd_stage;
	return true;
}

bool
ex_page_frozen(unsigned lwp, uint64_t set, uint64_t n, struct ex_result *r)
{
	const struct cpc_page *cg = readers[lwp].rd_page;

	if (cg == NULL || cg->cg_frozen != CPC_PAGE_SET(set, n))
		return false;
	for (uint64_t i = 0; i < n; i++)
		r->exr_count[i] = cg->cg_req[i].cq_data;
	return true;
}
