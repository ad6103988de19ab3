/*
 * The names a user types, letter by letter but once: folded to capitals,
 * with which letters they were, and hashed.  Included within events/.
 */
#ifndef EVENTS_KEY_H
#define EVENTS_KEY_H

#include "events/events.h"

/* It had capitals, small letters. */
#define KEY_UPPER 0x100
#define KEY_LOWER 0x200
#define KEY_MIXED (KEY_UPPER | KEY_LOWER)

/* A name, or a part of one: what is before NUL, a colon, a dot, or `=`. */
struct event_key {
	/* Capitals, and NULs up to a word's end and a word more. */
	char ek_text[EVENT_MAXNAME + 1 + EVENT_WORD];
	size_t ek_len;    /* more than EVENT_MAXNAME: no name is so long */
	unsigned ek_seen; /* KEY_* */
	uint32_t ek_hash;
};

/* Returns where it ends. */
const char *event_key(struct event_key *key, const char *s);

static inline uint64_t
event_word(const char *s)
{
	uint64_t w;

	__builtin_memcpy(&w, s, sizeof w);
	return w;
}

/*
 * Is that the name, of the tables, in capitals?  Those have a word behind
 * their last name that may be read.
 */
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

#endif /* EVENTS_KEY_H */
