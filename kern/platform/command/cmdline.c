/* Parses the command line into struct cmdline. */
#include "kern/platform/command/cmdline.h"

#include "kern/mm/page.h"
#include "kern/platform/command/quiet_word.h"
#include "kern/platform/command/words.h"
#include "kern/platform/entry_budget.h"
#include "lib/printf.h"
#include "lib/string.h"

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * Copy the word at *from to `to` without its quotes.  `to` is never ahead of
 * *from, which moves to the end of the word.  Returns the end of the copy, or
 * NULL if a quote is not closed.
 */
static char *
unquote_word(char **from, char *to)
{
	char *s = *from;
	bool quoted = false;

	for (; *s != '\0' && (quoted || !is_blank(*s)); s++) {
		if (*s == '"') {
			quoted = !quoted;
			continue;
		}
		if (*s == '\\' && s[1] != '\0' &&
		    (!quoted || strchr("\"\\$`", s[1]) != NULL))
			s++;
		*to++ = *s;
	}
	*from = s;
	return quoted ? NULL : to;
}

char word_pipe[] = "|", word_both[] = "&";

/* The operator that text begins with, as a word without quotes, or NULL. */
static char *
find_operator(const char *text)
{
	if (text[1] != '\0' && !is_blank(text[1]))
		return NULL;
	return *text == '|' ? word_pipe : *text == '&' ? word_both : NULL;
}

/* An upper bound: the number of non-blanks that follow a blank. */
static unsigned
count_bound(const char *s)
{
	unsigned n = 0;

	for (bool blank = true; *s != '\0'; s++) {
		if (blank && !is_blank(*s))
			n++;
		blank = is_blank(*s);
	}
	return n;
}

char **
words_split(char *text, unsigned *count, const char **why)
{
	char **words = kmalloc((count_bound(text) + 1) * sizeof *words);
	char *to = text;
	unsigned n = 0;

	if (words == NULL) {
		*why = "no memory for its words";
		return NULL;
	}
	for (;;) {
		while (is_blank(*text))
			text++;
		if (*text == '\0')
			break;
		if ((words[n] = find_operator(text)) != NULL) {
			n++;
			text++;
			continue;
		}
		/* The blank after each word leaves room for its NUL. */
		words[n++] = to;
		to = unquote_word(&text, to);
		if (to == NULL) {
			kfree(words);
			*why = "a double quote is not closed";
			return NULL;
		}
		bool last = *text == '\0';
		*to++ = '\0';
		if (last)
			break;
		text++;
	}
	*count = n;
	return words;
}

/* The rest of word after prefix, or NULL if word has another prefix. */
static const char *
after_prefix(const char *word, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(word, prefix, n) == 0 ? word + n : NULL;
}

static bool
parse_number(const char *s, unsigned max, unsigned *v)
{
	char *end;
	unsigned long n = strtoul(s, &end, 10);

	*v = (unsigned)n;
	return *s >= '0' && *s <= '9' && *end == '\0' && n <= max;
}

/* N, or N,PER_PAGE. */
static bool
parse_limit(const char *v, struct cmdline *cl)
{
	char *end;

	cl->cl_limit = strtoul(v, &end, 10);
	cl->cl_limit_page = LIMIT_PER_PAGE;
	if (*v < '0' || *v > '9' || cl->cl_limit == 0)
		return false;
	if (*end == '\0')
		return true;
	return *end == ',' &&
	       parse_number(end + 1, 1000000, &cl->cl_limit_page);
}

/* Parse one of two values.  Returns false if v is neither. */
static bool
parse_choice(const char *v, const char *no, const char *yes, bool *choice)
{
	*choice = strcmp(v, yes) == 0;
	return *choice || strcmp(v, no) == 0;
}

static bool
is_one_of(const char *v, const char *a, const char *b, const char *c)
{
	return strcmp(v, a) == 0 || strcmp(v, b) == 0 || strcmp(v, c) == 0;
}

