/*
 * Describes the CPU from its ID registers: for records, and as the hardware
 * capabilities of the auxiliary vector.
 */
#include <stdbool.h>
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/cpu_name.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/sysreg.h"
#include "arch/arm64/trap/fp.h"
#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/string.h"
#include "lib/text.h"

/*
 * The ID registers that programs read with something in them: X(name, CRm, op2,
 * more, safe).  Programs see the fields that a hardware capability names, and
 * `more`; of the others, what Linux calls a safe value.  Linux,
 * Documentation/arch/arm64/cpu-feature-registers.rst.
 */
#define ID_REGS(X)                                                             \
	X(ISAR0, 6, 0, 0, 0)                                                   \
	X(ISAR1, 6, 1, 0, 0)                                                   \
	X(ISAR2, 6, 2, 0, 0)                                                   \
	X(PFR0, 4, 0, 0xff0000, 0x11) /* AdvSIMD, FP; EL1, EL0 */              \
	X(PFR1, 4, 1, 0, 0)                                                    \
	X(ZFR0, 4, 4, 0, 0)                                                    \
	X(DFR0, 5, 0, 0, 0x6)            /* DebugVer */                        \
	X(MMFR0, 7, 0, 0, 0x111ff000000) /* TGran */                           \
	X(MMFR1, 7, 1, 0, 0)                                                   \
	X(MMFR2, 7, 2, 0, 0)                                                   \
	X(AARCH32_ISAR5, 2, 5, 0xffff0, 0)    /* CRC32, SHA2, SHA1, AES */     \
	X(AARCH32_MVFR0, 3, 0, 0xf00, 0)      /* FPDP */                       \
	X(AARCH32_MVFR1, 3, 1, 0xf00fff00, 0) /* SIMD */

