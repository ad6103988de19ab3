/*
 * Parses the shape of the software PMU on the command line.
 */
#include "kern/cpc/soft/soft_shape.h"

#include "kern/cpc/pcbe.h"
#include "lib/string.h"

const struct soft_shape soft_shape_default = {
	.ns_pics = 4,
	.ns_width = 48,
	.ns_ovf = SOFT_OVF_PRECISE,
	.ns_raw = true,
	.ns_hv = true,
	.ns_event = { ~0U, ~0U, ~0U },
	.ns_event2 = { ~0U, ~0U, ~0U },
};

static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const ovfs[] = { "none", "imprecise", "precise", NULL };
static const char *const pmis[] = { "once", "twice", "never", NULL };
static const char *const models[] = { "plain", "p4", "ultra", NULL };
static const char *const shareds[] = { "no", "filter", "siblings", NULL };

static const struct key {
	const char *k_name;
	size_t k_at;
	const char *const *k_words; /* the value is an index into these */
	unsigned long k_min, k_max; /* k_words NULL: a number */
	const char *k_why;
} keys[] = {
	{ "shape", offsetof(struct soft_shape, ns_model), models, 0, 0,
	    "shape= is plain, p4 or ultra" },
	{ "pics", offsetof(struct soft_shape, ns_pics), NULL, 1, PCBE_MAXPIC,
	    "pics= is a number from 1 to 32" },
	{ "fixed", offsetof(struct soft_shape, ns_fixed), NULL, 0, SOFT_NEVENT,
	    "fixed= is a number up to 3" },
	{ "width", offsetof(struct soft_shape, ns_width), NULL, 16, 64,
	    "width= is a number from 16 to 64" },
	{ "ovf", offsetof(struct soft_shape, ns_ovf), ovfs, 0, 0,
	    "ovf= is none, imprecise or precise" },
	{ "skid", offsetof(struct soft_shape, ns_skid), NULL, 0, 1000,
	    "skid= is a number up to 1000" },
	{ "late", offsetof(struct soft_shape, ns_late), NULL, 0, 1000000,
	    "late= is a number up to 1000000" },
	{ "pmi", offsetof(struct soft_shape, ns_pmi), pmis, 0, 0,
	    "pmi= is once, twice or never" },
	{ "nmi", offsetof(struct soft_shape, ns_nmi), no_yes, 0, 0,
	    "nmi= is yes or no" },
	{ "mute", offsetof(struct soft_shape, ns_mute), NULL, 0, ~0U,
	    "mute= is a mask of PICs" },
	{ "helpers", offsetof(struct soft_shape, ns_helpers), no_yes, 0, 0,
	    "helpers= is yes or no" },
	{ "broken", offsetof(struct soft_shape, ns_broken), NULL, 0, ~0U,
	    "broken= is a mask of PICs" },
	{ "shared", offsetof(struct soft_shape, ns_shared), shareds, 0, 0,
	    "shared= is no, filter or siblings" },
	{ "keeps", offsetof(struct soft_shape, ns_keeps), no_yes, 0, 0,
	    "keeps= is yes or no" },
	{ "forgets", offsetof(struct soft_shape, ns_forgets), no_yes, 0, 0,
	    "forgets= is yes or no" },
	{ "staggered", offsetof(struct soft_shape, ns_staggered), no_yes, 0, 0,
	    "staggered= is yes or no" },
	{ "papi", offsetof(struct soft_shape, ns_papi), no_yes, 0, 0,
	    "papi= is yes or no" },
	{ "raw", offsetof(struct soft_shape, ns_raw), no_yes, 0, 0,
	    "raw= is yes or no" },
	{ "hv", offsetof(struct soft_shape, ns_hv), no_yes, 0, 0,
	    "hv= is yes or no" },
	{ "instructions", offsetof(struct soft_shape, ns_event[0]), NULL, 0,
	    ~0U, "instructions= is a mask of PICs" },
	{ "cycles", offsetof(struct soft_shape, ns_event[1]), NULL, 0, ~0U,
	    "cycles= is a mask of PICs" },
	{ "branches", offsetof(struct soft_shape, ns_event[2]), NULL, 0, ~0U,
	    "branches= is a mask of PICs" },
	{ "pics2", offsetof(struct soft_shape, ns_pics2), NULL, 1, PCBE_MAXPIC,
	    "pics2= is a number from 1 to 32" },
	{ "instructions2", offsetof(struct soft_shape, ns_event2[0]), NULL, 0,
	    ~0U, "instructions2= is a mask of PICs" },
	{ "cycles2", offsetof(struct soft_shape, ns_event2[1]), NULL, 0, ~0U,
	    "cycles2= is a mask of PICs" },
	{ "branches2", offsetof(struct soft_shape, ns_event2[2]), NULL, 0, ~0U,
	    "branches2= is a mask of PICs" },
};
#define NKEYS (sizeof keys / sizeof keys[0])

