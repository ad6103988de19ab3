/*
 * The host bridge of PCI in a device tree, and what it translates.
 * Linux, Documentation/devicetree/bindings/pci/host-generic-pci.yaml; PCI Bus
 * Binding to IEEE Std 1275, "Numerical Representation" (phys.hi).
 */
#include <libfdt.h>

#include "arch/arm64/fdt/dt.h"
#include "arch/arm64/machine.h"

#define PCI_CELLS  3 /* of an address: phys.hi, phys.mid, phys.lo */
#define SIZE_CELLS 2
#define SPACE(hi)  ((hi) >> 24 & 3)
#define SPACE_IO   1
#define SPACE_MEM  2 /* below 4 GiB */
#define PREFETCH   (1U << 30)

static uint64_t
read_two(const fdt32_t *p)
{
	return (uint64_t)fdt32_to_cpu(p[0]) << 32 | fdt32_to_cpu(p[1]);
}

void
pci_from_fdt(const struct dt *dt)
{
	struct machine_pci *pci = &machine.m_pci;
	int node = dt->dt_path[dt->dt_depth], len;
	const fdt32_t *p = dt_getprop(dt->dt_fdt, node, "ranges", &len);
	int up = dt->dt_depth > 0 ? fdt_address_cells(dt->dt_fdt,
					dt->dt_path[dt->dt_depth - 1])
	                          : 0;
	int cells = PCI_CELLS + up + SIZE_CELLS;
	struct range ecam;

	if (pci->hb_ecam.r_pa != 0 || !dt_enabled(dt->dt_fdt, node) ||
	    !dt_reg(dt, 0, &ecam.r_pa, &ecam.r_bytes) || p == NULL ||
	    (up != 1 && up != 2))
		return;
	pci->hb_ecam = ecam;
	for (; len >= 4 * cells; p += cells, len -= 4 * cells) {
		uint32_t hi = fdt32_to_cpu(p[0]);
		struct machine_window w = {
			.pn_bus = read_two(p + 1),
			.pn_pa = up == 2 ? read_two(p + PCI_CELLS)
			                 : fdt32_to_cpu(p[PCI_CELLS]),
			.pn_bytes = read_two(p + PCI_CELLS + up),
		};

		if (SPACE(hi) == SPACE_IO)
			pci->hb_io = w;
		else if (SPACE(hi) == SPACE_MEM && (hi & PREFETCH) == 0)
			pci->hb_memory = w;
	}
}
