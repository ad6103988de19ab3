/* The kernel uses no more extended state than XCR0 holds, and says so once. */
#include <stdio.h>
#include <string.h>

#include "tests/lib/host/support.h"

#include "arch/x86/cpuid.h"
#include "arch/x86/trap/fpu.h"
#include "arch/x86/trap/xcr0_access.h"

#define X87 0x1
#define SSE 0x2
#define AVX 0x4
#define PKU 0x200
#define ALL (X87 | SSE | AVX | PKU)

struct x86_features x86_features;
static uint64_t xcr0, holds; /* the register, and the bits it keeps */
static bool open_cr4;        /* CR4.OSXSAVE */
static char console[512];

uint64_t
xcr0_read(void)
{
	assert_true(open_cr4);
	return xcr0;
}

void
xcr0_write(uint64_t v)
{
	assert_true(open_cr4);
	xcr0 = v;
}

/* The hypervisor's turn. */
struct cpuid_regs
cpuid(uint32_t leaf, uint32_t subleaf)
{
	xcr0 &= holds;
	return (struct cpuid_regs){ 0 };
}

void
xcr0_close(void)
{
	open_cr4 = false;
}

int fake_printf(const char *fmt, ...);

int
fake_printf(const char *fmt, ...)
{
	size_t n = strlen(console);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(console + n, sizeof console - n, fmt, ap);
	va_end(ap);
	return 0;
}

/* The boot CPU of a machine that holds these bits of XCR0. */
static void
boot(uint64_t bits)
{
	x86_features = (struct x86_features){
		.xsave = true, .xsaveopt = true, .pku = true, .xcr0 = ALL
	};
	xcr0 = X87;
	holds = bits;
	open_cr4 = true;
	console[0] = '\0';
	x86_fpu_enable(true);
	x86_fpu_report();
}

TEST(all_state_is_used)
{
	boot(ALL);
	assert_int_equal(x86_features.xcr0, ALL);
	assert_true(x86_features.xsave && x86_features.xsaveopt);
	assert_true(x86_features.pku && open_cr4);
	assert_string_equal(console, "");
}

/* QEMU 7.2, as a guest of a nested KVM: XSETBV changes another XCR0. */
TEST(without_effect_falls_back_to_fxsave)
{
	boot(X87);
	assert_false(x86_features.xsave || x86_features.xsaveopt);
	assert_false(x86_features.pku || open_cr4);
	assert_int_equal(x86_features.xcr0, 0);
	assert_string_equal(console,
	    "cpu: XCR0 is 0x1 after 0x207 was set: FXSAVE is used, programs "
	    "have no AVX; the emulator or hypervisor does not virtualize "
	    "XSETBV\n");
	/* Another CPU then uses FXSAVE, too. */
	x86_fpu_enable(false);
	assert_int_equal(xcr0, X87);
}

TEST(part_of_the_state_is_used)
{
	boot(X87 | SSE | AVX);
	assert_true(x86_features.xsave && x86_features.xsaveopt && open_cr4);
	assert_int_equal(x86_features.xcr0, X87 | SSE | AVX);
	assert_string_equal(console,
	    "cpu: XCR0 is 0x7 after 0x207 was set: programs have fewer "
	    "registers; the emulator or hypervisor does not virtualize "
	    "XSETBV\n");
	/* Another CPU enables the same. */
	xcr0 = X87;
	x86_fpu_enable(false);
	assert_int_equal(xcr0, X87 | SSE | AVX);
}
