/* No device tree is used on x86-64. */
#include "payloads/tools/board.h"

void
board_hide_fdt(unsigned char *fdt, size_t n)
{
	(void)fdt;
	(void)n;
}
