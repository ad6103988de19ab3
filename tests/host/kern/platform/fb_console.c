/*
 * The text console on a framebuffer: what is written can be read back from
 * the pixels by the font; nothing is drawn beyond the screen, whatever its
 * size, its stride and the text.
 */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/console.h"
#include "kern/platform/fb_console.h"
#include "lib/font.h"

static struct bootinfo bi;
static uint32_t *screen;
static char *cells;
static void (*put)(int c);

volatile void *
arch_map_device(uint64_t pa, size_t len)
{
	assert_int_equal(pa, bi.bi_fb.fb_base);
	/* The sanitizer watches both ends. */
	return screen = malloc(len);
}

void
cons_mirror(void (*fn)(int c))
{
	put = fn;
}

/* Every look at the clock is a second later. */
static uint64_t now;

uint64_t
arch_tick(void)
{
	return now++;
}

uint64_t
arch_tick_hz(void)
{
	return 1;
}

static void
start(uint32_t width, uint32_t height, uint32_t extra)
{
	put = NULL;
	bi.bi_fb = (struct bootfb){ .fb_base = 0xe0000000,
		.fb_width = width,
		.fb_height = height,
		.fb_stride_bytes = (width + extra) * 4 };
	if (fbcons_bytes(&bi) > 0) {
		cells = malloc(fbcons_bytes(&bi));
		assert_true(fbcons_init(&bi, cells));
	}
}

static void
stop(void)
{
	free(screen);
	free(cells);
	screen = NULL;
	cells = NULL;
}

static void
say(const char *s)
{
	while (*s != '\0')
		put((unsigned char)*s++);
}

/* The character shown in a cell, by its pixels; 0 if no glyph is that. */
static char
shown(unsigned col, unsigned row)
{
	size_t stride = bi.bi_fb.fb_stride_bytes / 4;
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
	unsigned cols = bi.bi_fb.fb_width / FONT_WIDTH;

	for (unsigned col = 0; col < cols; col++)
		assert_int_equal(
		    shown(col, row), col < strlen(want) ? want[col] : ' ');
}

static void
text(void **state)
{
	(void)state;
	start(80, 48, 0);
	say("Hello\r\nab\bc\n\tx");
	expect_line(0, "Hello");
	expect_line(1, "ac");
	expect_line(2, "        x");
	stop();
}

/* A line as wide as the screen is one line: the next one wraps. */
static void
wraps(void **state)
{
	(void)state;
	start(32 + 5, 64 + 9, 11);
	say("abcd\nefghi\n");
	expect_line(0, "abcd");
	expect_line(1, "efgh");
	expect_line(2, "i");
	expect_line(3, "");
	stop();
}

static void
scrolls(void **state)
{
	char line[16];

	(void)state;
	start(80, 8 * FONT_HEIGHT, 3);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(line, sizeof line, "line %u\n", i);
		say(line);
	}
	/* By a quarter at a time: six or seven lines of eight are filled. */
	expect_line(5, "line 99");
	expect_line(0, "line 94");
	expect_line(6, "");
	stop();
}

static void
other_characters(void **state)
{
	(void)state;
	start(80, 32, 0);
	say("a\xe2\x82\xac"
	    "b\x1b\x7f\xc3\xa9");
	expect_line(0, "a?b?");
	stop();
}

static void
small_screens(void **state)
{
	(void)state;
	start(7, 600, 0);
	assert_null(put);
	start(800, 15, 0);
	assert_null(put);
	for (unsigned rows = 1; rows < 6; rows++) {
		for (unsigned cols = 1; cols < 10; cols++) {
			start(cols * FONT_WIDTH + 1, rows * FONT_HEIGHT + 1, 1);
			for (unsigned i = 0; i < 20; i++)
				say("a\tbcdefghijkl\n\n\b\b\tz");
			stop();
		}
	}
	bi.bi_fb.fb_base = 0;
	assert_int_equal(fbcons_bytes(&bi), 0);
}

static void
lingers(void **state)
{
	(void)state;
	start(800, 48, 0);
	fbcons_linger();
	expect_line(0, "end in a minute");
	assert_in_range(now, 60, 63);
	stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text),
		cmocka_unit_test(wraps),
		cmocka_unit_test(scrolls),
		cmocka_unit_test(other_characters),
		cmocka_unit_test(small_screens),
		cmocka_unit_test(lingers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
