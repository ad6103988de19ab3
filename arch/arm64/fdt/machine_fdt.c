/*
 * Reads the machine's description from a device tree.
 * Linux, Documentation/devicetree/bindings: arm,gic.yaml, arm,gic-v3.yaml,
 * soc/bcm/brcm,bcm2835-pm.yaml, watchdog/arm,sbsa-gwdt.yaml (the control frame
 * comes first), watchdog/arm,sp805.yaml, watchdog/snps,dw-wdt.yaml,
 * arm,arch_timer.yaml, pmu.yaml, psci.yaml, cpus.yaml. Devicetree
 * Specification, "/cpus/cpu* Node Properties" (enable-method,
 * cpu-release-addr).
 */
#include "arch/arm64/machine.h"

#include <libfdt.h>

#include "arch/arm64/fdt/dt.h"
#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "lib/printf.h"
#include "lib/string.h"

/* An interrupt specifier's cells: type, number in the type, flags. */
#define GIC_SPI       0
#define GIC_PPI       1
#define FIRST_PPI     16
#define FIRST_SPI     32
#define NSPI          988
#define MAX_CELLS     4 /* arm,gic-v3.yaml; only the first two are read */
#define TIMER_VIRTUAL 2 /* secure, non-secure, virtual, hypervisor */

#define NPMU 8 /* one for each core type */

/* Nodes that are interpreted once the whole tree is read; -1 if absent. */
struct found {
	int f_gic, f_timer, f_chosen, f_aliases;
	int f_pmu[NPMU];
	unsigned f_npmu;
	int f_cpus;     /* the node /cpus */
	bool f_in_cpus; /* the walk is inside /cpus */
};

/*
 * The devices that are known, by a string of "compatible".  A node may have
 * several of them: the first one here counts.
 */
static const struct known {
	const char *name;
	enum {
		GICV3,
		GICV2,
		TIMER,
		PSCI,
		PSCI_0_1,
		PMU,
		OTHER_PMU,
		ECAM,
		BCM_WATCHDOG,
		BCM_PM,
		SBSA,
		SP805,
		DESIGNWARE
	} kind;
} known[] = {
	{ "arm,gic-v3", GICV3 },
	{ "arm,cortex-a15-gic", GICV2 },
	{ "arm,gic-400", GICV2 },
	{ "arm,cortex-a9-gic", GICV2 },
	{ "arm,cortex-a7-gic", GICV2 },
	{ "qcom,msm-qgic2", GICV2 },
	{ "arm,armv8-timer", TIMER },
	{ "arm,psci-1.0", PSCI },
	{ "arm,psci-0.2", PSCI },
	{ "arm,psci", PSCI_0_1 },
	{ "arm,armv8-pmuv3", PMU },
	{ "apm,potenza-pmu", PMU },
	{ "brcm,vulcan-pmu", PMU },
	{ "cavium,thunder-pmu", PMU },
	{ "nvidia,carmel-pmu", PMU },
	{ "nvidia,denver-pmu", PMU },
	{ "arm,dsu-pmu", OTHER_PMU }, /* of the cache that cores share */
	{ "pci-host-ecam-generic", ECAM },
	{ "brcm,bcm2835-pm-wdt", BCM_WATCHDOG },
	{ "brcm,bcm2835-pm", BCM_PM },
	{ "arm,sbsa-gwdt", SBSA },
	{ "arm,sp805", SP805 },
	{ "snps,dw-wdt", DESIGNWARE },
};

/* A vendor may put a name of its own before these: each string is compared. */
static const struct known *
known_device(const char *prop, int len)
{
	const struct known *end = known + sizeof known / sizeof known[0];
	const struct known *first = end;

	while (len > 0) {
		int n = (int)strnlen(prop, (size_t)len) + 1;

		for (const struct known *k = known; k < first; k++) {
			if (n <= len && strcmp(prop, k->name) == 0)
				first = k;
		}
		prop += n;
		len -= n;
	}
	return first < end ? first : NULL;
}

