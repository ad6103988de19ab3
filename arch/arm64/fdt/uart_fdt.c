/*
 * The console's UART in a device tree: the node of /chosen/stdout-path.
 * Devicetree Specification, "/chosen Node", "/aliases Node"; Linux,
 * Documentation/devicetree/bindings/serial: the file of each "compatible".
 */
#include <libfdt.h>

#include "arch/arm64/fdt/dt.h"
#include "arch/arm64/machine.h"
#include "lib/printf.h"
#include "lib/string.h"

#define MAX_SHIFT 4 /* eight registers in 128 bytes */

/*
 * Drivers by "compatible".  A node lists its own name first and the names that
 * it is compatible with after that, so each string is looked up.
 */
static const struct driver {
	const char *compatible;
	enum uart_kind kind;
} drivers[] = {
	{ "ns16550a", UART_16550 },
	{ "ns16550", UART_16550 },
	{ "snps,dw-apb-uart", UART_16550 },
	{ "nvidia,tegra20-uart", UART_16550 },
	{ "ti,am654-uart", UART_16550_32 },
	{ "mediatek,mt6577-uart", UART_16550_32 },
	{ "brcm,bcm2835-aux-uart", UART_BCM_AUX },
	{ "arm,pl011", UART_PL011 },
	{ "arm,sbsa-uart", UART_SBSA },
	{ "cdns,uart-r1p8", UART_CADENCE },
	{ "cdns,uart-r1p12", UART_CADENCE },
	{ "fsl,imx6q-uart", UART_IMX },
	{ "fsl,imx7ulp-lpuart", UART_LPUART },
	{ "fsl,imx8qxp-lpuart", UART_LPUART },
	{ "amlogic,meson-gx-uart", UART_MESON },
	{ "amlogic,meson-ao-uart", UART_MESON },
	{ "marvell,armada-3700-uart", UART_ARMADA },
	{ "renesas,rcar-gen3-scif", UART_SCIF },
	{ "renesas,rcar-gen3-hscif", UART_SCIF },
	{ "renesas,scif", UART_SCIF },
	{ "renesas,scif-r9a07g044", UART_SCIF_RZ },
	{ "qcom,geni-debug-uart", UART_GENI },
	{ "qcom,geni-uart", UART_GENI },
	{ "qcom,msm-uartdm-v1.4", UART_UARTDM },
};

/* The kind of the first string of "compatible" that has a driver. */
static enum uart_kind
kind_of(const void *fdt, int node)
{
	int len;
	const char *prop = dt_getprop(fdt, node, "compatible", &len);

	while (prop != NULL && len > 0) {
		int n = (int)strnlen(prop, (size_t)len) + 1;

		for (unsigned i = 0; i < sizeof drivers / sizeof drivers[0];
		     i++) {
			if (n <= len &&
			    strcmp(prop, drivers[i].compatible) == 0)
				return drivers[i].kind;
		}
		prop += n;
		len -= n;
	}
	return UART_NONE;
}

/*
 * Use the UART of this node.  reg-shift and reg-io-width override the defaults
 * of a 16550.
 */
static void
use_node(const struct dt *dt)
{
	const void *fdt = dt->dt_fdt;
	int node = dt->dt_path[dt->dt_depth];
	enum uart_kind kind = kind_of(fdt, node);
	const char *name = dt_getprop(fdt, node, "compatible", NULL);
	uint64_t addr, bytes, shift, width;

	if (kind == UART_NONE)
		snprintf(machine.m_no_driver, sizeof machine.m_no_driver, "%s",
		    name != NULL ? name : "without a name");
	if (kind == UART_NONE || !dt_reg(dt, 0, &addr, &bytes))
		return;
	struct uart u = uart_make(kind, addr);
	if (uart_types[kind].ut_ops == &ns16550_ops) {
		shift = dt_number(fdt, node, "reg-shift", u.u_shift);
		width = dt_number(fdt, node, "reg-io-width", u.u_width);
		if (shift > MAX_SHIFT)
			return;
		u.u_shift = (unsigned)shift;
		u.u_width = width == 4 || width == 2 ? (unsigned)width : 1;
		u.u_addr += dt_number(fdt, node, "reg-offset", 0);
		u.u_clock_hz =
		    (uint32_t)dt_number(fdt, node, "clock-frequency", 0);
	}
	machine.m_uart = u;
}

/* Go to the node with the path [path, end).  False if it is absent. */
static bool
find_path(struct dt *dt, const char *path, const char *end)
{
	dt->dt_depth = 0;
	dt->dt_path[0] = 0;
	while (path < end && *path == '/') {
		const char *name = ++path;
		int node = dt->dt_path[dt->dt_depth];

		while (path < end && *path != '/')
			path++;
		node = dt_child(dt->dt_fdt, node, name, (size_t)(path - name));
		if (node < 0 || dt->dt_depth + 1 == DT_DEPTH)
			return false;
		dt->dt_path[++dt->dt_depth] = node;
	}
	return path == end && dt->dt_depth > 0;
}

/* A tree without stdout-path may have one UART: then that one is used. */
static void
use_only_uart(const void *fdt)
{
	struct dt dt, only;
	unsigned n = 0;

	dt_start(&dt, fdt);
	while (dt_next(&dt) >= 0) {
		if (kind_of(fdt, dt.dt_path[dt.dt_depth]) == UART_NONE)
			continue;
		only = dt;
		n++;
	}
	if (n == 1)
		use_node(&only);
}

void
uart_from_fdt(const void *fdt, int chosen, int aliases)
{
	struct dt dt = { .dt_fdt = fdt };
	int len;
	const char *path = dt_getprop(fdt, chosen, "stdout-path", &len);
	const char *end;

	if (path == NULL || len < 2) {
		/* Firecracker and Xen name no console.  A board may use its
		 * UART for something else. */
		if (machine.m_virtual)
			use_only_uart(fdt);
		return;
	}
	/* A path or an alias, then perhaps a colon and settings. */
	if ((end = memchr(path, ':', (size_t)len)) == NULL)
		end = path + len - 1;
	if (*path != '/') {
		path = fdt_getprop_namelen(
		    fdt, aliases, path, (int)(end - path), &len);
		if (path == NULL || len < 2)
			return;
		end = path + len - 1;
	}
	if (find_path(&dt, path, end))
		use_node(&dt);
}