/* Parse n names that commas join: bit i of *bits becomes 1 for names[i]. */
static bool
parse_names(const char *v, const char *const *names, unsigned n, unsigned *bits)
{
	for (;;) {
		const char *comma = strchr(v, ',');
		size_t len = comma != NULL ? (size_t)(comma - v) : strlen(v);
		unsigned i = 0;

		while (i < n && (strlen(names[i]) != len ||
				    memcmp(v, names[i], len) != 0))
			i++;
		if (i == n)
			return false;
		*bits |= 1U << i;
		if (comma == NULL)
			return true;
		v = comma + 1;
	}
}

/* In the order of DEBUG_*. */
static const char *const debug_names[] = { "poison", "undefined", "smash",
	"freed-page", "freed-block", "past-block", "past-large" };

const char *const quiet_names[QUIET_N] = {
	[QUIET_FREQ] = "freq",
	[QUIET_TURBO] = "turbo",
	[QUIET_CSTATES] = "cstates",
	[QUIET_PREFETCH] = "prefetch",
	[QUIET_SMM] = "smm",
};

static bool
parse_quiet(const char *v, unsigned *items)
{
	*items = strcmp(v, "all") == 0    ? QUIET_ALL
	         : strcmp(v, "none") == 0 ? QUIET_NONE
	                                  : 0;
	return *items != 0 || parse_names(v, quiet_names, QUIET_N, items);
}

/* Parse a hexadecimal number of 32 bits.  Returns the character after it. */
static const char *
parse_hex32(const char *s, uint32_t *v)
{
	char *end;
	unsigned long n = strtoul(s, &end, 16);

	*v = (uint32_t)n;
	return *s >= '0' && *s <= '9' && n <= UINT32_MAX ? end : "?";
}

/*
 * Parse SELECT:CHOOSE:OBEYED,...: the events that an emulator models.  Returns
 * false if v is no list, or too long.
 */
static bool
parse_model_list(const char *v, struct cpc_model *list, unsigned *n)
{
	for (*n = 0; *n < CPC_PMU_MODELS; v++) {
		struct cpc_model *m = &list[(*n)++];

		v = parse_hex32(v, &m->ml_select);
		if (*v != ':')
			return false;
		v = parse_hex32(v + 1, &m->ml_match_mask);
		if (*v != ':')
			return false;
		v = parse_hex32(v + 1, &m->ml_modelled_mask);
		if (*v != ',')
			return *v == '\0';
	}
	return false;
}

/* Returns NULL, or why the value of models= is refused. */
static const char *
parse_models(const char *v, struct cmdline *cl)
{
	cl->cl_nmodels = 0;
	cl->cl_models_any = strcmp(v, "any") == 0;
	if (parse_choice(v, "any", "pmceid", &cl->cl_models_pmceid) ||
	    parse_model_list(v, cl->cl_models, &cl->cl_nmodels))
		return NULL;
	cl->cl_nmodels = 0;
	return "not any, pmceid or SELECT:CHOOSE:OBEYED,...";
}

/* The CPC_COUNT_* flags of a value of witness=, or 0 if v is no such value. */
static uint32_t
parse_witness(const char *v)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} known[] = {
		{ "1", CPC_COUNT_USER },
		{ "user", CPC_COUNT_USER },
		{ "system", CPC_COUNT_SYSTEM },
		{ "both", CPC_COUNT_USER | CPC_COUNT_SYSTEM },
	};

	for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(v, known[i].name) == 0)
			return known[i].flags;
	}
	return 0;
}

/* NAME=VALUE, with a name.  Returns NULL, or why the word is refused. */
static const char *
env_word(struct cmdline *cl, char *v)
{
	if (*v == '=' || strchr(v, '=') == NULL)
		return "not env.NAME=VALUE";
	cl->cl_env[cl->cl_nenv++] = v;
	return NULL;
}

/* Can this be a member of a JSON object as it is? */
static bool
host_fact_ok(const char *v)
{
	size_t n = 0;

	while (v[n] == '_' || (v[n] >= 'a' && v[n] <= 'z'))
		n++;
	if (n == 0 || v[n] != '=')
		return false;
	for (; v[n] != '\0'; n++) {
		if (v[n] < ' ' || v[n] > '~' || v[n] == '"' || v[n] == '\\')
			return false;
	}
	return n < CMDLINE_HOST_BYTES;
}

