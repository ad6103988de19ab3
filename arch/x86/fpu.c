/*
 * Intel SDM vol. 1, "Managing State Using the XSAVE Feature Set"; vol. 2A,
 * "FXSAVE".
 */
#include "arch/x86/fpu.h"

#include "arch/x86/cpuid.h"
#include "kern/page.h"
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

/* What FNINIT and a reset leave: all exceptions masked. */
#define FCW_CLEAN   0x37f
#define MXCSR_CLEAN 0x1f80

static size_t area_bytes = FXSAVE_BYTES;
size_t x86_fpu_frame_bytes = FXSAVE_BYTES;

/*
 * Bytes 464 to 511 of the legacy area are software's.  Linux,
 * uapi/asm/sigcontext.h, struct _fpx_sw_bytes.
 */
#define SW_OFFSET 464
struct sw_bytes {
	uint32_t magic1;
	uint32_t extended_bytes; /* the area's, with magic2 behind it */
	uint64_t features;
	uint64_t area_bytes;
	uint64_t pad[3];
};
#define MAGIC1           0x46505853
#define MAGIC2           0x46505845
#define MAGIC2_BYTES     4
#define XSAVE_HEADER     512
#define XSAVE_HEADER_END 576

/* Of this machine's frames: zeros where there is no XSAVE. */
static struct sw_bytes sw_bytes;

void
x86_fpu_init(void)
{
	if (!x86_features.xsave)
		return;
	/* EBX is what the components XCR0 enables now need. */
	area_bytes = cpuid(0xd, 0).b;
	x86_fpu_frame_bytes = area_bytes + MAGIC2_BYTES;
	sw_bytes.magic1 = MAGIC1;
	sw_bytes.extended_bytes = (uint32_t)x86_fpu_frame_bytes;
	sw_bytes.features = x86_features.xcr0;
	sw_bytes.area_bytes = area_bytes;
}

size_t
x86_fpu_bytes(void)
{
	return area_bytes;
}

void *
x86_fpu_alloc(void)
{
	void *area = kmalloc(area_bytes);

	if (area != NULL) {
		ASSERT((uintptr_t)area % X86_FPU_ALIGN == 0);
		x86_fpu_clear(area);
	}
	return area;
}

void
x86_fpu_free(void *area)
{
	kfree(area);
}

/* A header of zeros says "initial state" for every component. */
void
x86_fpu_clear(void *area)
{
	struct legacy_area *a = area;

	memset(area, 0, area_bytes);
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

/* In words: part of every signal, and no call of memset() or memcpy(). */
void
x86_fpu_save_frame(void *area)
{
	char *a = area;
	uint64_t *header = (uint64_t *)(a + XSAVE_HEADER);
	struct sw_bytes *sw = (struct sw_bytes *)(a + SW_OFFSET);

	if (x86_features.xsave) {
		/* XSAVE itself leaves its reserved bytes as they are. */
#pragma GCC unroll 8
		for (unsigned i = 0; i < 8; i++)
			header[i] = 0;
		__asm__ volatile("xsave64 (%0)"
				 :
				 : "r"(area), "a"(-1), "d"(-1)
				 : "memory");
		*(uint32_t *)(a + area_bytes) = MAGIC2;
	} else {
		__asm__ volatile("fxsave64 (%0)" : : "r"(area) : "memory");
	}
	*(uint64_t *)&sw->magic1 = *(const uint64_t *)&sw_bytes.magic1;
	sw->features = sw_bytes.features;
	sw->area_bytes = sw_bytes.area_bytes;
	sw->pad[0] = sw->pad[1] = sw->pad[2] = 0;
}

void
x86_fpu_load_frame(const void *area)
{
	const char *a = area;
	const struct sw_bytes *sw = (const struct sw_bytes *)(a + SW_OFFSET);

	if (x86_features.xsave && sw->magic1 == MAGIC1 &&
	    sw->area_bytes == area_bytes &&
	    *(const uint32_t *)(a + area_bytes) == MAGIC2) {
		x86_fpu_load(area);
		return;
	}
	x86_fpu_reset();
	__asm__ volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
}

/* XRSTOR of initial state reads no more than legacy area and header. */
void
x86_fpu_reset(void)
{
	static const union {
		struct legacy_area legacy;
		char bytes[XSAVE_HEADER_END];
	} clean __attribute__((aligned(X86_FPU_ALIGN))) = {
		.legacy = { .fcw = FCW_CLEAN, .mxcsr = MXCSR_CLEAN },
	};

	x86_fpu_load(&clean);
}
