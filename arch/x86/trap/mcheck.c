/*
 * Machine checks: enable the banks at boot, and report their errors.
 *
 * Intel SDM vol. 3B, "Machine-Check MSRs", "Machine-Check Initialization" and
 * "Guidelines for Writing Machine-Check Software"; AMD APM vol. 2 (24593),
 * "Machine-Check Architecture MSRs".
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/console.h"
#include "kern/platform/lock.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/text.h"

#define BANKS_MAX 32 /* these banks have consecutive registers */

/*
 * The time that the first CPU waits for the others.  A machine check of a
 * package hits all its CPUs.  Each prints its banks; the first ends the run.
 */
#define OTHERS_MS 20

static struct spinlock report_lock;
static bool ending;

static unsigned
count_banks(void)
{
	uint64_t cap = 0;

	if (!x86_features.mca || x86_rdmsr_safe(IA32_MCG_CAP, &cap) != 0)
		return 0;
	unsigned n = (unsigned)(cap & MCG_CAP_COUNT);
	return n < BANKS_MAX ? n : BANKS_MAX;
}

void
x86_mcheck_init_cpu(void)
{
	unsigned n = count_banks();
	uint64_t cap = 0;

	if (n > 0 && x86_rdmsr_safe(IA32_MCG_CAP, &cap) == 0 &&
	    (cap & MCG_CAP_CTL) != 0)
		x86_wrmsr_safe(IA32_MCG_CTL, ~0ULL);
	for (unsigned i = 0; i < n; i++) {
		/* On early family 6, firmware controls bank 0. */
		if (i > 0 || x86_features.family != 6 ||
		    x86_features.model >= 0x1a)
			x86_wrmsr_safe(IA32_MC_CTL(i), ~0ULL);
		x86_wrmsr_safe(IA32_MC_STATUS(i), 0);
	}
}

/*
 * Print a line if the bank holds an error.  Leave out fields not valid.  The
 * line is printed at once: others may print at the same time.
 */
static bool
print_bank(unsigned i)
{
	uint64_t status = 0, v = 0;
	char line[160];
	struct text t = { line, sizeof line, 0 };

	if (x86_rdmsr_safe(IA32_MC_STATUS(i), &status) != 0 ||
	    (status & MC_STATUS_VAL) == 0)
		return false;
	text_add(&t, "CPU %u bank %u: status %#lx (%s%s)", arch_curcpu()->c_id,
	    i, status, status & MC_STATUS_UC ? "uncorrected" : "corrected",
	    status & MC_STATUS_PCC ? ", state lost" : "");
	if ((status & MC_STATUS_ADDRV) != 0 &&
	    x86_rdmsr_safe(IA32_MC_ADDR(i), &v) == 0)
		text_add(&t, ", address %#lx", v);
	if ((status & MC_STATUS_MISCV) != 0 &&
	    x86_rdmsr_safe(IA32_MC_MISC(i), &v) == 0)
		text_add(&t, ", misc %#lx", v);
	printf("cpu: machine check: %s\n", line);
	return true;
}

static void
print_banks(void)
{
	unsigned n = count_banks(), errors = 0;

	lock_acquire(&report_lock);
	for (unsigned i = 0; i < n; i++)
		errors += print_bank(i);
	if (errors == 0)
		printf("cpu: machine check: CPU %u: no error in its %u "
		       "banks\n",
		    arch_curcpu()->c_id, n);
	lock_release(&report_lock);
}

/* Without the lock: a machine check in between would wait for it for ever. */
unsigned
x86_mcheck_take(void)
{
	unsigned n = count_banks(), errors = 0;
	uint64_t status;

	for (unsigned i = 0; i < n; i++) {
		if (x86_rdmsr_safe(IA32_MC_STATUS(i), &status) != 0 ||
		    (status & MC_STATUS_VAL) == 0)
			continue;
		errors += print_bank(i);
		x86_wrmsr_safe(IA32_MC_STATUS(i), 0);
	}
	return errors;
}

void
x86_mcheck(const struct trapframe *tf)
{
	bool first = !__atomic_exchange_n(&ending, true, __ATOMIC_ACQ_REL);
	uint64_t status = 0, until;

	cons_seize(true);
	print_banks();
	if (!first)
		x86_stop();
	until = rdtsc() + arch_tick_hz() / 1000 * OTHERS_MS;
	while (ncpu > 1 && rdtsc() < until)
		__builtin_ia32_pause();
	x86_rdmsr_safe(IA32_MCG_STATUS, &status);
	lock_acquire(&report_lock);
	panic("machine check: CPU %u at pc %#lx (IA32_MCG_STATUS %#lx): the "
	      "hardware reported the errors above: replace the faulty part",
	    arch_curcpu()->c_id, tf->tf_rip, status);
}
