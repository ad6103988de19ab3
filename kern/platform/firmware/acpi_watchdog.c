/*
 * Stops the watchdogs of ACPI's tables.  WDAT lists the register accesses for
 * each action.  WDRT has the address of a control register.
 *
 * Microsoft, "Hardware Watchdog Timers Design Specification", "Watchdog Action
 * Table"; Microsoft, "Watchdog Timer Hardware Requirements for Windows Server
 * 2003", "Watchdog Resource Table"; ACPI Specification 6.4, "Generic Address
 * Structure (GAS)".
 */
#include "kern/platform/firmware/acpi_watchdog.h"

#include <stddef.h>

#include "kern/platform/firmware/watchdog.h"

#define WDAT_NENTRY   64
#define WDAT_ENTRIES  68
#define ENTRY_BYTES   24
#define ENTRY_INSN    1
#define ENTRY_GAS     4
#define GAS_BIT       2 /* offset of the field in the register */
#define ENTRY_VALUE   16
#define ENTRY_MASK    20
#define ACTION_RUNS   8  /* is the watchdog running? */
#define ACTION_STOP   11 /* stop it */
#define INSN_READ     0  /* is the field equal to the value? */
#define INSN_WRITE    2  /* write the value to the field */
#define INSN_PRESERVE 0x80

#define WDRT_CONTROL 36 /* GAS; the register has 32 bits */
#define WDRT_MIN     71
/* The control register.  A 1 written to FIRED or TRIGGER has an effect. */
#define CONTROL_RUN      (1U << 0)
#define CONTROL_FIRED    (1U << 1)
#define CONTROL_DISABLED (1U << 3)
#define CONTROL_TRIGGER  (1U << 7)

/* An entry's field. */
struct field {
	struct acpi_gas at;
	unsigned bytes, shift;
	uint32_t value, mask;
};

/* Returns false if the register has an unknown width or place. */
static bool
read_entry(const unsigned char *e, struct field *f)
{
	f->at = acpi_gas(e + ENTRY_GAS);
	f->shift = e[ENTRY_GAS + GAS_BIT];
	f->value = acpi_u32(e + ENTRY_VALUE);
	f->mask = acpi_u32(e + ENTRY_MASK);
	f->bytes = f->at.ag_access != 0 ? 1U << (f->at.ag_access - 1) % 8
	                                : f->at.ag_bits / 8U;
	return (f->bytes == 1 || f->bytes == 2 || f->bytes == 4) &&
	       f->shift < 8 * f->bytes && f->at.ag_addr != 0;
}

static bool
write_field(const struct field *f, bool preserve)
{
	uint32_t v = 0;

	if (preserve && !acpi_reg_read(&f->at, f->bytes, &v))
		return false;
	v &= ~(f->mask << f->shift);
	v |= (f->value & f->mask) << f->shift;
	return acpi_reg_write(&f->at, f->bytes, v);
}

/*
 * Do an action.  *yes becomes whether all fields that it reads have their
 * values.  Returns false if the table lacks the action or an access fails.
 */
static bool
do_action(const unsigned char *t, uint32_t n, unsigned action, bool *yes)
{
	bool any = false;
	uint32_t v;

	*yes = true;
	for (uint32_t i = 0; i < n; i++) {
		const unsigned char *e = t + WDAT_ENTRIES + i * ENTRY_BYTES;
		unsigned insn = e[ENTRY_INSN] & ~(unsigned)INSN_PRESERVE;
		struct field f;

		if (e[0] != action)
			continue;
		any = true;
		if (!read_entry(e, &f))
			return false;
		if (insn == INSN_WRITE) {
			if (!write_field(
				&f, (e[ENTRY_INSN] & INSN_PRESERVE) != 0))
				return false;
		} else if (insn != INSN_READ ||
			   !acpi_reg_read(&f.at, f.bytes, &v)) {
			return false;
		} else {
			*yes = *yes && ((v >> f.shift) & f.mask) == f.value;
		}
	}
	return any;
}

static enum watchdog_state
stop_wdat(const unsigned char *t, uint32_t bytes)
{
	uint32_t n = acpi_u32(t + WDAT_NENTRY);
	bool runs, unused;

	if (n > (bytes - WDAT_ENTRIES) / ENTRY_BYTES)
		n = (bytes - WDAT_ENTRIES) / ENTRY_BYTES;
	if (!do_action(t, n, ACTION_RUNS, &runs))
		return WATCHDOG_UNKNOWN;
	if (!runs)
		return WATCHDOG_IDLE;
	return do_action(t, n, ACTION_STOP, &unused) &&
	               do_action(t, n, ACTION_RUNS, &runs) && !runs
	           ? WATCHDOG_STOPPED
	           : WATCHDOG_RUNNING;
}

/* Returns false if the register cannot be read. */
static bool
read_control(const struct acpi_gas *at, uint32_t *v)
{
	return at->ag_addr != 0 && acpi_reg_read(at, 4, v) && *v != ~0U;
}

static enum watchdog_state
stop_wdrt(const unsigned char *t)
{
	const uint32_t runs = CONTROL_RUN | CONTROL_DISABLED;
	struct acpi_gas at = acpi_gas(t + WDRT_CONTROL);
	uint32_t v;

	if (!read_control(&at, &v))
		return WATCHDOG_UNKNOWN;
	if ((v & runs) != CONTROL_RUN)
		return WATCHDOG_IDLE;
	v &= ~(CONTROL_RUN | CONTROL_FIRED | CONTROL_TRIGGER);
	return acpi_reg_write(&at, 4, v) && read_control(&at, &v) &&
	               (v & CONTROL_RUN) == 0
	           ? WATCHDOG_STOPPED
	           : WATCHDOG_RUNNING;
}

void
acpi_watchdog_init(void)
{
	uint32_t bytes;
	const unsigned char *t = acpi_table("WDAT", &bytes);

	if (t != NULL && bytes >= WDAT_ENTRIES)
		watchdog_found("ACPI WDAT", stop_wdat(t, bytes));
	t = acpi_table("WDRT", &bytes);
	if (t != NULL && bytes >= WDRT_MIN)
		watchdog_found("ACPI WDRT", stop_wdrt(t));
}
