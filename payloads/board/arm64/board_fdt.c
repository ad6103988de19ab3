/*
 * Takes out of a device tree what names one machine.  Boot loaders write these
 * properties: the Raspberry Pi's firmware "linux,serial", "rpi-serial64" and
 * "rpi-duid", U-Boot "serial-number", both "local-mac-address", and seeds for
 * random numbers.  The Pi's firmware also writes the MAC address and the serial
 * number into "bootargs".
 * Devicetree Specification, "Root node" (serial-number).
 */
#include <libfdt.h>
#include <string.h>

#include "payloads/board/board.h"

/* The name of such a property ends with one of these. */
static const char *const ends[] = { "serial-number", ",serial", "mac-address",
	"-mac", "bd-address", "-seed", "uuid", "-serial64", "-duid",
	"bootargs" };

static int
is_hidden(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t m = strlen(ends[i]);

		if (n >= m && strcmp(name + n - m, ends[i]) == 0)
			return 1;
	}
	return 0;
}

void
board_hide_fdt(unsigned char *fdt, size_t n)
{
	int node = 0, depth = 0, prop, len;
	const char *name;

	if (fdt_check_full(fdt, n) != 0)
		return;
	for (; node >= 0; node = fdt_next_node(fdt, node, &depth)) {
		fdt_for_each_property_offset(prop, fdt, node)
		{
			const unsigned char *value =
			    fdt_getprop_by_offset(fdt, prop, &name, &len);

			if (value != NULL && is_hidden(name))
				memset(fdt + (value - fdt), 'x', (size_t)len);
		}
	}
}
