/*
 * FP, NEON and SVE state of LWPs: its size, saving it, and turning SVE on.
 * Arm ARM (DDI 0487), "CPACR_EL1", "ZCR_EL1", "ID_AA64PFR0_EL1".
 */
#include "arch/arm64/trap/fp.h"

#include "arch/arm64/trap/fp_asm.h"
#include "kern/mm/page.h"
#include "lib/printf.h"

#define CPACR_FPEN (3UL << 20) /* FP does not trap at EL0 or EL1 */
/*
 * At most 64 bytes a vector, as Linux's default.  With longer vectors a
 * signal's frame would not fit a stack of SIGSTKSZ bytes.
 */
#define ZCR_LEN    3
#define NEON_BYTES (32 * 16 + 16) /* V0..V31, FPSR and FPCR */
/* Z0..Z31; P0..P15 and FFR, an eighth as long; FPSR and FPCR. */
#define SVE_BYTES(v) (32 * (v) + 17 * ((v) / 8) + 16)

static struct {
	unsigned vector; /* bytes of an SVE vector; 0: no SVE */
} fp;

static void
sve_set(bool on)
{
	write_sysreg(cpacr_el1, CPACR_FPEN | (on ? CPACR_ZEN : 0));
	isb();
}

void
arm64_fp_cpu_init(void)
{
	bool sve = FIELD(read_sysreg(id_aa64pfr0_el1), 35, 32) != 0;
	unsigned vector = 0;

	sve_set(sve);
	if (sve) {
		/* If this is too long, the CPU uses its longest. */
		write_sysreg(ZCR_EL1, ZCR_LEN);
		isb();
		vector = arm64_sve_vector();
		sve_set(false);
	}
	if (fp.vector == 0)
		fp.vector = vector;
	/* LWPs move between CPUs, so all must have the same length. */
	ASSERT(fp.vector == vector);
}

unsigned
arm64_sve_bytes(void)
{
	return fp.vector;
}

static size_t
regs_bytes(void)
{
	size_t bytes = fp.vector ? SVE_BYTES(fp.vector) : NEON_BYTES;

	return (bytes + FP_ALIGN - 1) & ~(size_t)(FP_ALIGN - 1);
}

struct arm64_fp *
arm64_fp_alloc(void)
{
	return kmalloc(sizeof(struct arm64_fp) + regs_bytes());
}

static void
save_regs(struct arm64_fp *f)
{
	if (f->f_sve)
		arm64_sve_save(f->f_regs);
	else
		arm64_neon_save(f->f_regs);
}

/* A switch from or to an LWP that uses SVE, or a kernel thread. */
static void
switch_slow(struct arm64_fp *from, struct arm64_fp *to)
{
	bool was = from != NULL && from->f_sve, is = to != NULL && to->f_sve;

	if (from != NULL)
		save_regs(from);
	if (was != is)
		sve_set(is);
	if (is)
		arm64_sve_load(to->f_regs);
	else if (to != NULL)
		arm64_neon_load(to->f_regs);
}

void
arm64_fp_switch(struct arm64_fp *from, struct arm64_fp *to)
{
	if (from == NULL || to == NULL || from->f_sve || to->f_sve)
		switch_slow(from, to);
	else
		arm64_neon_switch(from->f_regs, to->f_regs);
}

void
arm64_fp_copy(struct arm64_fp *to, const struct arm64_fp *self)
{
	to->f_sve = self->f_sve;
	save_regs(to);
}

void
arm64_fp_clear(struct arm64_fp *self)
{
	self->f_sve = false;
	sve_set(false);
	arm64_neon_clear();
}

/* The registers beyond NEON may have values of another LWP: clear them. */
static void
turn_sve_on(struct arm64_fp *self)
{
	self->f_sve = true;
	sve_set(true);
	arm64_sve_begin();
}

bool
arm64_fp_use_sve(struct arm64_fp *self)
{
	if (fp.vector == 0 || self->f_sve)
		return false;
	turn_sve_on(self);
	return true;
}

/* The head of an SVE record: the fields of Linux's struct sve_context. */
struct sve_head {
	uint32_t magic, bytes;
	uint16_t vector, flags, reserved[2];
};
_Static_assert(sizeof(struct sve_head) == SVE_HEAD_BYTES, "fp.h");

size_t
arm64_sve_frame_bytes(const struct arm64_fp *self)
{
	return self->f_sve ? regs_bytes() : SVE_HEAD_BYTES;
}

/*
 * A record is laid out as a save area, except that its first 16 bytes are the
 * head instead of FPSR and FPCR.
 */
void
arm64_sve_save_frame(const struct arm64_fp *self, void *record)
{
	arm64_sve_save(record);
	*(struct sve_head *)record =
	    (struct sve_head){ SVE_MAGIC, (uint32_t)arm64_sve_frame_bytes(self),
		    (uint16_t)fp.vector, 0, { 0, 0 } };
}

bool
arm64_sve_frame_good(const void *sve)
{
	const struct sve_head *h = sve;

	return h->vector == fp.vector &&
	       (h->bytes == sizeof *h || h->bytes == regs_bytes());
}

void
arm64_fp_load_frame(struct arm64_fp *self, const void *fpsimd, const void *sve)
{
	const struct sve_head *h = sve;
	bool live = sve != NULL && h->bytes > sizeof *h;

	/* A load that faults half-way leaves the rest as it is. */
	if (live && !self->f_sve)
		turn_sve_on(self);
	else if (!live && self->f_sve)
		sve_set(self->f_sve = false);
	if (live)
		arm64_sve_load_frame(sve, fpsimd);
	else
		arm64_neon_load_frame(fpsimd);
}
