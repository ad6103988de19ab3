/*
 * The events to count: a file as nanoBench has it, the fixed counters, or names
 * that libcpc knows.
 *
 *	C0.00 INST_RETIRED
 *	A1.02.CMSK=1.EDG.INV.CTR=0 Name
 *	0x11 CPU_CYCLES
 *	PAPI_tot_ins
 *
 * The file -msr_config has registers to write, and one that counts:
 *
 *	msr_0xE01=0x20000000.msr_700=0x408F34 msr_706 Name
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/options.h"
#include "payloads/common/usage.h"
#include "payloads/nb/nb.h"

/* The events of one run, as they are collected. */
struct list {
	const struct nb_options *lst_o;
	const char *lst_file; /* that is read */
	struct nb_event *lst_events;
	size_t lst_n;
	unsigned lst_line; /* of the file */
};

/* `event` NULL: a register counts. */
static struct nb_event *
add_event(struct list *l, const char *name, const char *event)
{
	struct nb_event *e;

	l->lst_events = fail_unless_room(
	    realloc(l->lst_events, (l->lst_n + 1) * sizeof *e));
	e = &l->lst_events[l->lst_n++];
	*e = (struct nb_event){ .nbe_name = fail_unless_room(strdup(name)),
		.nbe_flags = l->lst_o->nbo_flags };
	if (event != NULL)
		e->nbe_event = fail_unless_room(strdup(event));
	return e;
}

/* End the program: the line is wrong. */
static _Noreturn void
refuse_line(const struct list *l, const char *text, const char *why)
{
	const char *file = strrchr(l->lst_file, '/');

	fail(2, "%s:%u: %s: %s", file != NULL ? file + 1 : l->lst_file,
	    l->lst_line, text, why);
}

static uint64_t
parse_number(const struct list *l, const char *word, const char *text, int base)
{
	char *end;

	errno = 0;
	uint64_t v = strtoull(text, &end, base);
	if (end == text || *end != '\0' || *text == '-' || errno != 0)
		refuse_line(l, word, "not a number");
	return v;
}

static void
add_attr(struct list *l, struct nb_event *e, const char *word, const char *name,
    uint64_t value)
{
	if (e->nbe_nattrs == NB_ATTRS)
		refuse_line(l, word, "too many parts");
	e->nbe_attrs[e->nbe_nattrs++] =
	    (cpc_attr_t){ .ca_name = (char *)name, .ca_val = value };
}

/* A part after event and unit mask: `CMSK=1`, `EDG`. */
static void
add_part(struct list *l, struct nb_event *e, char *part)
{
	static const struct {
		const char *part, *attr;
		bool value;
	} known[] = {
		{ "CMSK", "cmask", true },
		{ "CTR", "picnum", true },
		{ "EDG", "edge", false },
		{ "INV", "inv", false },
		{ "AnyT", "anythr", false },
		{ "MSR_3F6H", "msr_ldlat", true },
		{ "MSR_PF", "msr_frontend", true },
		{ "MSR_RSP0", "msr_offcore", true },
		{ "MSR_RSP1", "msr_offcore", true },
	};
	char *value = strchr(part, '=');
	size_t n = value != NULL ? (size_t)(value - part) : strlen(part);

	if (strcmp(part, "TakenAlone") == 0) {
		e->nbe_alone = true;
		return;
	}
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (strlen(known[i].part) != n ||
		    strncmp(part, known[i].part, n) != 0)
			continue;
		if (known[i].value != (value != NULL))
			refuse_line(l, part,
			    value != NULL ? "takes no value" : "needs a value");
		add_attr(l, e, part, known[i].attr,
		    value == NULL ? 1 : parse_number(l, part, value + 1, 0));
		return;
	}
	refuse_line(l, part,
	    "unknown: known are CMSK= EDG INV AnyT CTR= TakenAlone MSR_3F6H= "
	    "MSR_PF= MSR_RSP0= MSR_RSP1=");
}

/* Does the word begin with at most four hexadecimal digits and a dot? */
static bool
is_select(const char *word)
{
	size_t n = strspn(word, "0123456789abcdefABCDEF");

	return n > 0 && n <= 4 && word[n] == '.';
}

/* Is the word such digits alone? */
static bool
lacks_umask(const char *word)
{
	return *word != '0' && strlen(word) <= 4 &&
	       word[strspn(word, "0123456789abcdefABCDEF")] == '\0';
}

static void
add_select(struct list *l, char *word, const char *name)
{
	char *rest = word, *select = strsep(&rest, "."), *part, event[80];
	uint64_t code = parse_number(l, select, select, 16);

	part = strsep(&rest, ".");
	uint64_t umask = parse_number(l, part, part, 16);
	if (code > 0xfff || umask > 0xff)
		refuse_line(l, name, "the event's code is too large");
	if (strcmp(report_machine("arch", event, sizeof event), "arm64") == 0)
		refuse_line(l, name,
		    "an event select of x86: write an event of Arm, as 0x11");
	snprintf(event, sizeof event, "cpu/event=0x%llx,umask=0x%llx/",
	    (unsigned long long)code, (unsigned long long)umask);
	struct nb_event *e = add_event(l, name, event);
	while ((part = strsep(&rest, ".")) != NULL)
		add_part(l, e, part);
}

/* Cut a line into its first word and the rest, without blanks around it. */
static char *
cut_word(char **line)
{
	char *word = strsep(line, " \t"), *rest = *line;

	if (rest == NULL)
		return word;
	rest += strspn(rest, " \t");
	for (size_t n = strlen(rest);
	     n > 0 && isspace((unsigned char)rest[n - 1]);)
		rest[--n] = '\0';
	*line = *rest != '\0' ? rest : NULL;
	return word;
}

