/*
 * A text console on a linear framebuffer.  It keeps the text in cells in
 * memory, and draws only the cells that change.
 */
#include "kern/platform/fb_console.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/console.h"
#include "lib/font.h"
#include "lib/printf.h"
#include "lib/string.h"

#define TAB      8
#define LINGER_S 60

/* Grey: the same bytes in RGB and BGR order. */
#define INK   0x00c0c0c0u
#define PAPER 0x00000000u

static struct {
	volatile uint32_t *pixels;
	size_t stride; /* pixels */
	unsigned cols, rows;
	unsigned col, row; /* of the next character; col may be cols */
	char *cells;       /* what is shown, cols * rows */
} fb;

static void
draw_cell(unsigned col, unsigned row, char c)
{
	const unsigned char *glyph = font[c - FONT_FIRST];
	volatile uint32_t *p =
	    fb.pixels + row * FONT_HEIGHT * fb.stride + col * FONT_WIDTH;

	for (unsigned y = 0; y < FONT_HEIGHT; y++, p += fb.stride) {
		for (unsigned x = 0; x < FONT_WIDTH; x++)
			p[x] = glyph[y] & (0x80 >> x) ? INK : PAPER;
	}
}

/* Writes to a framebuffer are slow, so draw a cell only if it changes. */
static void
show_cell(unsigned col, unsigned row, char c)
{
	char *cell = &fb.cells[row * fb.cols + col];

	if (*cell != c) {
		*cell = c;
		draw_cell(col, row, c);
	}
}

/*
 * Make room at the bottom.  Reads of a framebuffer are even slower than
 * writes, so the text moves in the cells.  It moves by a quarter of the
 * screen, so that most new lines need no scrolling.
 */
static void
scroll_up(void)
{
	unsigned by = fb.rows > 4 ? fb.rows / 4 : 1;

	for (unsigned row = 0; row < fb.rows; row++) {
		for (unsigned col = 0; col < fb.cols; col++) {
			char c = ' ';

			if (row + by < fb.rows)
				c = fb.cells[(row + by) * fb.cols + col];
			show_cell(col, row, c);
		}
	}
	fb.row -= by;
}

static void
start_line(void)
{
	fb.col = 0;
	if (++fb.row == fb.rows)
		scroll_up();
}

static void
put_glyph(char c)
{
	if (fb.col == fb.cols)
		start_line();
	show_cell(fb.col++, fb.row, c);
}

static void
fbcons_putc(int ch)
{
	unsigned c = (unsigned char)ch;

	switch (c) {
	case '\n':
		start_line();
		break;
	case '\r':
		fb.col = 0;
		break;
	case '\b':
		fb.col -= fb.col > 0;
		break;
	case '\t':
		do
			put_glyph(' ');
		while (fb.col % TAB != 0 && fb.col < fb.cols);
		break;
	default:
		if (c >= FONT_FIRST && c <= FONT_LAST)
			put_glyph((char)c);
		else if (c >= 0xc0) /* UTF-8: the first byte of a character */
			put_glyph('?');
		break;
	}
}

size_t
fbcons_bytes(const struct bootinfo *bi)
{
	const struct bootfb *f = &bi->bi_fb;

	if (f->fb_base == 0)
		return 0;
	return (size_t)(f->fb_width / FONT_WIDTH) *
	       (f->fb_height / FONT_HEIGHT);
}

bool
fbcons_init(const struct bootinfo *bi, char *cells)
{
	const struct bootfb *f = &bi->bi_fb;
	size_t bytes = (size_t)f->fb_stride_bytes * f->fb_height;

	if (cells != NULL)
		fb.pixels = arch_map_device(f->fb_base, bytes);
	if (fb.pixels == NULL) {
		printf("cons: no memory for the screen\n");
		return false;
	}
	fb.cells = cells;
	fb.cols = f->fb_width / FONT_WIDTH;
	fb.rows = f->fb_height / FONT_HEIGHT;
	fb.stride = f->fb_stride_bytes / sizeof *fb.pixels;
	for (size_t i = 0; i < bytes / sizeof *fb.pixels; i++)
		fb.pixels[i] = PAPER;
	memset(fb.cells, ' ', (size_t)fb.cols * fb.rows);
	fb.col = fb.row = 0;
	cons_mirror(fbcons_putc);
	printf("cons: screen %ux%u, %ux%u characters\n", f->fb_width,
	    f->fb_height, fb.cols, fb.rows);
	return true;
}

/* Draws directly: the run's closing line must be the last on the console. */
void
fbcons_linger(void)
{
	static const char text[] = "end in a minute\n";
	uint64_t since, hz = arch_tick_hz();

	/* A run may end before there is a clock. */
	if (fb.pixels == NULL || hz == 0)
		return;
	for (const char *s = text; *s != '\0'; s++)
		fbcons_putc(*s);
	since = arch_tick();
	while (arch_tick() - since < LINGER_S * hz)
		arch_relax();
}
