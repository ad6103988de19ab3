/*
 * How much FP state this machine has, and turning it on.
 * Arm ARM (DDI 0487), "CPACR_EL1", "ZCR_EL1", "ID_AA64PFR0_EL1".
 */
#include "arch/arm64/fp.h"

#include "arch/arm64/fp_asm.h"
#include "arch/arm64/sysreg.h"
#include "lib/printf.h"

#define CPACR_FPEN  (3UL << 20) /* no trap, at EL0 nor EL1 */
#define CPACR_ZEN   (3UL << 16)
#define ZCR_LEN_MAX 0xf
#define NEON_BYTES  (32 * 16 + 16) /* V0..V31, FPSR and FPCR */
/* Z0..Z31, P0..P15 and FFR (an eighth each), FPSR and FPCR. */
#define SVE_BYTES(v) (32 * (v) + 17 * ((v) / 8) + 16)

static struct {
	unsigned vector; /* SVE's, in bytes; 0: no SVE */
} fp;

void
arm64_fp_cpu_init(void)
{
	bool sve = FIELD(read_sysreg(id_aa64pfr0_el1), 35, 32) != 0;
	unsigned vector = 0;

	write_sysreg(cpacr_el1, CPACR_FPEN | (sve ? CPACR_ZEN : 0));
	isb();
	if (sve) {
		/* Asking for the longest gives the longest there is. */
		write_sysreg(ZCR_EL1, ZCR_LEN_MAX);
		isb();
		vector = arm64_sve_vector();
	}
	if (fp.vector == 0)
		fp.vector = vector;
	/* LWPs of the future may move: all CPUs alike, or none of them. */
	ASSERT(fp.vector == vector);
}

unsigned
arm64_sve_bytes(void)
{
	return fp.vector;
}

size_t
arm64_fp_bytes(void)
{
	size_t bytes = fp.vector ? SVE_BYTES(fp.vector) : NEON_BYTES;

	return (bytes + FP_ALIGN - 1) & ~(size_t)(FP_ALIGN - 1);
}

void
arm64_fp_save(void *area)
{
	if (fp.vector != 0)
		arm64_sve_save(area);
	else
		arm64_neon_save(area);
}

void
arm64_fp_load(const void *area)
{
	if (fp.vector != 0)
		arm64_sve_load(area);
	else
		arm64_neon_load(area);
}

void
arm64_fp_clear(void)
{
	if (fp.vector != 0)
		arm64_sve_clear();
	arm64_neon_clear();
}
