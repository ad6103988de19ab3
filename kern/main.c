#include <stdint.h>

#include "kern/arch.h"
#include "kern/bootinfo.h"
#include "kern/cpu.h"
#include "kern/efirt.h"
#include "kern/fbcons.h"
#include "kern/launch.h"
#include "kern/page.h"
#include "lib/printf.h"

/* In .data: stored before .bss is cleared. */
uint64_t boot_entry_tick __attribute__((section(".data")));

struct cpu cpus[MAXCPU];
unsigned ncpu;

struct cpu *
cpu_add(uint64_t hwid)
{
	struct cpu *c;

	if (ncpu == MAXCPU)
		return NULL;
	c = &cpus[ncpu];
	c->c_id = ncpu++;
	c->c_hwid = hwid;
	return c;
}

void
run_end(int status)
{
	printf("barecpc: exit %d\n", status);
	arch_halt(status == 0 ? HALT_PASS : HALT_FAIL);
}

void
kern_main(struct bootinfo *bi)
{
	bootinfo_sort(bi);
	arch_init_early(bi);
	printf("barecpc: %s\n", arch_name);
	page_init(bi);
	fbcons_init(bi);
	arch_init(bi);
	efirt_init(bi);
	run_end(0);
}

void
kern_cpu_main(struct cpu *cpu)
{
	cpu->c_online = true;
	for (;;)
		arch_idle();
}
