/*
 * Find the CPUs in ACPI's tables, and start them.
 *
 * ACPI Specification 6.4, "Multiple APIC Description Table (MADT)"; Intel
 * SDM vol. 3A, "MP Initialization Protocol Algorithm".
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/dev/apic.h"
#include "arch/x86/dev/timer.h"
#include "arch/x86/insn.h"
#include "arch/x86/mm/pt.h"
#include "arch/x86/pmu/pmu.h"
#include "arch/x86/topology.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "lib/string.h"

/* MADT: the offset of its entries, their types and sizes. */
#define MADT_ENTRIES    44
#define MADT_APIC       0
#define MADT_APIC_BYTES 8
#define MADT_IOAPIC     1
#define MADT_IO_BYTES   12
#define MADT_X2APIC     9
#define MADT_X2_BYTES   16
#define MADT_ENABLED    0x1
#define APIC_ID_ALL     0xff /* broadcast; xAPIC ids are below it */

/* The time that a CPU may take from INIT to C code. */
#define ARRIVAL_MS 200

/*
 * The I/O APIC's registers are read and written by index and data.
 * Intel 82093AA, "I/O APIC Registers".
 */
#define IOAPIC_INDEX    0x00
#define IOAPIC_DATA     0x10
#define IOAPIC_VERSION  1
#define IOAPIC_REDIR(n) (0x10 + 2 * (n))
#define IOAPIC_MASKED   0x10000
#define IOAPIC_BYTES    0x20

/* The values that trampoline.S reads. */
struct trampoline_args {
	uint64_t only; /* the x2APIC id of the only CPU to start, or ANY_CPU */
	uint64_t root, efer, stack;
	struct x86_cpu *cpu;
	void (*entry)(struct x86_cpu *xc);
};

extern char x86_trampoline[], x86_trampoline_end[], x86_trampoline_args[];

static bool trampoline_free;

/*
 * There are ids from 255 on.  A CPU that has not started is in xAPIC mode,
 * unless firmware changed that.  There it knows 8 bits of its id, and takes
 * what is sent to the id 255 as sent to all.  So it may take another CPU's
 * STARTUP, and the trampoline must compare the whole id.
 */
static bool ids_are_ambiguous;

void
x86_smp_reserve(struct bootinfo *bi)
{
	trampoline_free = bootinfo_take(bi, PAGE_SIZE, PAGE_SIZE, TRAMPOLINE_PA,
			      TRAMPOLINE_PA + PAGE_SIZE) != 0;
}

static void
add_cpu(uint32_t apic_id)
{
	struct cpu *c;

	/* A CPU may have an entry of both kinds. */
	for (unsigned i = 0; i < ncpu; i++)
		if (cpus[i].c_hwid == apic_id)
			return;
	if ((c = cpu_add(apic_id)) != NULL && c->c_id == 0)
		c->c_arch = &x86_boot_cpu;
}

static void
mask_ioapic(uint32_t pa)
{
	volatile uint32_t *io = arch_map_device(pa, IOAPIC_BYTES);
	unsigned last;

	if (io == NULL)
		return;
	mmio_write32(&io[IOAPIC_INDEX / 4], IOAPIC_VERSION);
	last = FIELD(mmio_read32(&io[IOAPIC_DATA / 4]), 23, 16);
	for (unsigned n = 0; n <= last; n++) {
		mmio_write32(&io[IOAPIC_INDEX / 4], IOAPIC_REDIR(n));
		mmio_write32(&io[IOAPIC_DATA / 4], IOAPIC_MASKED);
	}
}

static void
madt_entry(const unsigned char *e, unsigned bytes)
{
	if (e[0] == MADT_APIC && bytes >= MADT_APIC_BYTES) {
		if ((acpi_u32(e + 4) & MADT_ENABLED) != 0 &&
		    e[3] != APIC_ID_ALL)
			add_cpu(e[3]);
	} else if (e[0] == MADT_X2APIC && bytes >= MADT_X2_BYTES) {
		uint32_t id = acpi_u32(e + 4);

		if ((acpi_u32(e + 8) & MADT_ENABLED) == 0)
			return;
		ids_are_ambiguous |= id >= APIC_ID_ALL;
		if (x86_apic.xa_x2 || id < APIC_ID_ALL)
			add_cpu(id);
	} else if (e[0] == MADT_IOAPIC && bytes >= MADT_IO_BYTES) {
		mask_ioapic(acpi_u32(e + 4));
	}
}

void
x86_smp_init(void)
{
	const unsigned char *madt;
	uint32_t n, at = MADT_ENTRIES;

	add_cpu(x86_apic_id());
	if ((madt = acpi_table("APIC", &n)) == NULL)
		return;
	while (at + 2 <= n && madt[at + 1] >= 2 && at + madt[at + 1] <= n) {
		madt_entry(madt + at, madt[at + 1]);
		at += madt[at + 1];
	}
}

/* Starting */

static void
delay_us(uint64_t us)
{
	uint64_t until = arch_tick() + us * (arch_tick_hz() / 1000000);

	while (arch_tick() < until)
		arch_relax();
}

static void
free_cpu(struct x86_cpu *xc)
{
	for (unsigned i = 0; i < NIST && xc->xc_tss.t_ist[i] != 0; i++)
		kstack_free((char *)xc->xc_tss.t_ist[i] - KSTACK_BYTES);
	kfree(xc);
}

