/*
 * The end of a run.  scripts/lib/guest.py on the host reads the closing line.
 */
#include "kern/platform/run_end.h"

#include "kern/arch.h"
#include "kern/platform/boot_time.h"
#include "lib/printf.h"

void
run_end(int status)
{
	boottime_print();
	printf("barecpc: exit %d\n", status);
	arch_halt(status == 0);
}
