/*
 * One CPU: its identity, its interrupt mask, waiting, and starting other CPUs.
 * Arm ARM (DDI 0487), "MPIDR_EL1", "DAIF", "AMUSERENR_EL0",
 * "ID_AA64MMFR1_EL1" (PAN); "Wait For Interrupt".
 */
#include "kern/sched/cpu.h"
#include "arch/arm64/arm64.h"
#include "arch/arm64/dev/gic.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/sysreg.h"
#include "arch/arm64/trap/fp.h"
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/run_end.h"

#define DAIF_I     (1 << 7)
#define ARRIVAL_US 1000000 /* how long a CPU may take to come up */

struct arm64_cpu arm64_boot_cpu = {
	.ac_cpu = &cpus[0],
	.ac_emergency = (char *)BOOT_EMERGENCY + KSTACK_BYTES,
};
uint32_t arm64_boot_el;
bool arm64_has_pan;

_Static_assert(offsetof(struct cpu, c_arch) == C_ARCH, "asm.h");

struct arm64_cpu *
arm64_curcpu(void)
{
	return arch_curcpu()->c_arch;
}

/*
 * WFI ends at a pending interrupt, even a masked one; then take it.  The same
 * for an SError: the system call that this CPU came from masked it.
 */
void
arch_idle(void)
{
	dsb(sy);
	__asm__ volatile("wfi" : : : "memory");
	__asm__ volatile("msr daifclr, #6" : : : "memory");
	isb();
	__asm__ volatile("msr daifset, #2" : : : "memory");
}

void
arch_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
	if (run_deadline != 0)
		run_deadline_check(NULL);
}

arch_intr_t
arch_intr_disable(void)
{
	uint64_t daif = read_sysreg(daif);

	__asm__ volatile("msr daifset, #2" : : : "memory");
	return daif;
}

void
arch_intr_restore(arch_intr_t s)
{
	__asm__ volatile("msr daif, %0" : : "r"(s) : "memory");
}

bool
arch_intr_enabled(void)
{
	return (read_sysreg(daif) & DAIF_I) == 0;
}

/* Initialise the CPU that calls this.  Every CPU does, the boot CPU too. */
static void
cpu_init(void)
{
	/* Payloads must not read the activity monitors. */
	if (FIELD(read_sysreg(id_aa64pfr0_el1), 47, 44) != 0)
		write_sysreg(AMUSERENR_EL0, 0);
	arm64_has_pan = FIELD(read_sysreg(id_aa64mmfr1_el1), 23, 20) != 0;
	arm64_fp_cpu_init();
	gic_cpu_init();
	arm64_timer_cpu_init();
	pmuv3_cpu_init();
	arm64_ras_take(false);
}

/* The boot CPU becomes CPU 0, wherever the tables list it. */
void
arm64_cpus_init(void)
{
	uint64_t self = read_sysreg(mpidr_el1) & MPIDR_AFFINITY;

	cpu_add(self);
	arm64_boot_cpu.ac_mpidr = self;
	arm64_boot_cpu.ac_pmu_intid = machine_pmu_intid(self);
	for (unsigned i = 0; i < machine.m_ncpu; i++) {
		uint64_t id = i < MAXCPU ? machine.m_cpu[i].mu_mpidr : ~0ULL;

		if (id != self)
			cpu_add(id);
	}
	cpu_init();
}

static struct arm64_cpu *
cpu_data(struct cpu *c)
{
	struct arm64_cpu *ac = kmalloc(sizeof *ac);
	char *stack, *emergency;

	if (ac == NULL)
		return NULL;
	if ((stack = kstack_alloc()) == NULL)
		goto free_data;
	if ((emergency = kstack_alloc()) == NULL)
		goto free_stack;
	ac->ac_cpu = c;
	ac->ac_mpidr = c->c_hwid;
	ac->ac_pmu_intid = machine_pmu_intid(c->c_hwid);
	ac->ac_stack = stack + KSTACK_BYTES;
	ac->ac_emergency = emergency + KSTACK_BYTES;
	return ac;

free_stack:
	kstack_free(stack);
free_data:
	kfree(ac);
	return NULL;
}

/* Let firmware start the CPU, at its own exception level. */
static const char *
power_on(const struct cpu *c)
{
	const struct machine_cpu *mc = machine_cpu(c->c_hwid);

	if (mc != NULL && mc->mu_spins)
		return spin_table_release(mc, (uint64_t)c->c_arch);
	return psci_cpu_on(c->c_hwid,
	    arm64_image_pa((const void *)arm64_secondary_entry),
	    (uint64_t)c->c_arch);
}

/*
 * The first to call this decides.  The new CPU takes part in the run, or the
 * boot CPU goes on without it.
 */
static bool
is_decided(struct arm64_cpu *ac)
{
	return __atomic_exchange_n(&ac->ac_decided, true, __ATOMIC_ACQ_REL);
}

const char *
arch_cpu_start(struct cpu *c)
{
	const char *why;

	if ((c->c_arch = cpu_data(c)) == NULL)
		return "no memory for its stacks";
	/* The new CPU reads this before it turns its caches on. */
	arch_clean(c->c_arch, sizeof(struct arm64_cpu));
	if ((why = power_on(c)) != NULL)
		return why;
	uint64_t give_up = arch_tick() + ARRIVAL_US * arch_tick_hz() / 1000000;
	while (!*(volatile bool *)&c->c_online) {
		if (arch_tick() > give_up)
			return is_decided(c->c_arch)
			           ? NULL
			           : "it does not arrive in time";
		arch_relax();
	}
	return NULL;
}

void
arm64_secondary_main(struct arm64_cpu *ac)
{
	arm64_drop_identity();
	while (is_decided(ac))
		__asm__ volatile("wfi" : : : "memory");
	cpu_init();
	kern_cpu_main(ac->ac_cpu);
}
