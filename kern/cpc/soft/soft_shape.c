/* Parses the shape of the software PMU on the command line. */
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

#define AT(field)                     offsetof(struct soft_shape, field)
#define WORD(name, field, words, why) name, AT(field), words, 0, 0, name why
#define FLAG(name, field)             WORD(name, field, no_yes, "= is yes or no")
#define RANGE(name, field, min, max, why)                                      \
	name, AT(field), NULL, min, max, name why
#define PICS(name, field) RANGE(name, field, 0, ~0U, "= is a mask of PICs")
_Static_assert(PCBE_MAXPIC == 32 && SOFT_NEVENT == 3, "as the texts say");

static const struct key {
	const char *k_name;
	size_t k_at;
	const char *const *k_words; /* the value is an index into these */
	unsigned long k_min, k_max; /* k_words NULL: a number */
	const char *k_why;
} keys[] = {
	{ WORD("shape", ns_model, models, "= is plain, p4 or ultra") },
	{ RANGE("pics", ns_pics, 1, 32, "= is a number from 1 to 32") },
	{ RANGE("fixed", ns_fixed, 0, 3, "= is a number up to 3") },
	{ RANGE("width", ns_width, 16, 64, "= is a number from 16 to 64") },
	{ WORD("ovf", ns_ovf, ovfs, "= is none, imprecise or precise") },
	{ RANGE("skid", ns_skid, 0, 1000, "= is a number up to 1000") },
	{ RANGE("late", ns_late, 0, 1000000, "= is a number up to 1000000") },
	{ WORD("pmi", ns_pmi, pmis, "= is once, twice or never") },
	{ FLAG("nmi", ns_nmi) },
	{ PICS("mute", ns_mute) },
	{ FLAG("helpers", ns_helpers) },
	{ PICS("broken", ns_broken) },
	{ WORD("shared", ns_shared, shareds, "= is no, filter or siblings") },
	{ FLAG("keeps", ns_keeps) },
	{ FLAG("forgets", ns_forgets) },
	{ FLAG("staggered", ns_staggered) },
	{ FLAG("papi", ns_papi) },
	{ FLAG("raw", ns_raw) },
	{ FLAG("hv", ns_hv) },
	{ PICS("instructions", ns_event[0]) },
	{ PICS("cycles", ns_event[1]) },
	{ PICS("branches", ns_event[2]) },
	{ RANGE("pics2", ns_pics2, 1, 32, "= is a number from 1 to 32") },
	{ PICS("instructions2", ns_event2[0]) },
	{ PICS("cycles2", ns_event2[1]) },
	{ PICS("branches2", ns_event2[2]) },
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
