/*
 * Fold a name to capitals and hash it, eight letters at a time.  Included
 * within events/.
 *
 * Text is read by words, so up to EVENT_WORD - 1 bytes after its NUL are read,
 * too.  They have no effect.
 */
#pragma once

#include "events/events.h"

/* A name, or a part of one: letters, digits and `_`. */
struct event_key {
	/* Capitals, then NULs to the end of the word. */
	char ek_text[EVENT_MAXNAME + EVENT_WORD];
	size_t ek_len;     /* above EVENT_MAXNAME: too long for any name */
	uint64_t ek_small; /* not 0: the name had small letters */
	uint32_t ek_hash;
};

/* Copy a name of at most `most` letters.  Bytes after it are then readable. */
bool event_pad(char *padded, const char *s, size_t most);
/* Returns the end of the name, or s if it is too long. */
const char *event_key(struct event_key *key, const char *s);
/* Has the text a capital in its first len letters? */
bool event_has_capital(const char *s, size_t len);

/* A word of eight equal bytes. */
#define EVENT_BYTES(b) ((b)*0x0101010101010101ULL)

static inline uint64_t
event_word(const char *s)
{
	uint64_t w;

	__builtin_memcpy(&w, s, sizeof w);
	return w;
}

/*
 * Bit 7 of each byte that is 0.  A byte of 1 after a 0 has its bit set, too,
 * so the caller compares what it finds.
 */
static inline uint64_t
event_zero_bytes(uint64_t w)
{
	return (w - EVENT_BYTES(1)) & ~w & EVENT_BYTES(0x80);
}

/* Is the key this name, which the tables have in capitals? */
static inline bool
event_key_is(const struct event_key *key, const char *name)
{
	size_t i;
	unsigned unused;

	if (key->ek_len > EVENT_MAXNAME)
		return false;
	for (i = 0; i + EVENT_WORD <= key->ek_len; i += EVENT_WORD) {
		if (event_word(name + i) != event_word(key->ek_text + i))
			return false;
	}
	/* The remaining letters, and the NUL. */
	unused = 8 * (EVENT_WORD - 1 - (unsigned)(key->ek_len - i));
	return (event_word(name + i) ^ event_word(key->ek_text + i))
	           << unused ==
	       0;
}

/*
 * The length of a name of the tables if text begins with it, else 0.  A name
 * is ASCII, so after 1 is subtracted only its NUL has bit 7.
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
	/* The letters before the NUL. */
	if ((differ & (nuls ^ (nuls - 1)) >> 8) != 0)
		return 0;
	return i + (unsigned)__builtin_ctzll(nuls) / 8;
}
