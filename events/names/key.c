/*
 * Keys of names.  The letters of the name take most of a lookup's time, so
 * each is read once, eight at a time.
 */
#include "events/names/key.h"

/*
 * Bit 7 of each byte that ends a name, which is any byte but a letter, a digit
 * or `_`.  The bytes `@`, `[` to `^` and '`' do not end one; no name has them.
 * Bit 6 is set in letters and in these characters.  The additions carry into
 * bit 7 from '0', ':' and '{' on.
 */
static inline uint64_t
ends_of(uint64_t w)
{
	uint64_t low = w & EVENT_BYTES(0x7f);
	uint64_t digits =
	    (low + EVENT_BYTES(0x80 - '0')) ^ (low + EVENT_BYTES(0x80 - ':'));
	uint64_t beyond = (low + EVENT_BYTES(0x80 - '{')) | w;

	return (~(digits ^ w << 1) | beyond) & EVENT_BYTES(0x80);
}

/* Bit 5 of each letter and of `_`: small letters have it, capitals not. */
static inline uint64_t
case_bits(uint64_t w)
{
	return w >> 1 & EVENT_BYTES(0x20);
}

bool
event_pad(char *padded, const char *s, size_t most)
{
	size_t n = 0;

	while (s[n] != '\0' && n < most) {
		padded[n] = s[n];
		n++;
	}
	padded[n] = '\0';
	return s[n] == '\0';
}

const char *
event_key(struct event_key *key, const char *s)
{
	uint64_t w, ends, lower, small = 0, hash = 0;
	unsigned bits;
	size_t n;

	for (n = 0; (ends = ends_of(w = event_word(s + n))) == 0;
	     n += EVENT_WORD) {
		if (n == EVENT_MAXNAME) {
			key->ek_len = n + EVENT_WORD;
			return s;
		}
		lower = w & case_bits(w);
		small |= lower;
		w ^= lower;
		__builtin_memcpy(key->ek_text + n, &w, sizeof w);
		hash = event_hash_word(hash, w);
	}
	bits = (unsigned)__builtin_ctzll(ends) & ~7U;
	w &= (1ULL << bits) - 1;
	lower = w & case_bits(w);
	w ^= lower;
	__builtin_memcpy(key->ek_text + n, &w, sizeof w);
	if (bits != 0)
		hash = event_hash_word(hash, w);
	key->ek_len = n + bits / 8;
	key->ek_small = small | lower;
	key->ek_hash = (uint32_t)hash;
	return s + key->ek_len;
}

bool
event_has_capital(const char *s, size_t len)
{
	uint64_t w, large;

	for (size_t i = 0; i < len; i += EVENT_WORD) {
		w = event_word(s + i);
		/* `_` has bits 4 to 2; no letter has all three. */
		large = case_bits(w) & ~(w | (w << 1 & w << 2 & w << 3));
		if (len - i < EVENT_WORD)
			large &= (1ULL << 8 * (len - i)) - 1;
		if (large != 0)
			return true;
	}
	return false;
}
