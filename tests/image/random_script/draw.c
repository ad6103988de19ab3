/*
 * What is left to chance in a mix.
 */
#include "tests/image/random_script/impl.h"

/* SplitMix64: one word of state, and every seed is as good as any. */
static uint64_t
draw(struct mix *mx)
{
	uint64_t z = mx->mx_random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint64_t
mix_below(struct mix *mx, uint64_t n)
{
	return draw(mx) % n;
}

/*
 * Some have counters of 32 and of 48 bits go round soon.  Where the overflow
 * is told it comes after a loop or after a few; never so soon that the
 * handler that restarts the set is told of the next.
 */
uint64_t
mix_draw_preset(struct mix *mx, bool notify)
{
	if (notify)
		return -(500 + mix_below(mx, mix_below(mx, 2) ? 500 : 30000));
	switch (mix_below(mx, 4)) {
	case 0:
		return draw(mx);
	case 1:
		return (draw(mx) << 32) - 1 - mix_below(mx, 1000);
	case 2:
		return (draw(mx) << 48) - 1 - mix_below(mx, 1000);
	default:
		return 0;
	}
}

/* Mostly short; some take an interrupt or two, few a whole slice. */
unsigned long
mix_draw_spins(struct mix *mx)
{
	uint64_t kind = mix_below(mx, 1000);

	if (kind < 2)
		return 2500000;
	return 1 + mix_below(mx, kind < 50 ? 20000 : 200);
}
