/*
 * The names a user types, eight letters at a time: folded to capitals, and
 * hashed.  Included within events/.
 *
 * Text is read by words, so up to EVENT_WORD - 1 bytes behind its NUL are
 * read, too, and mean nothing.
 */
#ifndef EVENTS_KEY_H
#define EVENTS_KEY_H

#include "events/events.h"

/* A name, or a part of one: letters, digits and `_`. */
struct event_key {
	/* Capitals, and NULs up to a word's end, a word of them at least. */
	char ek_text[EVENT_MAXNAME + EVENT_WORD];
	size_t ek_len;     /* more than EVENT_MAXNAME: no name is so long */
	uint64_t ek_small; /* 0: there are no small letters */
	uint32_t ek_hash;
};

/* Copies a name of at most `most` letters to where more may be read behind. */
bool event_pad(char *padded, const char *s, size_t most);
/* Returns where it ends; s of one that is too long. */
const char *event_key(struct event_key *key, const char *s);
/* Is there a capital among so many letters? */
bool event_has_capital(const char *s, size_t len);

/* The byte, eight times. */
#define EVENT_BYTES(b) ((b)*0x0101010101010101ULL)

static inline uint64_t
event_word(const char *s)
{
	uint64_t w;

	__builtin_memcpy(&w, s, sizeof w);
	return w;
}

/*
 * Bit 7 of each byte that is 0, and of some that are not: of those behind one
 * that is, if they are 1.
 */
static inline uint64_t
event_zero_bytes(uint64_t w)
{
	return (w - EVENT_BYTES(1)) & ~w & EVENT_BYTES(0x80);
}

/* Is that the name, of the tables, in capitals? */
static inline bool
event_key_is(const struct event_key *key, const char *name)
{
	size_t i;
	unsigned behind;

	if (key->ek_len > EVENT_MAXNAME)
		return false;
	for (i = 0; i + EVENT_WORD <= key->ek_len; i += EVENT_WORD) {
		if (event_word(name + i) != event_word(key->ek_text + i))
			return false;
	}
	/* The letters that are left, and the NUL. */
	behind = 8 * (EVENT_WORD - 1 - (unsigned)(key->ek_len - i));
	return (event_word(name + i) ^ event_word(key->ek_text + i))
	           << behind ==
	       0;
}

/*
 * How long the name, of the tables, is, if text begins with it, and 0 if not.
 * Of a name's bytes only NULs are 0 or beyond 0x7f after 1 is taken away.
 */
static inline size_t
event_prefix(const char *text, const char *name)
{
	uint64_t w, differ, nuls;
	size_t i;

	for (i = 0;; i += EVENT_WORD) {
		w = event_word(name + i);
		differ = event_word(text + i) ^ w;
		nuls = (w - EVENT_BYTES(1)) & EVENT_BYTES(0x80);
		if (nuls != 0)
			break;
		if (differ != 0)
			return 0;
	}
	/* What is before the first of them. */
	if ((differ & (nuls ^ (nuls - 1)) >> 8) != 0)
		return 0;
	return i + (unsigned)__builtin_ctzll(nuls) / 8;
}

#endif /* EVENTS_KEY_H */