/* pmu.yaml has a name for each core, "arm,*-pmu". */
static bool
is_core_pmu(const char *prop, int len)
{
	size_t n = strnlen(prop, (size_t)len);

	return n > 8 && memcmp(prop, "arm,", 4) == 0 &&
	       memcmp(prop + n - 4, "-pmu", 4) == 0;
}

static void
set_range(const struct dt *dt, unsigned n, struct range *r)
{
	if (!dt_reg(dt, n, &r->r_pa, &r->r_bytes))
		*r = (struct range){ 0, 0 };
}

static void
found_gicv3(const struct dt *dt, int node)
{
	uint64_t n = dt_number(dt->dt_fdt, node, "#redistributor-regions", 1);
	struct range r;

	machine.m_gic = 3;
	set_range(dt, 0, &machine.m_gicd);
	for (unsigned i = 1; i <= n && dt_reg(dt, i, &r.r_pa, &r.r_bytes); i++)
		machine_add_gicr(r.r_pa, r.r_bytes);
}

static void
found_psci(const void *fdt, int node, bool first_version)
{
	int len;
	const char *method = dt_getprop(fdt, node, "method", &len);

	if (method != NULL && len == 4)
		machine.m_psci =
		    strcmp(method, "hvc") == 0 ? PSCI_HVC : PSCI_SMC;
	if (first_version)
		machine.m_psci_cpu_on =
		    (uint32_t)dt_number(fdt, node, "cpu_on", 0);
}

static void
found_watchdog(const struct dt *dt, enum machine_watchdog_kind kind)
{
	uint64_t pa, bytes;

	if (dt_enabled(dt->dt_fdt, dt->dt_path[dt->dt_depth]) &&
	    dt_reg(dt, 0, &pa, &bytes))
		machine_add_watchdog(kind, pa);
}

static void
found_device(const struct dt *dt, int node, struct found *f)
{
	int len;
	const char *prop = dt_getprop(dt->dt_fdt, node, "compatible", &len);
	const struct known *k;
	uint64_t bytes;

	if (prop == NULL || len < 4)
		return;
	if ((k = known_device(prop, len)) == NULL) {
		if (is_core_pmu(prop, len) && f->f_npmu < NPMU)
			f->f_pmu[f->f_npmu++] = node;
		return;
	}
	switch (k->kind) {
	case GICV3:
	case GICV2:
		if (machine.m_ngic++ > 0)
			break;
		f->f_gic = node;
		if (k->kind == GICV3) {
			found_gicv3(dt, node);
		} else {
			machine.m_gic = 2;
			set_range(dt, 0, &machine.m_gicd);
			set_range(dt, 1, &machine.m_gicc);
		}
		break;
	case TIMER:
		f->f_timer = node;
		break;
	case PSCI:
	case PSCI_0_1:
		found_psci(dt->dt_fdt, node, k->kind == PSCI_0_1);
		break;
	case OTHER_PMU:
		break;
	case PMU:
		if (f->f_npmu < NPMU)
			f->f_pmu[f->f_npmu++] = node;
		break;
	case ECAM:
		pci_from_fdt(dt);
		break;
	case SBSA:
		found_watchdog(dt, MACHINE_SBSA);
		break;
	case SP805:
		found_watchdog(dt, MACHINE_SP805);
		break;
	case DESIGNWARE:
		found_watchdog(dt, MACHINE_DESIGNWARE);
		break;
	case BCM_WATCHDOG:
		found_watchdog(dt, MACHINE_BCM2835);
		/* FALLTHROUGH */
	case BCM_PM:
		if (!dt_reg(dt, 0, &machine.m_bcm_pm, &bytes))
			machine.m_bcm_pm = 0;
		break;
	}
}

