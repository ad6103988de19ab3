/* The description of the CPU, for records and for the auxiliary vector. */
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/dev/timer.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/pmu/pmu.h"
#include "arch/x86/topology.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/string.h"
#include "lib/text.h"

/*
 * AT_HWCAP is CPUID.1:EDX.  AT_HWCAP2 has bits for MWAIT and FSGSBASE at ring
 * 3; they are 0, because payloads have neither.  n = 2 is AT_MINSIGSTKSZ.
 * Linux, Documentation/x86/elf_auxvec.rst and asm/hwcap2.h.
 */
unsigned long
arch_hwcap(unsigned n)
{
	switch (n) {
	case 0:
		return cpuid(1, 0).d;
	case 2:
		return x86_sigframe_bytes();
	default:
		return 0;
	}
}

/* Hypervisors by the signature of CPUID.40000000H. */
static const struct {
	const char *signature, *name;
} vmms[] = {
	{ "TCGTCGTCGTCG", "tcg" },
	{ "KVMKVMKVM", "kvm" },
	{ "Microsoft Hv", "hyperv" },
	{ "VMwareVMware", "vmware" },
	{ "XenVMMXenVMM", "xen" },
	{ "bhyve bhyve ", "bhyve" },
};

static const char *
vmm_name(void)
{
	const struct x86_features *f = &x86_features;

	for (size_t i = 0; i < sizeof vmms / sizeof vmms[0]; i++)
		if (strcmp(f->hypervisor, vmms[i].signature) == 0)
			return vmms[i].name;
	return f->hypervised ? "unknown" : "none";
}

/* Copy text without the vendor's padding spaces. */
static void
trim_text(char *dst, const char *src)
{
	while (*src == ' ')
		src++;
	for (; *src != '\0'; src++) {
		if (*src == ' ' && (src[1] == ' ' || src[1] == '\0'))
			continue;
		*dst++ = *src;
	}
	*dst = '\0';
}

/*
 * The revision as JSON.  null if the register cannot be read or, as a
 * hypervisor may have it, is 0.  AMD has the revision in the lower half of the
 * register, Intel in the upper half.
 * Intel SDM vol. 3A, "Update Signature and Verification": write 0, execute
 * CPUID, read.  AMD BKDG, "MSR0000_008B Patch Level".
 */
static void
describe_microcode(struct text *t)
{
	bool intel = strcmp(x86_features.vendor, "GenuineIntel") == 0;
	uint32_t revision = 0;
	uint64_t v;

	if (intel && x86_wrmsr_safe(IA32_BIOS_SIGN_ID, 0) == 0) {
		cpuid(1, 0);
		if (x86_rdmsr_safe(IA32_BIOS_SIGN_ID, &v) == 0)
			revision = (uint32_t)(v >> 32);
	} else if (!intel && x86_rdmsr_safe(IA32_BIOS_SIGN_ID, &v) == 0) {
		revision = (uint32_t)v;
	}
	if (revision == 0)
		text_add(t, "\"microcode\":null,");
	else
		text_add(t, "\"microcode\":\"%#x\",", revision);
}

/* The state of the other threads of this core. */
static const char *
smt_state(void)
{
	const struct cpuset *with = x86_core_threads(arch_curcpu()->c_id);
	const char *state = "parked";

	if (!x86_core_is_shared())
		return "absent";
	for (unsigned i = cpuset_next(with, with, 0); i < MAXCPU;
	     i = cpuset_next(with, with, i + 1)) {
		if (&cpus[i] == arch_curcpu())
			continue;
		if (cpus[i].c_lwp != cpus[i].c_idle)
			return "busy";
		state = "halted";
	}
	return state;
}

void
arch_strain(struct barecpc_interrupts *by)
{
	x86_power_strain(&x86_self()->xc_power, by);
}

bool
arch_quiet(unsigned item, const char **said)
{
	return x86_quiet(&x86_self()->xc_power, item, said);
}

void
arch_quiet_done(void)
{
	x86_power_settle(&x86_self()->xc_power);
}

void
arch_quiet_end(void)
{
	x86_quiet_end(&x86_self()->xc_power);
}

bool
arch_quiet_suite(void)
{
	return !x86_features.hypervised;
}