#define ID_NAME(name, crm, op2, more, safe) name,
#define ID_ROW(name, crm, op2, more, safe)  { crm, op2, more, safe },
#define ID_READ(name, crm, op2, more, safe)                                    \
	reg[name] = read_sysreg(S3_0_C0_C##crm##_##op2);

enum { ID_REGS(ID_NAME) NREG };
static const struct {
	uint8_t crm, op2;
	uint64_t more, safe;
} id_regs[NREG] = { ID_REGS(ID_ROW) };

/*
 * A four-bit field of `at_least` or more sets the bit in AT_HWCAP (word 0) or
 * AT_HWCAP2 (word 1).
 * Arm ARM (DDI 0487), "ID_AA64ISAR0_EL1" and its neighbours; Linux,
 * Documentation/arm64/elf_hwcaps.rst (meanings), uapi/asm/hwcap.h (bits).
 */
static const struct {
	uint8_t reg, low_bit, at_least, word, bit;
	const char *name; /* in /proc/cpuinfo */
} hwcaps[] = {
	{ ISAR0, 4, 1, 0, 3, "aes" },
	{ ISAR0, 4, 2, 0, 4, "pmull" },
	{ ISAR0, 8, 1, 0, 5, "sha1" },
	{ ISAR0, 12, 1, 0, 6, "sha2" },
	{ ISAR0, 12, 2, 0, 21, "sha512" },
	{ ISAR0, 16, 1, 0, 7, "crc32" },
	{ ISAR0, 20, 2, 0, 8, "atomics" },
	{ ISAR0, 28, 1, 0, 12, "asimdrdm" },
	{ ISAR0, 32, 1, 0, 17, "sha3" },
	{ ISAR0, 36, 1, 0, 18, "sm3" },
	{ ISAR0, 40, 1, 0, 19, "sm4" },
	{ ISAR0, 44, 1, 0, 20, "asimddp" },
	{ ISAR0, 48, 1, 0, 23, "asimdfhm" },
	{ ISAR0, 52, 1, 0, 27, "flagm" },
	{ ISAR0, 52, 2, 1, 7, "flagm2" },
	{ ISAR0, 60, 1, 1, 16, "rng" },
	{ ISAR1, 0, 1, 0, 16, "dcpop" },
	{ ISAR1, 0, 2, 1, 0, "dcpodp" },
	{ ISAR1, 12, 1, 0, 13, "jscvt" },
	{ ISAR1, 16, 1, 0, 14, "fcma" },
	{ ISAR1, 20, 1, 0, 15, "lrcpc" },
	{ ISAR1, 20, 2, 0, 26, "ilrcpc" },
	{ ISAR1, 32, 1, 1, 8, "frint" },
	{ ISAR1, 36, 1, 0, 29, "sb" },
	{ ISAR1, 44, 1, 1, 14, "bf16" },
	{ ISAR1, 48, 1, 1, 15, "dgh" },
	{ ISAR1, 52, 1, 1, 13, "i8mm" },
	{ ISAR2, 0, 2, 1, 31, "wfxt" },
	{ ISAR2, 4, 1, 1, 21, "rpres" },
	{ PFR0, 32, 1, 0, 22, "sve" },
	{ PFR0, 48, 1, 0, 24, "dit" },
	{ PFR1, 4, 2, 0, 28, "ssbs" },
	{ MMFR0, 60, 1, 1, 19, "ecv" },
	{ MMFR1, 44, 1, 1, 20, "afp" },
	{ MMFR2, 32, 1, 0, 25, "uscat" },
	{ ZFR0, 0, 1, 1, 1, "sve2" },
	{ ZFR0, 4, 1, 1, 2, "sveaes" },
	{ ZFR0, 4, 2, 1, 3, "svepmull" },
	{ ZFR0, 16, 1, 1, 4, "svebitperm" },
	{ ZFR0, 20, 1, 1, 12, "svebf16" },
	{ ZFR0, 32, 1, 1, 5, "svesha3" },
	{ ZFR0, 40, 1, 1, 6, "svesm4" },
	{ ZFR0, 44, 1, 1, 9, "svei8mm" },
	{ ZFR0, 52, 1, 1, 10, "svef32mm" },
	{ ZFR0, 56, 1, 1, 11, "svef64mm" },
};

/* In the fields FP and AdvSIMD, 0xf means that the feature is absent. */
#define HWCAP_FP      (1UL << 0)
#define HWCAP_ASIMD   (1UL << 1)
#define HWCAP_EVTSTRM (1UL << 2) /* timer.c */
#define HWCAP_FPHP    (1UL << 9)
#define HWCAP_ASIMDHP (1UL << 10)
#define HWCAP_DIT     (1UL << 24)
#define HWCAP_SSBS    (1UL << 28)
#define HWCAP_CPUID   (1UL << 11) /* arm64_id_reg() */

static unsigned long
fp_hwcap(uint64_t pfr0)
{
	unsigned fp = FIELD(pfr0, 19, 16), simd = FIELD(pfr0, 23, 20);
	unsigned long cap = 0;

	if (fp != 0xf)
		cap |= HWCAP_FP | (fp >= 1 ? HWCAP_FPHP : 0);
	if (simd != 0xf)
		cap |= HWCAP_ASIMD | (simd >= 1 ? HWCAP_ASIMDHP : 0);
	return cap;
}

static void
read_id_regs(uint64_t reg[NREG])
{
	ID_REGS(ID_READ)
	if (arm64_sve_bytes() == 0) {
		reg[PFR0] &= ~(0xfULL << 32);
		reg[ZFR0] = 0;
	}
}

unsigned long
arch_hwcap(unsigned n)
{
	uint64_t reg[NREG];
	unsigned long cap = 0;

	if (n == 2)
		return arm64_sigframe_bytes();
	read_id_regs(reg);
	if (n == 0)
		cap = fp_hwcap(reg[PFR0]) | HWCAP_EVTSTRM | HWCAP_CPUID;
	for (size_t i = 0; i < sizeof hwcaps / sizeof hwcaps[0]; i++) {
		unsigned lo = hwcaps[i].low_bit;

		if (hwcaps[i].word == n &&
		    FIELD(reg[hwcaps[i].reg], lo + 3, lo) >= hwcaps[i].at_least)
			cap |= 1UL << hwcaps[i].bit;
	}
	return cap;
}

/* Registers of CRm 0: this CPU's MIDR, an MPIDR without affinity, REVIDR. */
#define OP2_MIDR    0
#define OP2_MPIDR   5
#define OP2_REVIDR  6
#define MPIDR_NO_ID 0x80000000UL

bool
arm64_id_reg(unsigned crm, unsigned op2, uint64_t *value)
{
	uint64_t reg[NREG], shown;
	unsigned i = 0;

	*value = 0;
	if (crm == 0) {
		if (op2 != OP2_REVIDR)
			*value = op2 == OP2_MIDR ? read_sysreg(midr_el1)
			                         : MPIDR_NO_ID;
		return op2 == OP2_MIDR || op2 == OP2_MPIDR || op2 == OP2_REVIDR;
	}
	while (i < NREG && (id_regs[i].crm != crm || id_regs[i].op2 != op2))
		i++;
	if (i == NREG)
		return crm >= 2 && crm <= 7; /* reserved: 0 */
	read_id_regs(reg);
	shown = id_regs[i].more;
	for (size_t h = 0; h < sizeof hwcaps / sizeof hwcaps[0]; h++) {
		if (hwcaps[h].reg == i)
			shown |= 0xfULL << hwcaps[h].low_bit;
	}
	*value = (reg[i] & shown) | id_regs[i].safe;
	return true;
}

/* Whether a count of 0 can be trusted: docs/records.md, "models". */
static const char *
models_word(void)
{
	if (pmuv3_counts != NULL)
		return "listed";
	return strcmp(machine.m_vmm, "none") == 0 ? "all" : "unknown";
}

/*
 * The architecture has no SMI, and no count of what firmware does at EL3.
 * Firmware alone sees clock rates and heat.
 */
void
arch_strain(struct barecpc_interrupts *by)
{
	struct arm64_cpu *ac = arch_curcpu()->c_arch;

	if (!arm64_ras_exists())
		return;
	ac->ac_errors += arm64_ras_take(true);
	by->by_errors = ac->ac_errors;
	by->by_flags |= BARECPC_INTERRUPTS_ERRORS;
}

bool
arch_quiet(unsigned item, const char **said)
{
	(void)item;
	*said = "only firmware can, on arm64";
	return false;
}

void
arch_quiet_done(void)
{
}

void
arch_quiet_end(void)
{
}

bool
arch_quiet_suite(void)
{
	return false;
}

/* First the features that have no row in hwcaps[]. */
static const struct {
	unsigned long bit;
	const char *name;
} fp_names[] = {
	{ HWCAP_FP, "fp" },
	{ HWCAP_ASIMD, "asimd" },
	{ HWCAP_EVTSTRM, "evtstrm" },
	{ HWCAP_FPHP, "fphp" },
	{ HWCAP_ASIMDHP, "asimdhp" },
	{ HWCAP_CPUID, "cpuid" },
};

static void
add_features(struct text *t, const char *join)
{
	unsigned long cap[2] = { arch_hwcap(0), arch_hwcap(1) };

	for (size_t i = 0; i < sizeof fp_names / sizeof fp_names[0]; i++) {
		if (cap[0] & fp_names[i].bit) {
			text_add(t, "%s%s", join, fp_names[i].name);
			join = " ";
		}
	}
	for (size_t i = 0; i < sizeof hwcaps / sizeof hwcaps[0]; i++) {
		if (cap[hwcaps[i].word] >> hwcaps[i].bit & 1)
			text_add(t, " %s", hwcaps[i].name);
	}
}

/* PSTATE's bits, which the program may change, if the CPU has them. */
static void
add_mitigations(struct text *t)
{
	uint64_t pstate = arch_lwp_frame(lwp_self())->tf_pstate;
	bool ssbs = (arch_hwcap(0) & HWCAP_SSBS) != 0;
	bool dit = (arch_hwcap(0) & HWCAP_DIT) != 0;

	if (!ssbs && !dit)
		return;
	text_add(t, ",\"mitigations\":{");
	if (ssbs)
		text_add(t, "\"ssbs\":\"%#x\"%s",
		    (unsigned)FIELD(pstate, 12, 12), dit ? "," : "");
	if (dit)
		text_add(t, "\"dit\":\"%#x\"", (unsigned)FIELD(pstate, 24, 24));
	text_add(t, "}");
}

/* With MPIDR_EL1.MT other CPUs may be threads of this core. */
static bool
is_alone(void)
{
	const struct cpu *self = arch_curcpu();
	unsigned n = 0;

	/* Threads that cpus= leaves out, too. */
	for (unsigned i = 0; i < machine_ncpu(); i++)
		n += machine.m_cpu[i].mu_mpidr >> 8 == self->c_hwid >> 8;
	return FIELD(read_sysreg(mpidr_el1), 24, 24) == 0 || n <= 1;
}

void
arch_describe(struct text *t)
{
	uint64_t midr = read_sysreg(midr_el1);

	text_add(t,
	    "\"cpu\":\"%s\",\"midr\":\"%#lx\",\"revidr\":\"%#lx\","
	    "\"sve_bytes\":%u,"
	    "\"gic\":%u,\"tables\":\"%s\",\"boot_el\":%u,\"vmm\":\"%s\","
	    "\"models\":\"%s\"",
	    arm64_cpu_name(midr), (unsigned long)midr,
	    (unsigned long)read_sysreg(revidr_el1), arm64_sve_bytes(),
	    machine.m_gic, machine.m_tables, arm64_boot_el, machine.m_vmm,
	    models_word());
	text_add(t, ",\"features\":\"");
	add_features(t, "");
	text_add(t, "\"%s", is_alone() ? ",\"smt\":\"absent\"" : "");
	add_mitigations(t);
}

/* All CPUs are described by the registers of the calling one. */
void
arch_cpuinfo(struct text *t, unsigned n)
{
	uint64_t midr = read_sysreg(midr_el1);
	unsigned long mips = arch_tick_hz() / 5000; /* as Linux: 2 x Hz */

	text_add(t, "processor\t: %u\nBogoMIPS\t: %lu.%02lu\nFeatures\t:", n,
	    mips / 100, mips % 100);
	add_features(t, " ");
	text_add(t,
	    "\nCPU implementer\t: %#x\nCPU architecture: 8\n"
	    "CPU variant\t: %#x\nCPU part\t: %#05x\nCPU revision\t: %u\n\n",
	    (unsigned)FIELD(midr, 31, 24), (unsigned)FIELD(midr, 23, 20),
	    (unsigned)FIELD(midr, 15, 4), (unsigned)FIELD(midr, 3, 0));
}
