/*
 * CPUID: read leaves safely, and note the features of the boot CPU.
 *
 * Intel SDM vol. 2A, "CPUID"; AMD APM vol. 3, "Obtaining Processor
 * Information Via the CPUID Instruction".
 */
#include "arch/x86/cpuid.h"

#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "lib/string.h"

struct x86_features x86_features;

static struct cpuid_regs
cpuid_raw(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_regs r;

	__asm__ volatile("cpuid"
			 : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

/*
 * A CPU answers for a leaf beyond the maximum with the values of another leaf.
 * So ask for the maximum of the range first: standard, hypervisor or extended.
 * Hypervisors have several ranges, one every 100H.
 */
struct cpuid_regs
cpuid(uint32_t leaf, uint32_t subleaf)
{
	bool hypervisor = leaf >> 28 == 4;
	uint32_t mask = hypervisor ? 0xffffff00 : 0xf0000000;
	uint32_t range = leaf & mask;
	uint32_t max = cpuid_raw(range, 0).a;

	if (hypervisor && !x86_features.hypervised)
		return (struct cpuid_regs){ 0, 0, 0, 0 };
	if (leaf > max || (max & mask) != range)
		return (struct cpuid_regs){ 0, 0, 0, 0 };
	return cpuid_raw(leaf, subleaf);
}

/* Twelve characters in three registers. */
static void
name_of(char name[13], uint32_t r0, uint32_t r1, uint32_t r2)
{
	const uint32_t r[3] = { r0, r1, r2 };

	memcpy(name, r, sizeof r);
	name[12] = '\0';
}

static void
read_signature(struct x86_features *f, uint32_t eax)
{
	f->family = FIELD(eax, 11, 8);
	f->model = FIELD(eax, 7, 4);
	f->stepping = FIELD(eax, 3, 0);
	if (f->family == 6 || f->family == 15)
		f->model |= FIELD(eax, 19, 16) << 4;
	if (f->family == 15)
		f->family += FIELD(eax, 27, 20);
}

static void
read_brand(struct x86_features *f)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct cpuid_regs r = cpuid(0x80000002 + i, 0);

		memcpy(f->brand + i * sizeof r, &r, sizeof r);
	}
	f->brand[48] = '\0';
}

/*
 * Firmware can limit CPUID to leaf 3, for systems that do not bear more leaves.
 * That hides the PMU.  Every part with 64-bit mode has more leaves, so remove
 * the limit.
 * Intel SDM vol. 4, "IA-32 Architectural MSRs" (1A0H, "Limit CPUID Maxval").
 */
void
x86_cpuid_unlimit(void)
{
	struct cpuid_regs r = cpuid_raw(0, 0);
	char vendor[13];

	name_of(vendor, r.b, r.d, r.c);
	if (r.a < 4 && strcmp(vendor, "GenuineIntel") == 0 &&
	    FIELD(cpuid_raw(1, 0).c, 31, 31) == 0)
		wrmsr(IA32_MISC_ENABLE,
		    rdmsr(IA32_MISC_ENABLE) & ~MISC_ENABLE_LIMITS_CPUID);
}

static void
read_hypervisor(struct x86_features *f, bool hypervised)
{
	struct cpuid_regs r;

	f->hypervised = hypervised;
	if (hypervised) {
		r = cpuid(0x40000000, 0);
		name_of(f->hypervisor, r.b, r.c, r.d);
	}
}

/*
 * QEMU 7.2's TCG takes CR4.OSXSAVE as reserved on a CPU whose XSAVE has no
 * extension, such as Opteron_G5.  There the write does not raise #GP but never
 * ends.  So XSAVE is not used there.
 */
static void
read_xsave(struct x86_features *f)
{
	struct cpuid_regs r = cpuid(0xd, 0);
	uint32_t extensions = cpuid(0xd, 1).a;

	if (extensions == 0 && strcmp(f->hypervisor, "TCGTCGTCGTCG") == 0) {
		f->xsave = false;
		return;
	}
	f->xcr0 = (uint64_t)r.d << 32 | r.a;
	f->xsaveopt = FIELD(extensions, 0, 0);
}

void
x86_features_init(void)
{
	struct x86_features *f = &x86_features;

	x86_cpuid_unlimit();
	struct cpuid_regs r = cpuid(0, 0);
	name_of(f->vendor, r.b, r.d, r.c);
	r = cpuid(1, 0);
	read_signature(f, r.a);
	f->apic = FIELD(r.d, 9, 9);
	f->mca = FIELD(r.d, 14, 14);
	f->x2apic = FIELD(r.c, 21, 21);
	f->tsc_deadline = FIELD(r.c, 24, 24);
	f->xsave = FIELD(r.c, 26, 26);
	read_hypervisor(f, FIELD(r.c, 31, 31));
	r = cpuid(7, 0);
	f->smep = FIELD(r.b, 7, 7);
	f->smap = FIELD(r.b, 20, 20);
	f->umip = FIELD(r.c, 2, 2);
	f->pku = FIELD(r.c, 3, 3);
	if (f->xsave)
		read_xsave(f);
	r = cpuid(0x80000001, 0);
	f->nx = FIELD(r.d, 20, 20);
	f->gib_pages = FIELD(r.d, 26, 26);
	f->invariant_tsc = FIELD(cpuid(0x80000007, 0).d, 8, 8);
	read_brand(f);
}
