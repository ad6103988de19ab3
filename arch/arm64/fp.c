/*
 * How much FP state this machine has, and turning it on.
 * Arm ARM (DDI 0487), "CPACR_EL1", "ZCR_EL1", "ID_AA64PFR0_EL1".
 */
#include "arch/arm64/fp.h"

#include "arch/arm64/fp_asm.h"
#include "arch/arm64/sysreg.h"
#include "lib/printf.h"

#define CPACR_FPEN (3UL << 20) /* no trap, at EL0 nor EL1 */
#define CPACR_ZEN  (3UL << 16)
/*
 * As Linux's default, 64 bytes at most: with longer vectors a signal's frame
 * would not fit the stacks of SIGSTKSZ that programs have for it.
 */
#define ZCR_LEN    3
#define NEON_BYTES (32 * 16 + 16) /* V0..V31, FPSR and FPCR */
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
		/* Asking for more than there is gives what there is. */
		write_sysreg(ZCR_EL1, ZCR_LEN);
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

/* The head of a record, and what is in it before the registers. */
struct fpsimd_head {
	uint32_t magic, bytes;
	uint32_t fpsr, fpcr;
};
struct sve_head {
	uint32_t magic, bytes;
	uint16_t vector, flags, reserved[2];
};
#define FPSIMD_MAGIC 0x46508001
#define SVE_MAGIC    0x53564501

size_t
arm64_sve_frame_bytes(void)
{
	return fp.vector != 0 ? arm64_fp_bytes() : 0;
}

/*
 * A save area has 16 bytes of FPSR and FPCR where a record has its head, and
 * then the same.
 */
void
arm64_fp_save_frame(void *fpsimd, void *sve)
{
	struct fpsimd_head *h = fpsimd;
	const uint64_t *control = fpsimd;
	uint64_t fpsr, fpcr;

	arm64_neon_save(fpsimd);
	fpsr = control[0];
	fpcr = control[1];
	*h = (struct fpsimd_head){ FPSIMD_MAGIC, FPSIMD_FRAME_BYTES,
		(uint32_t)fpsr, (uint32_t)fpcr };
	if (fp.vector != 0) {
		arm64_sve_save(sve);
		*(struct sve_head *)sve =
		    (struct sve_head){ SVE_MAGIC, (uint32_t)arm64_fp_bytes(),
			    (uint16_t)fp.vector, 0, { 0, 0 } };
	}
}

void
arm64_fp_load_frame(const void *fpsimd, const void *sve)
{
	if (sve != NULL) {
		arm64_sve_load_frame(sve, fpsimd);
		return;
	}
	if (fp.vector != 0)
		arm64_sve_clear();
	arm64_neon_load_frame(fpsimd);
}