static const char *
host_word(struct cmdline *cl, const char *v)
{
	if (!host_fact_ok(v))
		return "not host.NAME=VALUE with a name of small letters, a "
		       "value without quotes, 160 bytes in all";
	if (cl->cl_nhost == CMDLINE_HOST_MAX)
		return "more than 8 words host.";
	cl->cl_host[cl->cl_nhost++] = v;
	return NULL;
}

/*
 * Parse a word with two values.  Returns false if the word has another prefix.
 * *why becomes NULL, or wrong if the value is neither.
 */
static bool
is_choice(const char *word, const char *prefix, const char *no, const char *yes,
    bool *choice, const char *wrong, const char **why)
{
	const char *v = after_prefix(word, prefix);

	if (v == NULL)
		return false;
	*why = parse_choice(v, no, yes, choice) ? NULL : wrong;
	return true;
}

/* Parse a word with two values.  Returns false for any other word. */
static bool
choice_word(struct cmdline *cl, const char *word, const char **why)
{
	return is_choice(word, "output=", "text", "framed", &cl->cl_framed,
		   "not text or framed", why) ||
	       is_choice(word, "console=", "text", "framed", &cl->cl_framed,
		   "not text or framed", why) ||
	       is_choice(word, "priv=", "user", "system", &cl->cl_system,
		   "not user or system", why) ||
	       is_choice(word, "test_hooks=", "no", "yes", &cl->cl_test_hooks,
		   "not yes or no", why) ||
	       is_choice(word, "cpc_cpu=", "yes", "no", &cl->cl_no_cpc_cpu,
		   "not yes or no", why) ||
	       is_choice(word, "screen=", "pages", "text", &cl->cl_no_pages,
		   "not pages or text", why) ||
	       is_choice(word, "nmi=", "count", "panic", &cl->cl_nmi_panics,
		   "not count or panic", why);
}

/* Parse a word with a number of seconds.  Returns false for any other word. */
static bool
seconds_word(struct cmdline *cl, const char *word, const char **why)
{
	const char *timeout = after_prefix(word, "timeout=");
	const char *deadline = after_prefix(word, "deadline=");

	if (timeout == NULL && deadline == NULL)
		return false;
	*why = parse_number(timeout != NULL ? timeout : deadline, 1000000,
		   timeout != NULL ? &cl->cl_timeout : &cl->cl_deadline)
	           ? NULL
	           : "not a number of seconds up to 1000000";
	return true;
}

/* Parse one word for the kernel.  Returns NULL, or why the word is refused. */
static const char *
kernel_word(struct cmdline *cl, char *word)
{
	const char *v;

	if (choice_word(cl, word, &v) || seconds_word(cl, word, &v))
		return v;
	if ((v = after_prefix(word, "trace=")) != NULL) {
		cl->cl_trace_stops = strcmp(v, "stops") == 0;
		return cl->cl_trace_stops ? NULL : "not stops";
	}
	if ((v = after_prefix(word, "checks=")) != NULL)
		return parse_names(v, debug_names,
			   sizeof debug_names / sizeof debug_names[0],
			   &cl->cl_debug)
		           ? NULL
		           : "not poison";
	if ((v = after_prefix(word, "out=")) != NULL) {
		cl->cl_out = after_prefix(v, "/tmp/");
		return cl->cl_out != NULL ? NULL : "not /tmp/NAME";
	}
	/* These two are boot/efi/efi_kept.c's. */
	if ((v = after_prefix(word, "keep=")) != NULL)
		return is_one_of(v, "ram", "nvram", "no")
		           ? NULL
		           : "not ram, nvram or no";
	if ((v = after_prefix(word, "then=")) != NULL)
		return is_one_of(v, "off", "reboot", "run")
		           ? NULL
		           : "not off, reboot or run";
	if ((v = after_prefix(word, "kernel_limit=")) != NULL)
		return parse_limit(v, cl)
		           ? NULL
		           : "not a number of instructions, or two";
	if ((v = after_prefix(word, "cpus=")) != NULL)
		return parse_number(v, 1000000, &cl->cl_cpus) && cl->cl_cpus > 0
		           ? NULL
		           : "not a number of CPUs";
	if ((v = after_prefix(word, "quiet=")) != NULL)
		return parse_quiet(v, &cl->cl_quiet)
		           ? NULL
		           : "not all, none, or some of "
		             "freq,turbo,cstates,prefetch,smm";
	if ((v = after_prefix(word, "models=")) != NULL)
		return parse_models(v, cl);
	if ((v = after_prefix(word, "witness=")) != NULL) {
		cl->cl_witness = parse_witness(v);
		return cl->cl_witness != 0 ? NULL
		                           : "not 1, user, system or both";
	}
	if ((v = after_prefix(word, "uart=")) != NULL)
		return uart_parse(v, &cl->cl_uart);
	/* pcbe=null is an alias of pmu=software. */
	if ((v = after_prefix(word, "pmu=")) != NULL ||
	    (v = after_prefix(word, "pcbe=")) != NULL) {
		cl->cl_pmu = v;
		return soft_shape_parse(v, &cl->cl_soft);
	}
	if (after_prefix(word, "env.") != NULL)
		return env_word(cl, word + strlen("env."));
	if ((v = after_prefix(word, "host.")) != NULL)
		return host_word(cl, v);
	return "known, but not to the kernel";
}

