/*
 * Recognizes calls in code of AArch64.
 *
 * Arm ARM (DDI 0487), "BL", "BLR", and "BLRAA" and its like.
 */
#include "payloads/record/symbols.h"

#include <string.h>

bool
symbols_after_call(const struct symbols *sy, uint64_t addr)
{
	const unsigned char *p = symbols_code_before(sy, addr, 4);
	uint32_t insn;

	if (p == NULL)
		return false;
	memcpy(&insn, p, sizeof insn);
	return (insn & 0xfc000000) == 0x94000000 ||
	       (insn & 0xfefff000) == 0xd63f0000;
}
