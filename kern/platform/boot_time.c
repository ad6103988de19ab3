/* Measures the time from kernel entry to the first payload. */
#include "kern/platform/run_end.h"

#include <stdint.h>

#include "kern/arch.h"
#include "lib/printf.h"

/* In .data, because the entry code stores it before it clears .bss. */
uint64_t boot_entry_tick __attribute__((section(".data")));

static uint64_t first_payload_tick;

void
boottime_first_payload(void)
{
	if (first_payload_tick == 0)
		first_payload_tick = arch_tick();
}

/*
 * In ticks, because the kernel cannot count its own instructions.  Under QEMU
 * with -icount shift=0 a tick of 1 GHz is one instruction.
 */
void
boottime_print(void)
{
	if (first_payload_tick == 0 || boot_entry_tick == 0)
		return;
	printf("boot: %lu ticks of %lu Hz from kernel entry to the first "
	       "payload\n",
	    (unsigned long)(first_payload_tick - boot_entry_tick),
	    (unsigned long)arch_tick_hz());
}
