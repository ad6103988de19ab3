/*
 * The emulator's own test image.  The command line names one test, or none for
 * all tests except those four.  It also says how the emulator counts:
 *
 *      shift=N cpi=N [cpus=2] [oracle=1] [migration=1] [clock=1] [svm=1]
 */
#include "guest.h"

#define START_CMDLINE 24 /* hvm_start_info: cmdline_paddr */

body_fn oracle;
void main(uint64_t start_info);

/* See oracle in bodies.S: the script compares it with QEMU's trace. */
void
test_oracle(void)
{
	uint64_t n = pmu_run(oracle, 0, INSTRUCTIONS, EVTSEL_OS, 37);

	put("# oracle ");
	put_number(n);
	put("\n");
	check(
	    "oracle: 20 calls, rep stosb of 37", n, 1 + 20 * 6 + 1 + 2 + 1 + 1);
}

void
main(uint64_t start_info)
{
	const char *cmdline = *(const char **)(start_info + START_CMDLINE);
	uint64_t v;

	pmu_identify();
	pmu.shift = word(cmdline, "shift", &v) ? (unsigned)v : 0;
	pmu.cpi = word(cmdline, "cpi", &v) ? (unsigned)v : 2;
	load_idt();
	outb(0x21, 0xff); /* the 8259s: only the local APIC interrupts */
	outb(0xa1, 0xff);

	put("TAP version 13\n# ");
	put(pmu.intel ? "Intel perfmon v" : "AMD class ");
	put_number(pmu.version);
	put(", counters ");
	put_number(pmu.ngp);
	put(" + ");
	put_number(pmu.nfixed);
	put(" fixed\n");

	if (word(cmdline, "oracle", &v)) {
		pmu_stop();
		test_oracle();
	} else if (word(cmdline, "migration", &v)) {
		pmu_stop();
		test_migration();
	} else if (word(cmdline, "clock", &v)) {
		pmu_stop();
		test_clock();
	} else if (word(cmdline, "svm", &v)) {
		pmu_stop();
		test_svm();
	} else {
		test_registers();
		test_counts();
		test_modes();
		test_interrupts();
		if (word(cmdline, "cpus", &v) && v > 1)
			test_two_cpus();
	}
	finish();
}
