/*
 * A fixed-width font: one byte a row, the leftmost pixel in its highest bit.
 * Included by kern/.
 */
#pragma once

#define FONT_WIDTH  8
#define FONT_HEIGHT 16
#define FONT_FIRST  ' '
#define FONT_LAST   '~'

extern const unsigned char font[FONT_LAST - FONT_FIRST + 1][FONT_HEIGHT];