/* A register's number, in hexadecimal: `msr_0xE01`, `msr_700`, `msr_700h`. */
static uint32_t
parse_register(const struct list *l, char *word)
{
	word[strcspn(word, "hH")] = '\0'; /* nanoBench allows it */
	if (strncmp(word, "msr_", 4) != 0)
		refuse_line(l, word, "not a register, as msr_0xE01");
	uint64_t number = parse_number(l, word, word + 4, 16);
	if (number > UINT32_MAX)
		refuse_line(l, word, "a register's number has 32 bits");
	return (uint32_t)number;
}

/* A register and its value. */
static void
add_write(struct list *l, struct nb_event *e, char *word)
{
	char *value = strchr(word, '=');
	struct nb_msr *m = &e->nbe_msr[e->nbe_nmsrs];

	if (value == NULL)
		refuse_line(l, word, "needs a value");
	if (e->nbe_nmsrs++ == NB_ATTRS)
		refuse_line(l, word, "too many parts");
	*value++ = '\0';
	value[strcspn(value, "hH")] = '\0';
	m->nbm_register = parse_register(l, word);
	m->nbm_value = parse_number(l, word, value, 0);
}

/* A line of -msr_config.  One of two words has no register to write. */
static void
add_msr_line(struct list *l, char *line)
{
	char *writes = cut_word(&line), *name = line, *word;

	word = line != NULL ? cut_word(&line) : NULL;
	if (word == NULL)
		refuse_line(l, writes, "lacks the register that counts");
	if (line == NULL && strchr(writes, '=') == NULL) {
		word = writes;
		writes = NULL;
	} else {
		name = line != NULL ? line : word;
	}
	struct nb_event *e = add_event(l, name, NULL);
	e->nbe_alone = true;
	e->nbe_nmsrs = 1;
	e->nbe_msr[0].nbm_register = parse_register(l, word);
	while ((word = strsep(&writes, ".")) != NULL)
		add_write(l, e, word);
}

static void
add_line(struct list *l, char *line)
{
	char *word = cut_word(&line), *copy;
	const char *name = line != NULL ? line : word;

	if (strncmp(word, "msr_", 4) == 0)
		refuse_line(l, word, "a register: write it into -msr_config");
	if (lacks_umask(word))
		refuse_line(l, word,
		    "an event select has a unit mask, as C0.00; another code "
		    "begins with 0x");
	if (is_select(word)) {
		copy = fail_unless_room(strdup(name));
		add_select(l, word, copy);
		free(copy);
	} else {
		struct event parsed;

		copy = fail_unless_room(strdup(word));
		if (!options_event(&parsed, copy))
			refuse_line(l, word, "an event without a name");
		add_event(l, name, parsed.e_name);
		if (strcmp(parsed.e_name, word) != 0 ||
		    options_levels(word) != -1)
			l->lst_events[l->lst_n - 1].nbe_flags = parsed.e_flags;
		free(copy);
	}
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* editors write it first */

/* Add each line of a file that is neither empty nor a comment. */
static void
add_file(struct list *l, const char *option, const char *name,
    void (*add)(struct list *l, char *line))
{
	FILE *f = fopen(name, "r");
	char *line = NULL, *text;
	size_t room = 0;

	if (f == NULL)
		fail(2, "%s %s: %s", option, name, strerror(errno));
	l->lst_file = name;
	l->lst_line = 0;
	while (getline(&line, &room, f) != -1) {
		l->lst_line++;
		line[strcspn(line, "\r\n")] = '\0';
		text = line;
		if (l->lst_line == 1 && strncmp(text, BYTE_ORDER_MARK, 3) == 0)
			text += 3;
		text += strspn(text, " \t");
		if (*text != '\0' && *text != '#')
			add(l, text);
	}
	if (ferror(f))
		fail(2, "%s %s: cannot be read", option, name);
	free(line);
	fclose(f);
}

/* Would the library accept this name? */
static bool
is_known(cpc_t *cpc, const char *event)
{
	cpc_set_t *set = cpc_set_create(cpc);

	bool known = set != NULL && cpc_set_add_request(cpc, set, event, 0,
					CPC_COUNT_USER, 0, NULL) != -1;
	if (set != NULL)
		cpc_set_destroy(cpc, set);
	cpc_error_forget();
	return known;
}

/* nanoBench's names of what Intel's fixed counters count. */
static void
add_fixed(struct list *l, cpc_t *cpc)
{
	static const struct {
		const char *name, *events[2];
	} fixed[] = {
		{ "Instructions retired",
		    { "instr_retired.any", "PAPI_tot_ins" } },
		{ "Core cycles",
		    { "cpu_clk_unhalted.thread", "PAPI_tot_cyc" } },
		{ "Reference cycles", { "cpu_clk_unhalted.ref", NULL } },
	};

	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
		const char *event = fixed[i].events[0];

		if (cpc != NULL && !is_known(cpc, event))
			event = fixed[i].events[1];
		if (event != NULL)
			add_event(l, fixed[i].name, event);
	}
}

size_t
nb_events(const struct nb_options *o, cpc_t *cpc, struct nb_event **to)
{
	struct list l = { .lst_o = o };

	if (o->nbo_fixed ||
	    (o->nbo_config == NULL && o->nbo_msr_config == NULL))
		add_fixed(&l, cpc);
	if (o->nbo_config != NULL)
		add_file(&l, "-config", o->nbo_config, add_line);
	if (o->nbo_msr_config != NULL)
		add_file(&l, "-msr_config", o->nbo_msr_config, add_msr_line);
	if (l.lst_n == 0)
		fail(2, "%s: names no event", l.lst_file);
	*to = l.lst_events;
	return l.lst_n;
}
