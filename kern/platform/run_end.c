/*
 * The end of a run.  scripts/host/console/console.py on the host reads the
 * frame before the closing line, which is for people.
 */
#include "kern/platform/run_end.h"

#include "kern/arch.h"
#include "kern/platform/console.h"
#include "kern/platform/results/keep.h"
#include "lib/printf.h"

void
run_end(int status)
{
	char text[12];
	int n = snprintf(text, sizeof text, "%d", status);

	boottime_print();
	cons_write(STREAM_EXIT, text, (size_t)n);
	keep_variables();
	printf("barecpc: exit %d\n", status);
	keep_end();
	arch_halt(status == 0);
}