void
arch_describe(struct text *t)
{
	const struct x86_features *f = &x86_features;
	char name[sizeof f->brand];

	trim_text(name, f->brand[0] != '\0' ? f->brand : f->vendor);
	text_add(t, "\"cpu\":");
	text_add_string(t, name);
	text_add(t, ",\"vendor\":");
	text_add_string(t, f->vendor);
	text_add(t, ",\"family\":%u,\"model\":%u,\"stepping\":%u,", f->family,
	    f->model, f->stepping);
	describe_microcode(t);
	text_add(t,
	    "\"vmm\":\"%s\",\"models\":\"%s\",\"xcr0\":\"%#lx\",\"apic\":\"%"
	    "s\",\"tsc_"
	    "source\":\"%s\","
	    "\"tsc_invariant\":%s,\"tsc_equal\":%s,\"smt\":\"%s\"",
	    vmm_name(), x86_models_name(), f->xcr0, x86_apic_mode(),
	    x86_rates.source, f->invariant_tsc ? "true" : "false",
	    x86_tsc.unequal   ? "false"
	    : x86_tsc.unknown ? "null"
			      : "true",
	    smt_state());
	if (x86_rates.witness != NULL)
		text_add(t, ",\"tsc_checked_by\":\"%s\"", x86_rates.witness);
	if (x86_rates.doubt_hz != 0)
		text_add(t, ",\"tsc_doubt_hz\":%lu", x86_rates.doubt_hz);
	if (x86_tsc.adjustable)
		text_add(t, ",\"tsc_adjust\":%ld", (long)x86_tsc.adjust);
	x86_power_describe(&x86_self()->xc_power, t);
}

/*
 * The features that programs look for, by Linux's names.  Linux,
 * asm/cpufeatures.h; Intel SDM vol. 2A, "CPUID".
 */
static const struct {
	uint32_t leaf;
	uint8_t reg, bit; /* reg: 0 EAX to 3 EDX */
	const char *name;
} flags[] = {
	{ 1, 3, 0, "fpu" },
	{ 1, 3, 4, "tsc" },
	{ 1, 3, 5, "msr" },
	{ 1, 3, 8, "cx8" },
	{ 1, 3, 15, "cmov" },
	{ 1, 3, 23, "mmx" },
	{ 1, 3, 24, "fxsr" },
	{ 1, 3, 25, "sse" },
	{ 1, 3, 26, "sse2" },
	{ 1, 3, 28, "ht" },
	{ 0x80000007, 3, 8, "constant_tsc" },
	{ 0x80000007, 3, 8, "nonstop_tsc" },
	{ 0x80000001, 3, 11, "syscall" },
	{ 0x80000001, 3, 20, "nx" },
	{ 0x80000001, 3, 27, "rdtscp" },
	{ 0x80000001, 3, 29, "lm" },
	{ 1, 2, 0, "pni" },
	{ 1, 2, 1, "pclmulqdq" },
	{ 1, 2, 9, "ssse3" },
	{ 1, 2, 12, "fma" },
	{ 1, 2, 13, "cx16" },
	{ 1, 2, 19, "sse4_1" },
	{ 1, 2, 20, "sse4_2" },
	{ 1, 2, 22, "movbe" },
	{ 1, 2, 23, "popcnt" },
	{ 1, 2, 25, "aes" },
	{ 1, 2, 26, "xsave" },
	{ 1, 2, 28, "avx" },
	{ 1, 2, 29, "f16c" },
	{ 1, 2, 30, "rdrand" },
	{ 1, 2, 31, "hypervisor" },
	{ 0x80000001, 2, 0, "lahf_lm" },
	{ 0x80000001, 2, 5, "abm" },
	{ 7, 1, 3, "bmi1" },
	{ 7, 1, 5, "avx2" },
	{ 7, 1, 8, "bmi2" },
	{ 7, 1, 9, "erms" },
	{ 7, 1, 16, "avx512f" },
	{ 7, 1, 17, "avx512dq" },
	{ 7, 1, 18, "rdseed" },
	{ 7, 1, 19, "adx" },
	{ 7, 1, 23, "clflushopt" },
	{ 7, 1, 24, "clwb" },
	{ 7, 1, 29, "sha_ni" },
	{ 7, 1, 30, "avx512bw" },
	{ 7, 1, 31, "avx512vl" },
	{ 7, 2, 1, "avx512vbmi" },
	{ 7, 2, 9, "vaes" },
	{ 7, 2, 11, "avx512_vnni" },
};

/* All CPUs have the features of the calling one. */
void
arch_cpuinfo(struct text *t, unsigned n)
{
	const struct x86_features *f = &x86_features;
	char name[sizeof f->brand];
	unsigned long khz = arch_tick_hz() / 1000;

	trim_text(name, f->brand);
	text_add(t,
	    "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\n"
	    "model\t\t: %u\nmodel name\t: %s\nstepping\t: %u\n"
	    "cpu MHz\t\t: %lu.%03lu\nflags\t\t:",
	    n, f->vendor, f->family, f->model, name, f->stepping, khz / 1000,
	    khz % 1000);
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		if (cpuid_has(flags[i].leaf, flags[i].reg, flags[i].bit))
			text_add(t, " %s", flags[i].name);
	}
	text_add(t, "\n\n");
}