/* The rest of s after `word` and `end` or NUL; NULL if s is another word. */
static const char *
match_word(const char *s, const char *word, char end)
{
	size_t n = strlen(word);

	if (strncmp(s, word, n) != 0 || (s[n] != end && s[n] != '\0'))
		return NULL;
	return s + n;
}

/* Set *v to the value at s.  Returns the rest of s; NULL: not a value. */
static const char *
parse_value(const struct key *k, const char *s, unsigned *v)
{
	const char *rest;
	unsigned long n;
	char *end;

	if (k->k_words == NULL) {
		n = strtoul(s, &end, 0);
		*v = (unsigned)n;
		return *s >= '0' && *s <= '9' && n >= k->k_min &&
		               n <= k->k_max && (*end == ',' || *end == '\0')
		           ? end
		           : NULL;
	}
	for (unsigned i = 0; k->k_words[i] != NULL; i++) {
		if ((rest = match_word(s, k->k_words[i], ',')) != NULL) {
			*v = i;
			return rest;
		}
	}
	return NULL;
}

/* Parse KEY=VALUE at *s and move *s past it.  NULL, or what is wrong. */
static const char *
parse_key(const char **s, struct soft_shape *ns)
{
	const char *v;

	for (const struct key *k = keys; k < keys + NKEYS; k++) {
		v = match_word(*s, k->k_name, '=');
		if (v == NULL || *v != '=')
			continue;
		*s = parse_value(k, v + 1, (unsigned *)((char *)ns + k->k_at));
		return *s != NULL ? NULL : k->k_why;
	}
	return "no such key; known: shape pics fixed width ovf skid late pmi "
	       "nmi mute helpers broken shared keeps forgets staggered papi "
	       "raw hv instructions cycles branches pics2 instructions2 "
	       "cycles2 branches2";
}

const char *
soft_shape_parse(const char *word, struct soft_shape *ns)
{
	const char *why, *rest;
	unsigned model = SOFT_PLAIN;

	*ns = soft_shape_default;
	if ((rest = match_word(word, "software", ',')) == NULL &&
	    (rest = match_word(word, "null", ',')) == NULL)
		return "not software[,KEY=VALUE]...";
	word = rest;
	while (*word == ',') {
		bool first = word == rest;

		word++;
		if ((why = parse_key(&word, ns)) != NULL)
			return why;
		if (ns->ns_model != model && !first)
			return "shape= must be the first key";
		if (ns->ns_model != model)
			*ns = soft_model_shapes[model = ns->ns_model];
	}
	if (ns->ns_fixed >= ns->ns_pics)
		return "fixed= must be less than pics=: no general PIC is left";
	if (ns->ns_pics2 != 0 &&
	    (ns->ns_model != SOFT_PLAIN || ns->ns_fixed != 0))
		return "pics2= needs shape=plain and fixed=0";
	return NULL;
}
