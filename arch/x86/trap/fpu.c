/*
 * Save, load and clear the extended state of an LWP.
 *
 * Intel SDM vol. 1, "Managing State Using the XSAVE Feature Set"; vol. 2A,
 * "FXSAVE".
 */
#include "arch/x86/trap/fpu.h"

#include "arch/x86/asm.h"
#include "arch/x86/cpuid.h"
#include "kern/mm/page.h"
#include "lib/printf.h"
#include "lib/string.h"

#define FXSAVE_BYTES 512

/* The start of an area, the same for FXSAVE and XSAVE. */
struct legacy_area {
	uint16_t fcw, fsw;
	uint8_t ftw, pad;
	uint16_t fop;
	uint64_t fip, fdp;
	uint32_t mxcsr, mxcsr_mask;
};

/* The values after FNINIT and a reset: all exceptions are masked. */
#define FCW_CLEAN   0x37f
#define MXCSR_CLEAN 0x1f80

size_t x86_fpu_bytes = FXSAVE_BYTES;
size_t x86_fpu_frame_bytes = FXSAVE_BYTES;

/* The bytes for software in a signal's frame.  Zeros without XSAVE. */
struct sw_bytes {
	uint32_t magic1;
	uint32_t extended_bytes; /* of the area and FPU_MAGIC2 after it */
	uint64_t features;
	uint64_t area_bytes;
};
#define MAGIC2_BYTES       4
#define XSAVE_HEADER_BYTES 64

/* sigcopy.S uses this and x86_fpu_clean. */
struct sw_bytes x86_fpu_sw;

/* To load initial state, XRSTOR reads only the legacy area and the header. */
const union fpu_clean {
	struct legacy_area legacy;
	char bytes[FXSAVE_BYTES + XSAVE_HEADER_BYTES];
} x86_fpu_clean __attribute__((aligned(X86_FPU_ALIGN))) = {
	.legacy = { .fcw = FCW_CLEAN, .mxcsr = MXCSR_CLEAN },
};

void
x86_fpu_init(void)
{
	if (!x86_features.xsave)
		return;
	/* EBX is the size of the components that XCR0 enables. */
	x86_fpu_bytes = cpuid(0xd, 0).b;
	x86_fpu_frame_bytes = x86_fpu_bytes + MAGIC2_BYTES;
	x86_fpu_sw.magic1 = FPU_MAGIC1;
	x86_fpu_sw.extended_bytes = (uint32_t)x86_fpu_frame_bytes;
	x86_fpu_sw.features = x86_features.xcr0;
	x86_fpu_sw.area_bytes = x86_fpu_bytes;
}

void *
x86_fpu_alloc(void)
{
	void *area = kmalloc(x86_fpu_bytes);

	if (area != NULL) {
		ASSERT((uintptr_t)area % X86_FPU_ALIGN == 0);
		x86_fpu_clear(area);
	}
	return area;
}

/* A header of zeros means initial state for every component. */
void
x86_fpu_clear(void *area)
{
	struct legacy_area *a = area;

	memset(area, 0, x86_fpu_bytes);
	a->fcw = FCW_CLEAN;
	a->mxcsr = MXCSR_CLEAN;
}

void
x86_fpu_save(void *area)
{
	if (x86_features.xsaveopt)
		__asm__ volatile("xsaveopt64 (%0)"
				 :
				 : "r"(area), "a"(-1), "d"(-1)
				 : "memory");
	else if (x86_features.xsave)
		__asm__ volatile("xsave64 (%0)"
				 :
				 : "r"(area), "a"(-1), "d"(-1)
				 : "memory");
	else
		__asm__ volatile("fxsave64 (%0)" : : "r"(area) : "memory");
}

void
x86_fpu_load(const void *area)
{
	if (x86_features.xsave)
		__asm__ volatile("xrstor64 (%0)"
				 :
				 : "r"(area), "a"(-1), "d"(-1)
				 : "memory");
	else
		__asm__ volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
}