/* Make the data of a CPU, with all its stacks.  NULL: no memory. */
static struct x86_cpu *
new_cpu(struct cpu *c)
{
	struct x86_cpu *xc = kmalloc(sizeof *xc);

	if (xc == NULL)
		return NULL;
	xc->xc_self = xc;
	xc->xc_cpu = c;
	for (unsigned i = 0; i < NIST; i++) {
		char *stack = kstack_alloc();

		if (stack == NULL) {
			free_cpu(xc);
			return NULL;
		}
		xc->xc_tss.t_ist[i] = (uintptr_t)stack + KSTACK_BYTES;
	}
	xc->xc_tss.t_ist[IST_INTR - 1] = (uintptr_t)c->c_idle->l_kstack_top;
	return xc;
}

/* The first C code of a new CPU.  It runs on the stack of its idle LWP. */
static _Noreturn void
ap_main(struct x86_cpu *xc)
{
	clear_breakpoints();
	xc->xc_root = x86_root;
	x86_cpuid_unlimit();
	x86_cpu_init(xc);
	__atomic_store_n(&xc->xc_arrived, true, __ATOMIC_RELEASE);
	x86_mcheck_init_cpu();
	x86_apic_init_cpu();
	x86_timer_init_cpu();
	x86_topology_init_cpu();
	x86_pmu_init_cpu();
	x86_power_init(&xc->xc_power);
	x86_tsc_answer(xc->xc_cpu);
	kern_cpu_main(xc->xc_cpu);
}

static void
fill_trampoline(struct x86_cpu *xc)
{
	char *page = pa_to_va(TRAMPOLINE_PA);
	struct trampoline_args args = {
		.only = x86_apic.xa_x2 && ids_are_ambiguous ? xc->xc_cpu->c_hwid
		                                            : ANY_CPU,
		.root = x86_root,
		.efer = rdmsr(MSR_EFER) & (EFER_LME | EFER_NXE),
		.stack = (uintptr_t)arch_lwp_frame(xc->xc_cpu->c_idle),
		.cpu = xc,
		.entry = ap_main,
	};

	memcpy(page, x86_trampoline,
	    (size_t)(x86_trampoline_end - x86_trampoline));
	memcpy(
	    page + (x86_trampoline_args - x86_trampoline), &args, sizeof args);
}

/* Wait until the CPU no longer needs the trampoline. */
static bool
wait_arrival(const struct x86_cpu *xc, uint64_t us)
{
	uint64_t until = arch_tick() + us * (arch_tick_hz() / 1000000);

	while (!__atomic_load_n(&xc->xc_arrived, __ATOMIC_ACQUIRE)) {
		if (arch_tick() > until)
			return false;
		arch_relax();
	}
	return true;
}

/*
 * INIT, then STARTUP, and a second one if the first did not work.  Hardware
 * needs the long wait to come out of reset.  INIT comes before the trampoline
 * names the CPU: the CPU may be there already.  Returns false if it does not
 * arrive.
 */
static bool
send_init(uint32_t apic_id, struct x86_cpu *xc)
{
	uint32_t startup =
	    APIC_ICR_ASSERT | APIC_ICR_STARTUP | TRAMPOLINE_PA / PAGE_SIZE;

	x86_apic_send(apic_id, APIC_ICR_ASSERT | APIC_ICR_INIT);
	delay_us(x86_features.hypervised ? 10 : 10000);
	fill_trampoline(xc);
	x86_apic_send(apic_id, startup);
	if (wait_arrival(xc, 200))
		return true;
	x86_apic_send(apic_id, startup);
	return wait_arrival(xc, ARRIVAL_MS * 1000);
}

const char *
arch_cpu_start(struct cpu *cpu)
{
	struct x86_cpu *xc;
	size_t bytes;

	if (!trampoline_free)
		return "no free page below 1 MiB";
	if ((xc = new_cpu(cpu)) == NULL)
		return "no memory for its stacks";
	/*
	 * Map the trampoline at its physical address in the kernel's tables,
	 * whose lower half is otherwise empty.
	 */
	if (x86_pt_map(x86_root, TRAMPOLINE_PA, TRAMPOLINE_PA, PAGE_SIZE,
		PT_LEAF, PAGE_SIZE) == 0) {
		free_cpu(xc);
		return "no memory for a page table";
	}
	cpu->c_arch = xc;
	x86_tsc_expect(cpu);
	bool arrived = send_init((uint32_t)cpu->c_hwid, xc);
	/*
	 * A CPU that is late must not take the data of the next one: after
	 * INIT it waits for a STARTUP, which does not come.  Its own data may
	 * be in use until then, so they stay.
	 */
	if (!arrived) {
		x86_apic_send(
		    (uint32_t)cpu->c_hwid, APIC_ICR_ASSERT | APIC_ICR_INIT);
		delay_us(10000);
		xc->xc_root = 0; /* x86_flush_others() must not wait for it */
	}
	uint64_t *leaf = x86_pt_leaf(x86_root, TRAMPOLINE_PA, &bytes);
	*leaf = 0;
	invlpg(TRAMPOLINE_PA);
	x86_tsc_compare(cpu, arrived);
	return arrived ? NULL : "it does not arrive in time";
}
