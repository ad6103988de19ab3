/*
 * A text console on linear framebuffers, which all show the same.  It keeps the
 * text in cells in memory, and draws only the cells that change.
 */
#include "kern/platform/results/fb_console.h"

#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/console.h"
#include "lib/font.h"
#include "lib/printf.h"
#include "lib/string.h"

#define TAB      8
#define LINGER_S 60
#define KEYS_MAX 64

#define PAPER 0u
/* A screen with at least so many columns of larger letters gets them. */
#define COLS_LARGE 100

struct screen {
	volatile uint8_t *pixels;
	size_t stride; /* bytes */
	unsigned pixel_bytes;
	uint32_t ink;
};

static struct {
	struct screen screen[BOOTINFO_NFB];
	unsigned nscreens;
	/* The size that fits all screens. */
	unsigned width, height; /* pixels */
	unsigned scale;         /* pixels of a point of a letter */
	unsigned cols, rows;
	unsigned col, row; /* of the next character; col may be cols */
	char *cells;       /* what is shown, cols * rows */
	bool lent;         /* fbcons_take(): do not draw the text */
} fb;

/* Pixels of 32 bits are written at once; others are rare. */
static void
fill_line(const struct screen *s, volatile uint8_t *p, unsigned w, uint32_t ink)
{
	volatile uint32_t *word = (volatile uint32_t *)p;

	for (unsigned k = 0; k < w; k++) {
		if (s->pixel_bytes == sizeof *word)
			word[k] = ink;
		else
			for (unsigned b = 0; b < s->pixel_bytes; b++)
				*p++ = (uint8_t)(ink >> 8 * b);
	}
}

/* Fill a rectangle of pixels.  It must be on the screens. */
static void
fill(unsigned x, unsigned y, unsigned w, unsigned h, bool ink)
{
	for (unsigned n = 0; n < fb.nscreens; n++) {
		const struct screen *s = &fb.screen[n];
		volatile uint8_t *p =
		    s->pixels + y * s->stride + x * s->pixel_bytes;

		for (unsigned i = 0; i < h; i++, p += s->stride)
			fill_line(s, p, w, ink ? s->ink : PAPER);
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
			    (glyph[y] & (0x80 >> x)) != 0);
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

/* Pixels of a row.  A loader may hand over a stride that is too short. */
static unsigned
width_of(const struct bootfb *f)
{
	unsigned most = f->fb_stride_bytes / f->fb_pixel_bytes;

	return f->fb_width < most ? f->fb_width : most;
}

/*
 * Take the size of the smallest screen.  Letters of large panels are larger: 2
 * on 1600 pixels, 4 on 3200.  Returns the number of screens.
 */
static unsigned
measure(const struct bootinfo *bi)
{
	unsigned n = 0;

	fb.width = fb.height = ~0u;
	for (; n < BOOTINFO_NFB && bi->bi_fb[n].fb_base != 0; n++) {
		if (width_of(&bi->bi_fb[n]) < fb.width)
			fb.width = width_of(&bi->bi_fb[n]);
		if (bi->bi_fb[n].fb_height < fb.height)
			fb.height = bi->bi_fb[n].fb_height;
	}
	fb.scale = fb.width / (COLS_LARGE * FONT_WIDTH);
	if (fb.scale == 0)
		fb.scale = 1;
	fb.cols = fb.width / (FONT_WIDTH * fb.scale);
	fb.rows = fb.height / (FONT_HEIGHT * fb.scale);
	return n;
}

size_t
fbcons_bytes(const struct bootinfo *bi)
{
	return measure(bi) == 0 ? 0 : (size_t)fb.cols * fb.rows;
}

bool
fbcons_init(const struct bootinfo *bi, char *cells)
{
	unsigned n = cells != NULL ? measure(bi) : 0;

	fb.nscreens = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct bootfb *f = &bi->bi_fb[i];
		struct screen *s = &fb.screen[fb.nscreens];

		s->pixels = arch_map_screen(
		    f->fb_base, (size_t)f->fb_stride_bytes * f->fb_height);
		s->stride =
		    f->fb_stride_bytes / f->fb_pixel_bytes * f->fb_pixel_bytes;
		s->pixel_bytes = f->fb_pixel_bytes;
		s->ink = f->fb_ink;
		fb.nscreens += s->pixels != NULL;
	}
	if (fb.nscreens == 0) {
		printf("cons: no memory for the screen\n");
		return false;
	}
	fb.cells = cells;
	fill(0, 0, fb.width, fb.height, false);
	memset(fb.cells, ' ', (size_t)fb.cols * fb.rows);
	fb.col = fb.row = 0;
	cons_mirror(fbcons_putc);
	for (unsigned i = 0; i < n; i++)
		printf("cons: screen %ux%u, %ux%u characters\n",
		    bi->bi_fb[i].fb_width, bi->bi_fb[i].fb_height, fb.cols,
		    fb.rows);
	return true;
}

bool
fbcons_take(unsigned *width, unsigned *height)
{
	if (fb.nscreens == 0)
		return false;
	fb.lent = true;
	fill(0, 0, fb.width, fb.height, false);
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
	fill(0, 0, fb.width, fb.height, false);
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
		fill(x + i * side, y, side, side, !dark[i]);
	return true;
}

/* Keys pressed before.  A line without rest has characters for ever. */
static void
take_keys(void)
{
	for (unsigned i = 0; i < KEYS_MAX && arch_key() >= 0; i++)
		;
}

/* Draws directly: the run's closing line must be the last on the console. */
void
fbcons_linger(void)
{
	static const char text[] = "end in a minute, or by a key\n";
	uint64_t since, hz = arch_tick_hz();

	/* A run may end before there is a clock. */
	if (fb.nscreens == 0 || hz == 0)
		return;
	for (const char *s = text; *s != '\0'; s++)
		fbcons_putc(*s);
	fbcons_give_back();
	since = arch_tick();
	take_keys();
	while (arch_tick() - since < LINGER_S * hz && arch_key() < 0)
		arch_relax();
}
