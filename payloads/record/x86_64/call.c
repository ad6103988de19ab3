/*
 * Recognizes calls in code of x86-64.
 *
 * Intel SDM vol. 2A, "CALL": E8 and 32 bits; or FF /2, whose length depends
 * on its operand.
 */
#include "payloads/record/symbols.h"

bool
symbols_after_call(const struct symbols *sy, uint64_t addr)
{
	const unsigned char *p = symbols_code_before(sy, addr, 5);

	if (p != NULL && p[0] == 0xe8)
		return true;
	for (size_t n = 2; n <= 7; n++) {
		p = symbols_code_before(sy, addr, n);
		if (p != NULL && p[0] == 0xff && (p[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}
