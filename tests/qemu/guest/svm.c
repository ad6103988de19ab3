/*
 * SVM guests: which instructions count for the guest and which for the host,
 * and that XSETBV is intercepted.  The guest uses the host's page tables and
 * segments.  Its code is in bodies.S.
 *
 * AMD64 APM vol. 2, "Secure Virtual Machine", "Performance Event-Select
 * Registers"; appendix B, "VMCB Layout"; appendix C, "SVM Intercept Exit
 * Codes".
 */
#include "guest.h"

#define EFER      0xc0000080
#define EFER_SVME (1u << 12)
#define HSAVE_PA  0xc0010117

#define GUESTONLY (1ull << 40)
#define HOSTONLY  (1ull << 41)

/* Offsets in the VMCB */
#define EXCEPTIONS 0x008
#define INTERCEPT  0x00c
#define ASID       0x058
#define EXIT_CODE  0x070
#define SAVE_ES    0x400
#define SAVE_CS    0x410
#define SAVE_SS    0x420
#define SAVE_DS    0x430
#define SAVE_GDTR  0x460
#define SAVE_IDTR  0x480
#define SAVE_EFER  0x4d0
#define SAVE_CR4   0x548
#define SAVE_CR3   0x550
#define SAVE_CR0   0x558
#define SAVE_DR7   0x560
#define SAVE_DR6   0x568
#define SAVE_FLAGS 0x570
#define SAVE_RIP   0x578
#define SAVE_RSP   0x5d8

#define EXIT_UD      0x46
#define EXIT_NMI     0x61
#define EXIT_VMMCALL 0x81
#define EXIT_XSETBV  0x8d
#define STOPS(exit)  (1ull << ((exit)-0x60)) /* its bit in INTERCEPT */
#define EXIT_VMRUN   0x80

#define CR4_OSXSAVE (1u << 18)
#define LVT_PMI     0x340
#define LVT_NMI     (4u << 8)

body_fn body_guest, body_nops;
extern char svm_loop[], svm_nops[], svm_xsetbv[];
extern uint8_t svm_vmcb[4096];
static uint8_t hsave[4096] __attribute__((aligned(4096)));
static uint8_t guest_stack[256] __attribute__((aligned(16)));

static uint64_t
vmcb_read(unsigned at)
{
	return *(uint64_t *)(svm_vmcb + at);
}

static void
vmcb_write(unsigned at, uint64_t value)
{
	*(volatile uint64_t *)(svm_vmcb + at) = value;
}

/* Selector, attributes, limit, base */
static void
vmcb_segment(unsigned at, uint16_t selector, uint16_t attributes)
{
	vmcb_write(
	    at, selector | (uint64_t)attributes << 16 | 0xffffffffull << 32);
	vmcb_write(at + 8, 0);
}

static void
vmcb_table(unsigned at, const void *table)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) p;

	__builtin_memcpy(&p, table, sizeof(p));
	vmcb_write(at, (uint64_t)p.limit << 32);
	vmcb_write(at + 8, p.base);
}

#define READ_REGISTER(name)                                                    \
	({                                                                     \
		uint64_t v;                                                    \
		__asm__ volatile("mov %%" name ", %0" : "=r"(v));              \
		v;                                                             \
	})

/* Set up a guest that runs this code, with these intercepts. */
static void
prepare_guest(char *code, uint64_t intercept, bool osxsave)
{
	uint8_t table[10];
	uint64_t cr4 = READ_REGISTER("cr4") & ~(uint64_t)CR4_OSXSAVE;

	for (unsigned i = 0; i < sizeof(svm_vmcb); i += 8)
		vmcb_write(i, 0);
	vmcb_write(
	    INTERCEPT, intercept | STOPS(EXIT_VMRUN) | STOPS(EXIT_VMMCALL));
	*(volatile uint32_t *)(svm_vmcb + EXCEPTIONS) = 1u << (EXIT_UD - 0x40);
	*(volatile uint32_t *)(svm_vmcb + ASID) = 1;
	vmcb_segment(SAVE_CS, 0x18, 0xa9b);
	vmcb_segment(SAVE_SS, 0x10, 0xc93);
	vmcb_segment(SAVE_DS, 0x10, 0xc93);
	vmcb_segment(SAVE_ES, 0x10, 0xc93);
	__asm__ volatile("sgdt %0" : "=m"(table));
	vmcb_table(SAVE_GDTR, table);
	__asm__ volatile("sidt %0" : "=m"(table));
	vmcb_table(SAVE_IDTR, table);
	vmcb_write(SAVE_EFER, rdmsr(EFER));
	vmcb_write(SAVE_CR0, READ_REGISTER("cr0"));
	vmcb_write(SAVE_CR3, READ_REGISTER("cr3"));
	vmcb_write(SAVE_CR4, cr4 | (osxsave ? CR4_OSXSAVE : 0));
	vmcb_write(SAVE_DR6, 0xffff0ff0);
	vmcb_write(SAVE_DR7, 0x400);
	vmcb_write(SAVE_FLAGS, 2);
	vmcb_write(SAVE_RIP, (uint64_t)code);
	vmcb_write(SAVE_RSP, (uint64_t)(guest_stack + sizeof(guest_stack)));
}

