/* No device tree is used on x86-64. */
#include "payloads/board/board.h"

void
board_hide_fdt(unsigned char *fdt, size_t n)
{
	(void)fdt;
	(void)n;
}
