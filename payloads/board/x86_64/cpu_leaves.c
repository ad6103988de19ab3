/* Reads CPUID.  Intel SDM vol. 2A, "CPUID--CPU Identification". */
#include <cpuid.h>
#include <stdbool.h>

#include "payloads/board/board.h"

#define SUBLEAVES 32 /* of each leaf that has some */
#define LEAVES    64 /* of a range; firmware may name more */

/* These leaves have subleaves. */
static bool
has_subleaves(uint32_t leaf)
{
	return leaf == 4 || leaf == 7 || leaf == 0xb || leaf == 0xd ||
	       leaf == 0x10 || leaf == 0x14 || leaf == 0x1f || leaf == 0x23 ||
	       leaf == 0x8000001d || leaf == 0x80000026;
}

static size_t
read_range(uint32_t first, struct board_leaf *to, size_t max)
{
	uint32_t a, b, c, d, last;
	size_t n = 0;

	__cpuid(first, a, b, c, d);
	last = a >= first && a - first < LEAVES ? a : first + LEAVES - 1;
	for (uint32_t leaf = first; leaf <= last; leaf++) {
		uint32_t subleaves = has_subleaves(leaf) ? SUBLEAVES : 1;

		for (uint32_t sub = 0; sub < subleaves && n < max; sub++) {
			__cpuid_count(leaf, sub, a, b, c, d);
			if (sub == 0 || (a | b | c | d) != 0)
				to[n++] = (struct board_leaf){ leaf, sub, a, b,
					c, d };
		}
	}
	return n;
}

size_t
board_cpu_leaves(struct board_leaf *to, size_t max)
{
	static const uint32_t first[] = { 0, 0x40000000, 0x80000000 };
	size_t n = 0;

	for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
		n += read_range(first[i], to + n, max - n);
	return n;
}
