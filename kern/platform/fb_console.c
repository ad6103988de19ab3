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

#define PAPER 0u
/* A screen with at least so many columns of larger letters gets them. */
#define COLS_LARGE 100

static struct {
	volatile uint32_t *pixels;
	size_t stride; /* pixels */
	unsigned cols, rows;
	unsigned col, row;      /* of the next character; col may be cols */
	char *cells;            /* what is shown, cols * rows */
	unsigned width, height; /* pixels */
	unsigned scale;         /* pixels of a point of a letter */
	uint32_t ink;
	bool lent; /* fbcons_take(): do not draw the text */
} fb;

/* Letters of large panels: 2 on 1600 pixels, 4 on 3200. */
static unsigned
scale_of(const struct bootfb *f)
{
	unsigned n = f->fb_width / (COLS_LARGE * FONT_WIDTH);

	return n > 0 ? n : 1;
}

/* Fill a rectangle of pixels.  It must be on the screen. */
static void
fill(unsigned x, unsigned y, unsigned w, unsigned h, uint32_t pixel)
{
	volatile uint32_t *p = fb.pixels + y * fb.stride + x;

	for (; h > 0; h--, p += fb.stride) {
		for (unsigned i = 0; i < w; i++)
			p[i] = pixel;
	}
}

static void
draw_cell(unsigned col, unsigned row, char c)
{
	const unsigned char *glyph = font[c - FONT_FIRST];
	unsigned n = fb.scale, left = col * FONT_WIDTH, top = row * FONT_HEIGHT;

	for (unsigned y = 0; y < FONT_HEIGHT; y++) {
		for (unsigned x = 0; x < FONT_WIDTH; x++)
			fill((left + x) * n, (top + y) * n, n, n,
			    glyph[y] & (0x80 >> x) ? fb.ink : PAPER);
	}
}

/* Writes to a framebuffer are slow, so draw a cell only if it changes. */
static void
show_cell(unsigned col, unsigned row, char c)
{
	char *cell = &fb.cells[row * fb.cols + col];

	if (*cell != c) {
		*cell = c;
		if (!fb.lent)
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
	return (size_t)(f->fb_width / (FONT_WIDTH * scale_of(f))) *
	       (f->fb_height / (FONT_HEIGHT * scale_of(f)));
}

bool
fbcons_init(const struct bootinfo *bi, char *cells)
{
	const struct bootfb *f = &bi->bi_fb;
	size_t bytes = (size_t)f->fb_stride_bytes * f->fb_height;

	if (cells != NULL)
		fb.pixels = arch_map_screen(f->fb_base, bytes);
	if (fb.pixels == NULL) {
		printf("cons: no memory for the screen\n");
		return false;
	}
	fb.cells = cells;
	fb.scale = scale_of(f);
	fb.cols = f->fb_width / (FONT_WIDTH * fb.scale);
	fb.rows = f->fb_height / (FONT_HEIGHT * fb.scale);
	fb.width = f->fb_width;
	fb.height = f->fb_height;
	fb.ink = f->fb_ink;
	fb.stride = f->fb_stride_bytes / sizeof *fb.pixels;
	fill(0, 0, fb.width, fb.height, PAPER);
	memset(fb.cells, ' ', (size_t)fb.cols * fb.rows);
	fb.col = fb.row = 0;
	cons_mirror(fbcons_putc);
	printf("cons: screen %ux%u, %ux%u characters\n", f->fb_width,
	    f->fb_height, fb.cols, fb.rows);
	return true;
}

bool
fbcons_take(unsigned *width, unsigned *height)
{
	if (fb.pixels == NULL)
		return false;
	fb.lent = true;
	fill(0, 0, fb.width, fb.height, PAPER);
	*width = fb.width;
	*height = fb.height;
	return true;
}

void
fbcons_give_back(void)
{
	if (!fb.lent)
		return;
	fb.lent = false;
	fill(0, 0, fb.width, fb.height, PAPER);
	for (unsigned row = 0; row < fb.rows; row++) {
		for (unsigned col = 0; col < fb.cols; col++)
			draw_cell(col, row, fb.cells[row * fb.cols + col]);
	}
}

void
fbcons_text(unsigned row, const char *text)
{
	bool end = false;

	if (!fb.lent || row >= fb.rows)
		return;
	for (unsigned col = 0; col < fb.cols; col++) {
		char c = end ? ' ' : text[col];

		end = end || c == '\0';
		draw_cell(col, row,
		    c >= FONT_FIRST && c <= FONT_LAST ? c
		    : end                             ? ' '
						      : '?');
	}
}

bool
fbcons_squares(
    unsigned x, unsigned y, unsigned side, const uint8_t *dark, unsigned n)
{
	if (!fb.lent || side > fb.width || n > fb.width ||
	    x > fb.width - n * side || n * side > fb.width ||
	    side > fb.height || y > fb.height - side)
		return false;
	for (unsigned i = 0; i < n; i++)
		fill(x + i * side, y, side, side, dark[i] ? PAPER : fb.ink);
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
	fbcons_give_back();
	since = arch_tick();
	while (arch_tick() - since < LINGER_S * hz)
		arch_relax();
}
