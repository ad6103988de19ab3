/* The text console on a framebuffer: pixels by the font, none beyond. */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/console.h"
#include "kern/platform/results/fb_console.h"
#include "lib/font.h"

static struct bootinfo bi;
static uint32_t *screen, *second;
static char *cells;
static void (*put)(int c);

volatile void *
arch_map_screen(uint64_t pa, size_t len)
{
	uint32_t *pixels = malloc(len); /* the sanitizer checks both ends */

	if (pa != bi.bi_fb[0].fb_base)
		return second = pixels;
	return screen = pixels;
}

void
cons_mirror(void (*fn)(int c))
{
	put = fn;
}

/* Each read of the clock is one second later. */
static uint64_t now;

uint64_t
arch_tick(void)
{
	return now++;
}

/* When keys are pressed, in order; 0: never. */
static uint64_t key_at[3];
static unsigned keys_taken;

int
arch_key(void)
{
	if (key_at[keys_taken] == 0 || now < key_at[keys_taken])
		return -1;
	keys_taken++;
	return 0;
}

uint64_t
arch_tick_hz(void)
{
	return 1;
}

static void
start_console(uint32_t width, uint32_t height, uint32_t extra)
{
	put = NULL;
	bi.bi_fb[0] = (struct bootfb){ .fb_base = 0xe0000000,
		.fb_width = width,
		.fb_height = height,
		.fb_stride_bytes = (width + extra) * 4,
		.fb_ink = 0xc0c0c0,
		.fb_pixel_bytes = 4 };
	if (fbcons_bytes(&bi) > 0) {
		cells = malloc(fbcons_bytes(&bi));
		assert_true(fbcons_init(&bi, cells));
	}
}

static void
stop_console(void)
{
	free(screen);
	free(cells);
	screen = NULL;
	cells = NULL;
}

static void
write_text(const char *s)
{
	while (*s != '\0')
		put((unsigned char)*s++);
}

/* The character that a cell shows, by its pixels; 0: no glyph matches. */
static char
shown_char(unsigned col, unsigned row)
{
	size_t stride = bi.bi_fb[0].fb_stride_bytes / 4;
	unsigned char rows[FONT_HEIGHT] = { 0 };

	for (unsigned y = 0; y < FONT_HEIGHT; y++) {
		for (unsigned x = 0; x < FONT_WIDTH; x++) {
			if (screen[(row * FONT_HEIGHT + y) * stride +
				   col * FONT_WIDTH + x] != 0)
				rows[y] |= 0x80 >> x;
		}
	}
	for (char c = FONT_FIRST; c <= FONT_LAST; c++) {
		if (memcmp(font[c - FONT_FIRST], rows, FONT_HEIGHT) == 0)
			return c;
	}
	return 0;
}

static void
expect_line(unsigned row, const char *want)
{
	unsigned cols = bi.bi_fb[0].fb_width / FONT_WIDTH;

	for (unsigned col = 0; col < cols; col++)
		assert_int_equal(
		    shown_char(col, row), col < strlen(want) ? want[col] : ' ');
}

TEST(text_is_shown)
{
	start_console(80, 48, 0);
	write_text("Hello\r\nab\bc\n\tx");
	expect_line(0, "Hello");
	expect_line(1, "ac");
	expect_line(2, "        x");
	stop_console();
}

/* A line as wide as the screen does not wrap. */
TEST(wraps)
{
	start_console(32 + 5, 64 + 9, 11);
	write_text("abcd\nefghi\n");
	expect_line(0, "abcd");
	expect_line(1, "efgh");
	expect_line(2, "i");
	expect_line(3, "");
	stop_console();
}

TEST(scrolls)
{
	char line[16];

	start_console(80, 8 * FONT_HEIGHT, 3);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(line, sizeof line, "line %u\n", i);
		write_text(line);
	}
	/* The console scrolls by a quarter: 6 or 7 of 8 lines have text. */
	expect_line(5, "line 99");
	expect_line(0, "line 94");
	expect_line(6, "");
	stop_console();
}

TEST(other_characters)
{
	start_console(80, 32, 0);
	write_text("a\xe2\x82\xac"
		   "b\x1b\x7f\xc3\xa9");
	expect_line(0, "a?b?");
	stop_console();
}

TEST(small_screens)
{
	start_console(7, 600, 0);
	assert_null(put);
	start_console(800, 15, 0);
	assert_null(put);
	for (unsigned rows = 1; rows < 6; rows++) {
		for (unsigned cols = 1; cols < 10; cols++) {
			start_console(
			    cols * FONT_WIDTH + 1, rows * FONT_HEIGHT + 1, 1);
			for (unsigned i = 0; i < 20; i++)
				write_text("a\tbcdefghijkl\n\n\b\b\tz");
			stop_console();
		}
	}
	bi.bi_fb[0].fb_base = 0;
	assert_int_equal(fbcons_bytes(&bi), 0);
}

