/*
 * Enable the extended state of a CPU in XCR0, and find out if XCR0 holds it.
 *
 * An emulator may set the XCR0 of another machine: QEMU 7.2 does so for the
 * guest of a nested hypervisor.  The hypervisor then puts the old value back at
 * its next turn, and XSAVE leaves out registers without an error.
 *
 * Intel SDM vol. 1, "Enabling the XSAVE Feature Set and XSAVE-Enabled
 * Features"; vol. 2D, "XSETBV".
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/trap/fpu.h"
#include "arch/x86/trap/xcr0_access.h"
#include "lib/printf.h"

#define XCR0_X87_SSE 0x3 /* the least that replaces FXSAVE */

static uint64_t asked, held;

/* Set XCR0, and return what it holds after a hypervisor's next turn. */
static uint64_t
set_xcr0(uint64_t v)
{
	xcr0_write(v);
	cpuid(0, 0); /* hypervisors emulate CPUID */
	return xcr0_read();
}

/* Use what the boot CPU holds: fewer components, or FXSAVE. */
static void
fall_back(struct x86_features *f)
{
	f->xcr0 = held;
	if ((held & XCR0_X87_SSE) == XCR0_X87_SSE)
		return;
	f->xcr0 = 0;
	f->xsave = f->xsaveopt = f->pku = false;
	xcr0_close();
}

void
x86_fpu_enable(bool boot_cpu)
{
	struct x86_features *f = &x86_features;

	if (!f->xsave)
		return;
	asked = f->xcr0;
	held = set_xcr0(asked);
	if (held != asked && !boot_cpu)
		panic("cpu: XCR0 is %#lx after %#lx was set, unlike the boot "
		      "CPU's: boot with cpus=1",
		    held, asked);
	if (held != asked)
		fall_back(f);
}

void
x86_fpu_report(void)
{
	if (held != asked)
		printf("cpu: XCR0 is %#lx after %#lx was set: %s; the emulator "
		       "or hypervisor does not virtualize XSETBV\n",
		    held, asked,
		    x86_features.xsave
			? "programs have fewer registers"
			: "FXSAVE is used, programs have no AVX");
}
