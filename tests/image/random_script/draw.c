/* The random choices of a mix. */
#include "tests/image/random_script/impl.h"

/* SplitMix64: one word of state, and all seeds are equally good. */
static uint64_t
draw_word(struct mix *mx)
{
	uint64_t z = mx->mx_random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint64_t
mix_below(struct mix *mx, uint64_t n)
{
	return draw_word(mx) % n;
}

/*
 * Some presets make counters of 32 and 48 bits wrap soon.  A notify overflow
 * comes after one loop or a few.  It never comes while the handler of the last
 * one runs, which is shorter than 500 instructions.
 */
uint64_t
mix_draw_preset(struct mix *mx, bool notify)
{
	if (notify)
		return -(500 + mix_below(mx, mix_below(mx, 2) ? 500 : 30000));
	switch (mix_below(mx, 4)) {
	case 0:
		return draw_word(mx);
	case 1:
		return (draw_word(mx) << 32) - 1 - mix_below(mx, 1000);
	case 2:
		return (draw_word(mx) << 48) - 1 - mix_below(mx, 1000);
	default:
		return 0;
	}
}

/* Most loops are short, some wait for an interrupt, few a whole slice. */
unsigned long
mix_draw_spins(struct mix *mx)
{
	uint64_t kind = mix_below(mx, 1000);

	if (kind < 2)
		return 2500000;
	return 1 + mix_below(mx, kind < 50 ? 20000 : 200);
}