/* Rows that are shorter than a loader says the screen is wide. */
TEST(short_stride)
{
	start_console(80, 48, -16U);
	assert_int_equal(fbcons_bytes(&bi), 8 * 3);
	write_text("0123456789\n");
	bi.bi_fb[0].fb_width = 64; /* for expect_line() */
	expect_line(0, "01234567");
	expect_line(1, "89");
	stop_console();
	start_console(80, 48, -80U);
	assert_null(put);
}

/* Letters of large panels have several pixels for each point. */
TEST(large_letters)
{
	start_console(1600, 64, 0);
	assert_int_equal(fbcons_bytes(&bi), 100 * 2);
	write_text("\n|");
	for (unsigned y = 0; y < 2 * FONT_HEIGHT; y++) {
		for (unsigned x = 0; x < 2 * FONT_WIDTH; x++)
			assert_int_equal(
			    screen[(2 * FONT_HEIGHT + y) * 1600 + x] != 0,
			    (font['|' - FONT_FIRST][y / 2] >> (7 - x / 2)) & 1);
	}
	stop_console();
}

/* Pages of other things: nothing beyond the screen, and the text comes back. */
TEST(screen_is_lent)
{
	static const uint8_t dark[4] = { 1, 0, 0, 1 };
	unsigned width, height;

	start_console(80, 64, 5);
	write_text("before\n");
	assert_false(fbcons_squares(0, 0, 2, dark, 4));
	assert_true(fbcons_take(&width, &height));
	assert_int_equal(width, 80);
	assert_int_equal(height, 64);
	expect_line(0, "");
	write_text("meanwhile");
	expect_line(1, "");
	fbcons_text(3, "page\x01");
	expect_line(3, "page?");
	fbcons_text(4, "no such row");
	assert_true(fbcons_squares(72, 62, 2, dark, 4));
	assert_int_equal(screen[63 * 85 + 75], bi.bi_fb[0].fb_ink);
	assert_int_equal(screen[63 * 85 + 78], 0);
	assert_false(fbcons_squares(73, 62, 2, dark, 4));
	assert_false(fbcons_squares(72, 63, 2, dark, 4));
	assert_false(fbcons_squares(~0u, 0, 1, dark, 4));
	assert_false(fbcons_squares(0, 0, ~0u, dark, 4));
	assert_false(fbcons_squares(0, 0, 0x40000000, dark, 4));
	fbcons_give_back();
	expect_line(0, "before");
	expect_line(1, "meanwhile");
	expect_line(3, "");
	stop_console();
}

/* Two screens show the same, in the size that fits both. */
TEST(two_screens)
{
	bi.bi_fb[1] = (struct bootfb){ .fb_base = 0xd0000000,
		.fb_width = 64,
		.fb_height = 80,
		.fb_stride_bytes = 64 * 4,
		.fb_ink = 0x3fffffff,
		.fb_pixel_bytes = 4 };
	start_console(1600, 64, 0);
	assert_int_equal(fbcons_bytes(&bi), 8 * 4);
	write_text("|");
	for (unsigned y = 0; y < FONT_HEIGHT; y++) {
		for (unsigned x = 0; x < FONT_WIDTH; x++)
			assert_int_equal(screen[y * 1600 + x] != 0,
			    second[y * 64 + x] == 0x3fffffff);
	}
	bi.bi_fb[1] = (struct bootfb){ 0 };
	free(second);
	stop_console();
}

/* Pixels of 16 and 24 bits: the sanitizer checks the end of the screen. */
TEST(small_pixels)
{
	for (unsigned bytes = 2; bytes < 4; bytes++) {
		unsigned lit = 0;

		bi.bi_fb[1] = (struct bootfb){ .fb_base = 0xd0000000,
			.fb_width = 64,
			.fb_height = 64,
			.fb_stride_bytes = 64 * bytes,
			.fb_ink = 0xa55aff,
			.fb_pixel_bytes = bytes };
		start_console(64, 64, 0);
		write_text("|");
		const uint8_t *p = (const uint8_t *)second;
		for (unsigned at = 0; at < 64 * 64; at++, p += bytes) {
			bool ink = screen[at] != 0;

			lit += ink;
			assert_int_equal(p[0], ink ? 0xff : 0);
			assert_int_equal(p[1], ink ? 0x5a : 0);
			if (bytes == 3)
				assert_int_equal(p[2], ink ? 0xa5 : 0);
		}
		assert_true(lit > 0);
		bi.bi_fb[1] = (struct bootfb){ 0 };
		free(second);
		stop_console();
	}
}

TEST(lingers)
{
	start_console(800, 48, 0);
	fbcons_linger();
	expect_line(0, "end in a minute, or by a key");
	assert_in_range(now, 60, 63);
	stop_console();
	/* A key that was pressed before, and one after ten seconds. */
	start_console(800, 48, 0);
	key_at[0] = 1;
	key_at[1] = 10;
	now = 1;
	fbcons_linger();
	assert_in_range(now, 10, 13);
	stop_console();
}