/* The method of a CPU, or else that of all CPUs. */
static bool
spins(const void *fdt, int cpu, int all)
{
	int len;
	const char *s = dt_getprop(fdt, cpu, "enable-method", &len);

	if (s == NULL)
		s = dt_getprop(fdt, all, "enable-method", &len);
	return s != NULL && len == sizeof "spin-table" &&
	       memcmp(s, "spin-table", sizeof "spin-table") == 0;
}

static void
found_cpu(const void *fdt, int node, int all)
{
	struct machine_cpu *mc;

	if (strncmp(dt_name(fdt, node), "cpu@", 4) != 0 ||
	    !dt_enabled(fdt, node))
		return;
	mc = machine_add_cpu(dt_number(fdt, node, "reg", 0));
	mc->mu_phandle = (uint32_t)dt_number(fdt, node, "phandle", 0);
	mc->mu_spins = spins(fdt, node, all);
	mc->mu_release = dt_number(fdt, node, "cpu-release-addr", 0);
}

/* The interrupt controller with this phandle, or -1. */
static int
controller(const void *fdt, uint64_t phandle)
{
	struct dt dt;
	int node;

	dt_start(&dt, fdt);
	while ((node = dt_next(&dt)) >= 0) {
		if (dt_number(fdt, node, "phandle", UINT64_MAX) == phandle)
			return node;
	}
	return -1;
}

/*
 * The INTID of a node's nth interrupt, or 0 if it is absent, invalid, or of
 * another controller.  In interrupts-extended the controller's phandle comes
 * before each specifier, whose size that controller says.
 */
static uint32_t
interrupt_id(const void *fdt, int node, int gic, unsigned n)
{
	uint64_t ncells = dt_number(fdt, gic, "#interrupt-cells", 3);
	int len, of = gic;
	const fdt32_t *p = dt_getprop(fdt, node, "interrupts", &len), *end;
	bool extended = p == NULL;

	if (extended)
		p = dt_getprop(fdt, node, "interrupts-extended", &len);
	if (p == NULL)
		return 0;
	for (end = p + len / 4;; p += ncells) {
		if (extended && p < end) {
			of = controller(fdt, fdt32_to_cpu(*p++));
			ncells = dt_number(fdt, of, "#interrupt-cells", 0);
		}
		if (of < 0 || ncells == 0 || ncells > (uint64_t)(end - p))
			return 0;
		if (n-- == 0)
			break;
	}
	if (of != gic || ncells < 2 || ncells > MAX_CELLS)
		return 0;
	uint32_t type = fdt32_to_cpu(p[0]);
	uint32_t number = fdt32_to_cpu(p[1]);
	if (number >= NSPI)
		return 0;
	return number + (type == GIC_PPI ? FIRST_PPI : FIRST_SPI);
}

/* Give an SPI to the CPU that an entry of interrupt-affinity names. */
static void
set_pmu_intid(uint32_t phandle, uint32_t intid)
{
	for (unsigned i = 0; i < machine_ncpu() && phandle != 0; i++) {
		if (machine.m_cpu[i].mu_phandle == phandle) {
			machine.m_cpu[i].mu_pmu_intid = intid;
			return;
		}
	}
	printf("cpu: device tree: the PMU's interrupt-affinity names %#x, no "
	       "enabled CPU: its interrupt %u is not used\n",
	    phandle, intid);
}

/* The list of an emulator: qemu/README.md, "The model on arm64". */
static void
found_events(const void *fdt, int node)
{
	int bytes;
	const fdt64_t *list =
	    dt_getprop(fdt, node, "qemu,counted-events", &bytes);

	if (list == NULL || bytes != sizeof machine.m_events)
		return;
	machine.m_lists_events = true;
	machine.m_events[0] = fdt64_ld(&list[0]);
	machine.m_events[1] = fdt64_ld(&list[1]);
}

