/* No device tree is used on x86-64. */
#include "payloads/board/board.h"

void
board_hide_fdt(unsigned char *, size_t)
{
}
