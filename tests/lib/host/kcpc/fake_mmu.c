/* Address spaces in software, as far as counter pages need them. */

#include "tests/lib/host/kcpc/fake_mmu.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/sched/timer.h"
#include "tests/lib/host/kcpc/fake_kernel.h"

#define NMAPPING 16

char *const arch_direct = NULL;
struct tick_scale tick_scale;
bool fake_mmu_fails;

static struct mapping {
	const struct as *mp_as; /* NULL: free */
	uintptr_t mp_uva;
	uint64_t mp_pa;
	unsigned mp_prot;
} mappings[NMAPPING];

static struct mapping *
find(const struct as *as, uintptr_t uva)
{
	for (unsigned i = 0; i < NMAPPING; i++) {
		if (mappings[i].mp_as == as && mappings[i].mp_uva == uva)
			return &mappings[i];
	}
	return NULL;
}

void *
fake_mmu_page(const struct as *as, uintptr_t uva)
{
	const struct mapping *mp = find(as, uva);

	return mp != NULL ? (void *)(uintptr_t)mp->mp_pa : NULL;
}

unsigned
fake_mmu_prot(const struct as *as, uintptr_t uva)
{
	return find(as, uva)->mp_prot;
}

uint64_t
arch_translate(struct as *as, uintptr_t va)
{
	const struct mapping *mp = find(as, va);

	return mp != NULL ? mp->mp_pa : ~0ULL;
}

int
arch_map(struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot)
{
	struct mapping *mp = find(NULL, 0);

	(void)len;
	if (fake_mmu_fails) {
		fake_mmu_fails = false;
		return ENOMEM;
	}
	*mp = (struct mapping){ as, va, pa, prot };
	return 0;
}

void
arch_unmap(struct as *as, uintptr_t va, size_t len)
{
	(void)len;
	*find(as, va) = (struct mapping){ 0 };
}

void *
page_zalloc(unsigned order)
{
	return kmalloc(PAGE_SIZE << order);
}

void
tf_set_pc(struct trapframe *tf, uintptr_t pc)
{
	tf->tf_pc = pc;
}
