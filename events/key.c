/*
 * A lookup's time is mostly the letters of the name: each is looked at once.
 */
#include "events/key.h"

/* What a letter becomes, or 0: it ends a name. */
#define FOLD(c)                                                                 \
	((c) == '.' || (c) == ':' || (c) == '=' ? 0                             \
	    : (c) >= 'a' && (c) <= 'z'          ? KEY_LOWER | ((c) - 'a' + 'A') \
	    : (c) >= 'A' && (c) <= 'Z'          ? KEY_UPPER | (c)               \
						: (c))
#define FOLD4(c)  FOLD(c), FOLD((c) + 1), FOLD((c) + 2), FOLD((c) + 3)
#define FOLD16(c) FOLD4(c), FOLD4((c) + 4), FOLD4((c) + 8), FOLD4((c) + 12)
#define FOLD64(c)                                                              \
	FOLD16(c), FOLD16((c) + 16), FOLD16((c) + 32), FOLD16((c) + 48)

static const uint16_t folded[256] = { FOLD64(0), FOLD64(64), FOLD64(128),
	FOLD64(192) };

const char *
event_key(struct event_key *key, const char *s)
{
	static const char nuls[EVENT_WORD];
	unsigned seen = 0, c;
	size_t n;

#pragma GCC unroll 4
	for (n = 0; n < EVENT_MAXNAME; n++) {
		if ((c = folded[(unsigned char)s[n]]) == 0)
			break;
		seen |= c;
		key->ek_text[n] = (char)c;
	}
	__builtin_memcpy(key->ek_text + n, nuls, sizeof nuls);
	key->ek_hash = event_hash(key->ek_text, n);
	while (folded[(unsigned char)s[n]] != 0)
		n++;
	key->ek_len = n;
	key->ek_seen = seen & KEY_MIXED;
	return s + n;
}
