/* A CPU's error record counts once, is printed and cleared.  Absent: unread. */
#include "tests/lib/host/support.h"

#include <string.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/machine.h"
#include "kern/sched/cpu.h"

#define NRECORD 3

struct machine machine;

static struct {
	uint64_t pfr0;
	unsigned nrecord, selected;
	bool synced; /* an ISB came after the selection */
	uint64_t feature[NRECORD], status[NRECORD], address[NRECORD];
} cpu;

struct cpu *
arch_curcpu(void)
{
	static struct cpu self;

	return &self;
}

static uint64_t *
selected(uint64_t *of)
{
	assert_true(cpu.synced);
	assert_true(cpu.selected < cpu.nrecord);
	return &of[cpu.selected];
}

uint64_t
fake_mrs(const char *reg)
{
	if (strcmp(reg, "id_aa64pfr0_el1") == 0)
		return cpu.pfr0;
	assert_int_not_equal(cpu.pfr0, 0);
	if (strcmp(reg, "ERRIDR_EL1") == 0)
		return cpu.nrecord;
	if (strcmp(reg, "ERXFR_EL1") == 0)
		return *selected(cpu.feature);
	assert_int_not_equal(*selected(cpu.feature), 0);
	if (strcmp(reg, "ERXSTATUS_EL1") == 0)
		return *selected(cpu.status);
	assert_string_equal(reg, "ERXADDR_EL1");
	return *selected(cpu.address);
}

#define CE   0x3000000UL /* corrected errors */
#define UET  0x300000UL  /* the type of an uncorrected error */
#define CODE 0xffffUL    /* these bits take what is written */

/* A 1 clears a bit.  CE and UET are cleared only if both bits are 1. */
static void
write_status(uint64_t *status, uint64_t v)
{
	if ((v & CE) != CE)
		v &= ~CE;
	if ((v & UET) != UET)
		v &= ~UET;
	*status = (*status & ~CODE & ~v) | (v & CODE);
}

void
fake_msr(const char *reg, uint64_t v)
{
	if (strcmp(reg, "ERRSELR_EL1") == 0) {
		cpu.selected = (unsigned)v;
		cpu.synced = false;
		return;
	}
	assert_string_equal(reg, "ERXSTATUS_EL1");
	write_status(selected(cpu.status), v);
}

void
fake_isb(void)
{
	cpu.synced = true;
}

/* A CPU with this many records, of which the second is absent. */
static void
start(unsigned nrecord, const char *vmm)
{
	memset(&cpu, 0, sizeof cpu);
	cpu.pfr0 = 1UL << 28;
	cpu.nrecord = nrecord;
	cpu.feature[0] = cpu.feature[2] = 1;
	machine.m_vmm = vmm;
}

TEST(an_error_counts_once)
{
	start(NRECORD, "none");
	cpu.status[0] = 0x40000000;
	arm64_ras_take(false); /* from before the boot */
	assert_int_equal(arm64_ras_take(true), 0);
	cpu.status[0] = 0xc0800006;
	cpu.status[2] = 0x60000002;
	cpu.address[0] = 0x80001000;
	assert_int_equal(arm64_ras_take(true), 2);
	assert_int_equal(cpu.status[0] | cpu.status[2], 0);
	assert_int_equal(arm64_ras_take(true), 0);
	cpu.status[0] = 0x42000006;
	cpu.status[2] = 0x60200012;
	assert_int_equal(arm64_ras_take(true), 2);
	assert_int_equal(cpu.status[0] | cpu.status[2], 0);
	/* A status without an error. */
	cpu.status[0] = 0x10000000;
	assert_int_equal(arm64_ras_take(true), 0);
	assert_int_equal(cpu.status[0], 0x10000000);
}

TEST(absent_registers_are_not_read)
{
	start(0, "kvm");
	assert_true(arm64_ras_exists());
	assert_int_equal(arm64_ras_take(true), 0);
	start(NRECORD, "unknown");
	cpu.status[0] = 0x40000000;
	assert_false(arm64_ras_exists());
	assert_int_equal(arm64_ras_take(true), 0);
	start(NRECORD, "none");
	cpu.pfr0 = 0;
	assert_false(arm64_ras_exists());
	arm64_ras_take(false);
	assert_int_equal(arm64_ras_take(true), 0);
}
