/*
 * Which core counters of AMD's family 15h count which events.  libpfm4's
 * tables do not say.  Each unit of a core reports to some counters only.
 *
 * Single events differ from their unit.  If it depends on the unit mask, the
 * counters listed here count every mask.
 * BKDG for AMD family 15h models 00h-0Fh (42301), "Core Performance Counter
 * Events", the line "PERF_CTL[..]" of each event.
 */
#include "events/pmu.h"

static const struct {
	uint16_t first, last;
	uint8_t pics;
} family_15h[] = {
	{ 0x000, 0x000, 0x08 },
	{ 0x003, 0x004, 0x08 },
	{ 0x00b, 0x00b, 0x08 },
	{ 0x00d, 0x00d, 0x08 },
	{ 0x023, 0x023, 0x07 },
	{ 0x02d, 0x02d, 0x08 },
	{ 0x02e, 0x02e, 0x09 },
	{ 0x031, 0x031, 0x07 },
	{ 0x043, 0x043, 0x07 },
	{ 0x045, 0x046, 0x07 },
	{ 0x054, 0x055, 0x07 },
	{ 0x08f, 0x08f, 0x01 },
	{ 0x0db, 0x0df, 0x3f },
	{ 0x187, 0x188, 0x01 },
	{ 0x1c0, 0x1c0, 0x38 },
	{ 0x1d6, 0x1d6, 0x3f },
	{ 0x1d8, 0x1d8, 0x3f },
};

/* The PICs of the other events, by unit: bits 7:4 of the event. */
static const uint8_t family_15h_unit[16] = {
	0x38, 0x38,             /* floating point */
	0x3f, 0x3f, 0x3f, 0x3f, /* load and store, data cache */
	0x07, 0x07, 0x07, 0x07, /* second-level cache, fetch, decode */
	0x00, 0x00, 0x3f, 0x07, /* none, execution, decode */
	0x00, 0x00,             /* northbridge: not core counters' */
};

uint32_t
events_amd_15h_pics(unsigned event)
{
	unsigned i, n = sizeof family_15h / sizeof family_15h[0];

	for (i = 0; i < n; i++) {
		if (event >= family_15h[i].first && event <= family_15h[i].last)
			return family_15h[i].pics;
	}
	return family_15h_unit[event >> 4 & 0xf];
}
