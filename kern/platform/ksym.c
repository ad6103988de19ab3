/* Function names for addresses of the kernel, and backtraces. */
#include "kern/platform/ksym.h"

#include "kern/arch.h"
#include "lib/printf.h"

#define BACKTRACE_MAX 24

/*
 * The table that scripts/build/mksyms writes after the first link: ascending
 * offsets from KERN_LINK, and where each name starts in ksym_names.  It is
 * placed after the code, so that adding it moves no function.
 */
extern const uint32_t ksym_count;
extern const struct {
	uint32_t offset;
	uint32_t name;
} ksym_table[];
extern const char ksym_names[];

const char *
ksym_lookup(uintptr_t addr, uintptr_t *offset)
{
	uintptr_t rel = addr - KERN_LINK;
	uint32_t lo = 0, hi = ksym_count;

	/* The last entry marks the end of the text and has no name. */
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (ksym_table[mid].offset <= rel)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || lo == ksym_count) {
		*offset = 0;
		return "?";
	}
	*offset = rel - ksym_table[lo - 1].offset;
	return ksym_names + ksym_table[lo - 1].name;
}

void
ksym_backtrace(uintptr_t fp)
{
	uintptr_t pc, offset;

	for (int i = 0; i < BACKTRACE_MAX && arch_frame_next(&fp, &pc); i++) {
		/* pc is a return address; the call is just before it. */
		const char *name = ksym_lookup(pc - 1, &offset);

		printf("  0x%lx %s+0x%lx\n", pc, name, offset + 1);
	}
}