/*
 * A PMU has one PPI, or an SPI for each of its CPUs, which the same entry of
 * interrupt-affinity names.  Without that property Linux takes the order of the
 * CPUs in the tree.
 */
static void
found_pmu(const void *fdt, int node, int gic)
{
	int bytes;
	const fdt32_t *cpu =
	    dt_getprop(fdt, node, "interrupt-affinity", &bytes);
	unsigned want = cpu != NULL ? (unsigned)bytes / 4 : machine_ncpu();
	unsigned n = 0;

	while (n <= MAXCPU && interrupt_id(fdt, node, gic, n) != 0)
		n++;
	if (n == 1 && interrupt_id(fdt, node, gic, 0) < FIRST_SPI) {
		machine.m_pmu_intid = interrupt_id(fdt, node, gic, 0);
		return;
	}
	if (cpu == NULL && n > 1)
		printf("cpu: device tree: the PMU has no interrupt-affinity: "
		       "its interrupts go to the CPUs in order\n");
	if (n != want && n > 0)
		printf("cpu: device tree: the PMU has %u interrupts for %u "
		       "CPUs: what is left over is not used\n",
		    n, want);
	for (unsigned i = 0; i < n && i < want; i++) {
		uint32_t intid = interrupt_id(fdt, node, gic, i);

		if (intid < FIRST_SPI)
			printf("cpu: device tree: the PMU's interrupt %u is a "
			       "PPI among SPIs: it is not used\n",
			    intid);
		else if (cpu == NULL)
			machine.m_cpu[i].mu_pmu_intid = intid;
		else
			set_pmu_intid(fdt32_to_cpu(cpu[i]), intid);
	}
}

/* Remember a child of the root that is not a device. */
static void
found_special(const void *fdt, int node, struct found *f)
{
	const char *name = dt_name(fdt, node);

	f->f_in_cpus = strcmp(name, "cpus") == 0;
	if (f->f_in_cpus)
		f->f_cpus = node;
	if (strcmp(name, "chosen") == 0)
		f->f_chosen = node;
	else if (strcmp(name, "aliases") == 0)
		f->f_aliases = node;
}

bool
machine_from_fdt(const struct bootinfo *bi)
{
	struct found f = {
		.f_gic = -1, .f_timer = -1, .f_chosen = -1, .f_aliases = -1
	};
	struct dt dt;
	int node;

	if (bi->bi_fdt == 0)
		return false;
	const void *fdt = pa_to_va(bi->bi_fdt);
	if (fdt_check_header(fdt) != 0)
		return false;
	/* A board has a name.  Xen's guest has none without a toolstack. */
	machine.m_virtual =
	    fdt_getprop(fdt, 0, "compatible", NULL) == NULL ||
	    fdt_node_check_compatible(fdt, 0, "linux,dummy-virt") == 0 ||
	    fdt_node_check_compatible(fdt, 0, "xen,xenvm") == 0;
	dt_start(&dt, fdt);
	while ((node = dt_next(&dt)) >= 0) {
		if (dt.dt_depth == 1)
			found_special(fdt, node, &f);
		if (!f.f_in_cpus)
			found_device(&dt, node, &f);
		else if (dt.dt_depth == 2)
			found_cpu(fdt, node, f.f_cpus);
	}
	uart_from_fdt(fdt, f.f_chosen, f.f_aliases);
	/* Firmware with ACPI may add a tree that has only a few properties. */
	if (f.f_gic < 0) {
		machine.m_ncpu = 0;
		return false;
	}
	machine.m_tables = "device tree";
	if (f.f_timer >= 0)
		machine.m_timer_intid =
		    interrupt_id(fdt, f.f_timer, f.f_gic, TIMER_VIRTUAL);
	for (unsigned i = 0; i < f.f_npmu; i++) {
		found_pmu(fdt, f.f_pmu[i], f.f_gic);
		found_events(fdt, f.f_pmu[i]);
	}
	return true;
}
