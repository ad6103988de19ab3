/* The names of CPUs, for records and as Linux's perf has them. */
#include "arch/arm64/cpu_name.h"

#include "lib/printf.h"

#define IMPLEMENTER_ARM      0x41
#define IMPLEMENTER_FUJITSU  0x46
#define IMPLEMENTER_AMPERE   0xc0
#define IMPLEMENTER_SOFTWARE 0x00 /* for software use: QEMU's CPU "max" */

/*
 * MIDR_EL1.Implementer and PartNum, and the 8 or 9 of the name that Linux's
 * perf has, armv8_cortex_a34; 0: perf has none.
 * Each CPU's Technical Reference Manual, "MIDR_EL1"; Linux, asm/cputype.h,
 * drivers/perf/arm_pmuv3.c.
 */
static const struct known_cpu {
	uint8_t implementer;
	uint16_t part;
	uint8_t version;
	const char *name;
} known_cpus[] = {
	{ IMPLEMENTER_ARM, 0xd02, 8, "Cortex-A34" },
	{ IMPLEMENTER_ARM, 0xd03, 8, "Cortex-A53" },
	{ IMPLEMENTER_ARM, 0xd04, 8, "Cortex-A35" },
	{ IMPLEMENTER_ARM, 0xd05, 8, "Cortex-A55" },
	{ IMPLEMENTER_ARM, 0xd06, 8, "Cortex-A65" },
	{ IMPLEMENTER_ARM, 0xd07, 8, "Cortex-A57" },
	{ IMPLEMENTER_ARM, 0xd08, 8, "Cortex-A72" },
	{ IMPLEMENTER_ARM, 0xd09, 8, "Cortex-A73" },
	{ IMPLEMENTER_ARM, 0xd0a, 8, "Cortex-A75" },
	{ IMPLEMENTER_ARM, 0xd0b, 8, "Cortex-A76" },
	{ IMPLEMENTER_ARM, 0xd0c, 8, "Neoverse-N1" },
	{ IMPLEMENTER_ARM, 0xd0d, 8, "Cortex-A77" },
	{ IMPLEMENTER_ARM, 0xd0e, 0, "Cortex-A76AE" },
	{ IMPLEMENTER_ARM, 0xd40, 8, "Neoverse-V1" },
	{ IMPLEMENTER_ARM, 0xd41, 8, "Cortex-A78" },
	{ IMPLEMENTER_ARM, 0xd42, 0, "Cortex-A78AE" },
	{ IMPLEMENTER_ARM, 0xd44, 8, "Cortex-X1" },
	{ IMPLEMENTER_ARM, 0xd46, 9, "Cortex-A510" },
	{ IMPLEMENTER_ARM, 0xd47, 9, "Cortex-A710" },
	{ IMPLEMENTER_ARM, 0xd48, 9, "Cortex-X2" },
	{ IMPLEMENTER_ARM, 0xd49, 9, "Neoverse-N2" },
	{ IMPLEMENTER_ARM, 0xd4a, 8, "Neoverse-E1" },
	{ IMPLEMENTER_ARM, 0xd4b, 0, "Cortex-A78C" },
	{ IMPLEMENTER_ARM, 0xd4c, 0, "Cortex-X1C" },
	{ IMPLEMENTER_ARM, 0xd4d, 9, "Cortex-A715" },
	{ IMPLEMENTER_ARM, 0xd4e, 9, "Cortex-X3" },
	{ IMPLEMENTER_ARM, 0xd4f, 8, "Neoverse-V2" },
	{ IMPLEMENTER_ARM, 0xd80, 9, "Cortex-A520" },
	{ IMPLEMENTER_ARM, 0xd81, 9, "Cortex-A720" },
	{ IMPLEMENTER_ARM, 0xd82, 9, "Cortex-X4" },
	{ IMPLEMENTER_ARM, 0xd83, 8, "Neoverse-V3AE" },
	{ IMPLEMENTER_ARM, 0xd84, 8, "Neoverse-V3" },
	{ IMPLEMENTER_ARM, 0xd85, 9, "Cortex-X925" },
	{ IMPLEMENTER_ARM, 0xd87, 9, "Cortex-A725" },
	{ IMPLEMENTER_ARM, 0xd88, 9, "Cortex-A520AE" },
	{ IMPLEMENTER_ARM, 0xd89, 9, "Cortex-A720AE" },
	{ IMPLEMENTER_ARM, 0xd8a, 8, "C1-Nano" },
	{ IMPLEMENTER_ARM, 0xd8b, 8, "C1-Pro" },
	{ IMPLEMENTER_ARM, 0xd8c, 8, "C1-Ultra" },
	{ IMPLEMENTER_ARM, 0xd8e, 9, "Neoverse-N3" },
	{ IMPLEMENTER_ARM, 0xd8f, 9, "Cortex-A320" },
	{ IMPLEMENTER_ARM, 0xd90, 8, "C1-Premium" },
	{ IMPLEMENTER_FUJITSU, 0x001, 0, "A64FX" },
	{ IMPLEMENTER_AMPERE, 0xac3, 0, "Ampere-1" },
	{ IMPLEMENTER_AMPERE, 0xac4, 0, "Ampere-1A" },
};

static const struct known_cpu *
known_cpu(unsigned implementer, unsigned part)
{
	for (size_t i = 0; i < sizeof known_cpus / sizeof known_cpus[0]; i++) {
		if (implementer == known_cpus[i].implementer &&
		    part == known_cpus[i].part)
			return &known_cpus[i];
	}
	return NULL;
}

const char *
arm64_cpu_name(uint64_t midr)
{
	const struct known_cpu *cpu =
	    known_cpu(MIDR_IMPLEMENTER(midr), MIDR_PART(midr));

	if (MIDR_IMPLEMENTER(midr) == IMPLEMENTER_SOFTWARE)
		return "emulated (no model)";
	return cpu != NULL ? cpu->name : "unknown";
}

void
arm64_perf_name(char *name, size_t size, unsigned implementer, unsigned part)
{
	const struct known_cpu *cpu = known_cpu(implementer, part);

	if (cpu == NULL || cpu->version == 0) {
		snprintf(name, size, "armv8_%02x_%03x", implementer, part);
		return;
	}
	snprintf(name, size, "armv%u_%s", cpu->version, cpu->name);
	for (; *name != '\0'; name++) {
		if (*name == '-')
			*name = '_';
		else if (*name >= 'A' && *name <= 'Z')
			*name += 'a' - 'A';
	}
}