static uint64_t
count_guest(uint64_t flags, uint32_t n)
{
	prepare_guest(svm_loop, 0, false);
	return pmu_run(body_guest, 0, INSTRUCTIONS, EVTSEL_OS | flags, n);
}

/* The host retires 4 instructions, the guest 1 and 2 a turn. */
static void
test_owner(void)
{
	check("guest and host", count_guest(0, 1000), 4 + 2001);
	check("GuestOnly: the guest only", count_guest(GUESTONLY, 1000), 2001);
	check("GuestOnly: one turn of its loop", count_guest(GUESTONLY, 1), 3);
	check("HostOnly: the host only", count_guest(HOSTONLY, 1000), 4);
	check(
	    "HostOnly: independent of the guest", count_guest(HOSTONLY, 1), 4);
	check("both: guest and host", count_guest(GUESTONLY | HOSTONLY, 1000),
	    4 + 2001);
	check("the guest ended by VMMCALL", vmcb_read(EXIT_CODE), EXIT_VMMCALL);
	check("HostOnly without a guest",
	    pmu_run(body_nops, 0, INSTRUCTIONS, EVTSEL_OS | HOSTONLY, 0), 11);
	check("GuestOnly without a guest",
	    pmu_run(body_nops, 0, INSTRUCTIONS, EVTSEL_OS | GUESTONLY, 0), 0);
}

/* The guest's sixth does not run: the host gets the NMI. */
static void
test_overflow(void)
{
	prepare_guest(svm_nops, STOPS(EXIT_NMI), false);
	lapic_write(LVT_PMI, LVT_NMI);
	struct start s = pmu_setup(
	    0, INSTRUCTIONS, EVTSEL_OS | EVTSEL_INT | GUESTONLY, -5ull);
	body_guest(s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, 0);
	pmu_stop();
	pmu_clear_status();
	check(
	    "GuestOnly overflows in the guest", vmcb_read(EXIT_CODE), EXIT_NMI);
	check("after the fifth instruction",
	    vmcb_read(SAVE_RIP) - (uint64_t)svm_nops, 5);
}

static uint64_t
read_xcr0(void)
{
	uint32_t lo, hi;

	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return (uint64_t)hi << 32 | lo;
}

static uint64_t
exit_of_xsetbv(uint64_t intercept, bool osxsave)
{
	prepare_guest(svm_xsetbv, intercept, osxsave);
	pmu_run(body_guest, 0, INSTRUCTIONS, EVTSEL_OS, 0);
	return vmcb_read(EXIT_CODE);
}

static void
test_xsetbv(void)
{
	uint64_t cr4 = READ_REGISTER("cr4");
	uint32_t b, c, d;

	cpuid(1, &b, &c, &d);
	if ((c & 1u << 26) == 0) {
		skip("XSETBV is intercepted", "no XSAVE");
		return;
	}
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4 | CR4_OSXSAVE));
	check("XCR0 at reset", read_xcr0(), 1);
	check("XSETBV is intercepted", exit_of_xsetbv(STOPS(EXIT_XSETBV), true),
	    EXIT_XSETBV);
	check("the intercepted XSETBV is not executed", read_xcr0(), 1);
	check("#UD has priority over the intercept",
	    exit_of_xsetbv(STOPS(EXIT_XSETBV), false), EXIT_UD);
	check("without the intercept the guest continues",
	    exit_of_xsetbv(0, true), EXIT_VMMCALL);
	check("the guest has set XCR0", read_xcr0(), 3);
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4));
}

void
test_svm(void)
{
	uint32_t b, c, d;

	cpuid(0x80000001, &b, &c, &d);
	check("this CPU has SVM", c >> 2 & 1, 1);
	check("HostOnly with EFER.SVME 0",
	    pmu_run(body_nops, 0, INSTRUCTIONS, EVTSEL_OS | HOSTONLY, 0), 0);
	check("both bits with EFER.SVME 0",
	    pmu_run(body_nops, 0, INSTRUCTIONS,
		EVTSEL_OS | GUESTONLY | HOSTONLY, 0),
	    0);
	wrmsr(EFER, rdmsr(EFER) | EFER_SVME);
	wrmsr(HSAVE_PA, (uint64_t)hsave);
	test_owner();
	test_overflow();
	test_xsetbv();
	wrmsr(EFER, rdmsr(EFER) & ~(uint64_t)EFER_SVME);
	check("EFER.SVME 0 again: neither bit counts all",
	    pmu_run(body_nops, 0, INSTRUCTIONS, EVTSEL_OS, 0), 11);
}
