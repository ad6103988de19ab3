/*
 * The features that a hypervisor offers to its guests, as CPUID has them.
 * Microsoft, "Hypervisor Top Level Functional Specification", "Feature and
 * Interface Discovery"; Linux, Documentation/virt/kvm/x86/cpuid.rst.
 */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>

#include "payloads/common/results/json.h"

#define LEAF       0x40000000
#define NEXT_RANGE 0x100 /* KVM's leaves, if Hyper-V's come first */
#define LEAVES     0x10
#define ENTRY      60 /* bytes of a leaf's text, at most */

const char *
json_enlightenments(void)
{
	static char text[2 * LEAVES * ENTRY];
	const char *join = ",\"enlightenments\":{";
	uint32_t a, b, c, d;
	size_t n = 0;

	__cpuid(1, a, b, c, d);
	if (text[0] != '\0' || (c >> 31) == 0)
		return text;
	for (uint32_t base = LEAF; base <= LEAF + NEXT_RANGE;
	     base += NEXT_RANGE) {
		uint32_t last;

		__cpuid(base, last, b, c, d);
		for (uint32_t leaf = base + 1;
		     leaf <= last && leaf < base + LEAVES; leaf++) {
			__cpuid_count(leaf, 0, a, b, c, d);
			if ((a | b | c | d) == 0)
				continue;
			n += (size_t)snprintf(text + n, sizeof text - n,
			    "%s\"%#x\":\"%#x %#x %#x %#x\"", join, leaf, a, b,
			    c, d);
			join = ",";
		}
	}
	if (n > 0)
		snprintf(text + n, sizeof text - n, "}");
	return text;
}
