/* Maps the vDSO.  Linux, vdso(7); its code is in kern/proc/vdso/ and arch/. */
#include "kern/proc/vdso/vdso.h"

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"
#include "lib/printf.h"
#include "lib/string.h"

extern const char vdso_image[],
    vdso_image_end[]; /* kern/proc/vdso/vdso_image.S */

static char *pages; /* data, then code */

void
vdso_init(void)
{
	uint64_t resolution = NS_PER_S / arch_tick_hz();
	struct vdso_data data = {
		.vd_mult = tick_scale.ts_mult,
		.vd_lift = tick_scale.ts_lift,
		.vd_resolution = resolution > 0 ? resolution : 1,
	};

	if ((pages = page_zalloc(1)) == NULL)
		panic("no memory for the vDSO");
	memcpy(pages, &data, sizeof data);
	memcpy(pages + PAGE_SIZE, vdso_image,
	    (size_t)(vdso_image_end - vdso_image));
	arch_icache_sync(pages + PAGE_SIZE, PAGE_SIZE);
}

int
vdso_map(struct proc *p, uintptr_t end)
{
	uintptr_t code = end - PAGE_SIZE, data = code - PAGE_SIZE;
	int err;

	err = as_map_shared(p->p_as, data, va_to_pa(pages), 2 * PAGE_SIZE,
	    PROT_READ, NULL, true);
	if (err == 0)
		err =
		    as_protect(p->p_as, code, PAGE_SIZE, PROT_READ | PROT_EXEC);
	p->p_vdso = code;
	p->p_sigreturn =
	    arch_vdso_sigreturn != 0 ? code + arch_vdso_sigreturn : 0;
	return err;
}
