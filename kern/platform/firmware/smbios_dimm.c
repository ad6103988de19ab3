/*
 * Reads the memory modules from SMBIOS.  Equal modules are one entry with their
 * number.  Serial numbers are not read, because they name one machine.
 *
 * DMTF DSP0134, System Management BIOS Reference Specification, "Memory Device
 * (Type 17)", "Memory Device - Type".
 */
#include <stddef.h>
#include <stdint.h>

#include "kern/platform/firmware/smbios_impl.h"
#include "lib/string.h"
#include "lib/text.h"

/* Offsets in the structure.  Older versions are shorter. */
#define DIMM_SIZE                12 /* in MiB, or in KiB if bit 15 is set */
#define DIMM_TYPE                18
#define DIMM_SPEED               21 /* in MT/s; 0: unknown */
#define DIMM_MAKER               23
#define DIMM_PART                26
#define DIMM_EXTENDED            28 /* in MiB, if DIMM_SIZE says so */
#define DIMM_CONFIGURED          32 /* the speed that firmware has set */
#define DIMM_SPEED_EXTENDED      84 /* if DIMM_SPEED says so */
#define DIMM_CONFIGURED_EXTENDED 88

#define SPEED_EXTENDED 0xffff

#define SIZE_UNKNOWN  0xffff
#define SIZE_EXTENDED 0x7fff
#define SIZE_IN_KIB   0x8000

#define KINDS_MAX 8

/* A kind of module.  Its bytes are compared, so they are all set. */
struct kind {
	uint64_t kib;
	unsigned type, speed, configured;
	char maker[SMBIOS_NAME_MAX + 1], part[SMBIOS_NAME_MAX + 1];
};
static struct kind kinds[KINDS_MAX];
static unsigned count[KINDS_MAX], nkinds;

/* A number of the structure; 0 if the structure is too short. */
static uint32_t
number_at(const unsigned char *t, unsigned offset, unsigned bytes)
{
	uint32_t v = 0;

	if (offset + bytes > t[1])
		return 0;
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)t[offset + i] << 8 * i;
	return v;
}

/* 0: the slot is empty, or its size is unknown. */
static uint64_t
size_in_kib(const unsigned char *t)
{
	uint32_t size = number_at(t, DIMM_SIZE, 2);

	if (size == SIZE_UNKNOWN)
		return 0;
	if (size == SIZE_EXTENDED)
		return (uint64_t)number_at(t, DIMM_EXTENDED, 4) << 10;
	if ((size & SIZE_IN_KIB) != 0)
		return size & ~(uint32_t)SIZE_IN_KIB;
	return (uint64_t)size << 10;
}

static unsigned
speed_at(const unsigned char *t, unsigned offset, unsigned extended)
{
	uint32_t speed = number_at(t, offset, 2);

	return speed == SPEED_EXTENDED ? number_at(t, extended, 4) : speed;
}

void
smbios_no_dimm(void)
{
	nkinds = 0;
}

void
smbios_take_dimm(const unsigned char *t, const unsigned char *end)
{
	struct kind k;
	unsigned i = 0;

	memset(&k, 0, sizeof k);
	if ((k.kib = size_in_kib(t)) == 0)
		return;
	k.type = number_at(t, DIMM_TYPE, 1);
	k.speed = speed_at(t, DIMM_SPEED, DIMM_SPEED_EXTENDED);
	k.configured = speed_at(t, DIMM_CONFIGURED, DIMM_CONFIGURED_EXTENDED);
	smbios_string(t, end, DIMM_MAKER, k.maker);
	smbios_string(t, end, DIMM_PART, k.part);
	while (i < nkinds && memcmp(&kinds[i], &k, sizeof k) != 0)
		i++;
	if (i == KINDS_MAX)
		return;
	if (i == nkinds) {
		kinds[nkinds++] = k;
		count[i] = 0;
	}
	count[i]++;
}

static const char *
type_name(unsigned type)
{
	static const char *const name[] = {
		[0x03] = "DRAM",
		[0x07] = "RAM",
		[0x0f] = "SDRAM",
		[0x12] = "DDR",
		[0x13] = "DDR2",
		[0x18] = "DDR3",
		[0x1a] = "DDR4",
		[0x1b] = "LPDDR",
		[0x1c] = "LPDDR2",
		[0x1d] = "LPDDR3",
		[0x1e] = "LPDDR4",
		[0x20] = "HBM",
		[0x21] = "HBM2",
		[0x22] = "DDR5",
		[0x23] = "LPDDR5",
		[0x24] = "HBM3",
	};

	return type < sizeof name / sizeof name[0] ? name[type] : NULL;
}

static void
add_number(struct text *t, const char *member, unsigned v)
{
	if (v != 0)
		text_add(t, ",\"%s\":%u", member, v);
}

static void
add_name(struct text *t, const char *member, const char *name)
{
	if (name == NULL || *name == '\0')
		return;
	text_add(t, ",\"%s\":", member);
	text_add_string(t, name);
}

bool
smbios_describe_dimms(struct text *t, const char *join)
{
	if (nkinds > 0)
		text_add(t, "%s\"dimms\":[", join);
	for (unsigned i = 0; i < nkinds; i++) {
		const struct kind *k = &kinds[i];

		text_add(t, "%s{\"count\":%u,\"kib\":%lu", i == 0 ? "" : ",",
		    count[i], (unsigned long)k->kib);
		add_name(t, "type", type_name(k->type));
		add_number(t, "mts", k->configured);
		add_number(t, "mts_most", k->speed);
		add_name(t, "dimm_maker", k->maker);
		add_name(t, "part", k->part);
		text_add(t, "}");
	}
	if (nkinds > 0)
		text_add(t, "]");
	return nkinds > 0;
}