const char *
cmdline_host(const struct cmdline *cl, const char *name)
{
	size_t n = strlen(name);

	for (unsigned i = 0; i < cl->cl_nhost; i++) {
		if (strncmp(cl->cl_host[i], name, n) == 0 &&
		    cl->cl_host[i][n] == '=')
			return cl->cl_host[i] + n + 1;
	}
	return NULL;
}

/* Add a word of another system to the list that the kernel prints. */
static void
foreign_word(struct cmdline *cl, const char *word)
{
	size_t n = strlen(cl->cl_foreign);
	const size_t size = sizeof cl->cl_foreign;

	if (n > 0 && n < size - 1)
		cl->cl_foreign[n++] = ' ';
	if (n + strlcpy_shown(cl->cl_foreign + n, word, size - n) >= size)
		memcpy(cl->cl_foreign + size - 4, "...", 4);
}

/* Parse one word before `--`.  Returns 0, or -1 with an error text in err. */
static int
one_word(struct cmdline *cl, char *word, char *err, size_t errlen)
{
	const char *why, *meant;
	char shown[80];
	size_t n;

	switch (word_kind(word, strlen(word), &meant, &n)) {
	case WORD_FOREIGN:
		foreign_word(cl, word);
		return 0;
	case WORD_OURS:
		if ((why = kernel_word(cl, word)) == NULL)
			return 0;
		strlcpy_shown(shown, word, sizeof shown);
		snprintf(err, errlen, "command line: `%s': %s", shown, why);
		return -1;
	default:
		strlcpy_shown(shown, word, sizeof shown);
		snprintf(err, errlen,
		    "command line: `%s': unknown; did you mean %.*s?", shown,
		    (int)n, meant);
		return -1;
	}
}

int
cmdline_parse(char *text, struct cmdline *cl, char *err, size_t errlen)
{
	unsigned n, i;
	const char *why;
	char **words = words_split(text, &n, &why);

	*cl = (struct cmdline){ 0 };
	if (words == NULL) {
		snprintf(err, errlen, "command line: %s", why);
		return -1;
	}
	/* cl_env reuses the front of words[]; it never overtakes i. */
	cl->cl_env = words;
	for (i = 0; i < n && strcmp(words[i], "--") != 0; i++) {
		if (one_word(cl, words[i], err, errlen) != 0) {
			kfree(words);
			return -1;
		}
	}
	cl->cl_argv = words + n;
	if (i < n) {
		cl->cl_argv = words + i + 1;
		cl->cl_argc = n - i - 1;
	}
	/* End cl_env.  Without a word before `--`, argv's NULL ends both. */
	if (cl->cl_nenv < i)
		words[cl->cl_nenv] = NULL;
	else if (i < n)
		words[i] = NULL; /* replaces `--` */
	return 0;
}
