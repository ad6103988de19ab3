/* boards FILE...: print what the kernel finds in each board's device tree. */
#include "tests/lib/host/machine.h"

#include <stdio.h>
#include <stdlib.h>

#include "dev/uart/uart.h"
#include "kern/platform/bootinfo.h"

static const char *
pmu_interrupts(void)
{
	bool spi = false;

	for (unsigned i = 0; i < machine_ncpu(); i++)
		spi |= machine.m_cpu[i].mu_pmu_intid != 0;
	if (machine.m_pmu_intid != 0)
		return spi ? "ppi+spi" : "ppi";
	return spi ? "spi" : "-";
}

static const char *
starter(void)
{
	for (unsigned i = 0; i < machine_ncpu(); i++) {
		if (machine.m_cpu[i].mu_spins)
			return "spin-table";
	}
	return machine.m_psci != PSCI_NONE ? "psci" : "-";
}

static void
print_board(const char *name)
{
	static char buf[1 << 20];
	struct bootinfo bi = { 0 };
	FILE *f = fopen(name, "rb");
	size_t n;

	if (f == NULL || (n = fread(buf, 1, sizeof buf, f)) == 0) {
		perror(name);
		exit(1);
	}
	fclose(f);
	char *tree = exact_copy(buf, n);
	bi.bi_fdt = machine_pa(tree);
	machine_reset();
	machine_from_fdt(&bi);
	const char *uart = uart_types[machine.m_uart.u_kind].ut_name;
	printf("%s gic=%u uart=%s start=%s pmu=%s\n", name, machine.m_gic,
	    uart != NULL ? uart : "-", starter(), pmu_interrupts());
	free(tree);
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		print_board(argv[i]);
	return 0;
}
