/*
 * Print the arrays as C.
 */
#include "events/mktables/tables.h"

#include <inttypes.h>

#define COLUMNS 24 /* numbers a line */
#define PRESETS 8
#define WIDTH   100

static void
write_text(const struct pool *p)
{
	const char *s = p->p_at, *end = s + p->p_n;
	int column = 0;

	for (; s < end; s += strlen(s) + 1) {
		if (column == 0)
			column = printf("\t\"");
		for (const char *c = s; *c != '\0'; c++)
			column +=
			    printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
		/* A digit after \0 would be part of the escape. */
		column += printf("\\0");
		if (column > WIDTH || s + strlen(s) + 1 == end ||
		    (s[strlen(s) + 1] >= '0' && s[strlen(s) + 1] <= '9')) {
			printf("\"\n");
			column = 0;
		}
	}
}

static void
write_row(const struct event_row *r)
{
	printf("\t{ %u, %u, %#x, %u, %#x, %u, %u, %u, %u, %#x, %u, %#x },\n",
	    r->er_name, r->er_alias, r->er_mods, r->er_list, r->er_code,
	    r->er_nlist, r->er_pics, r->er_defaults, r->er_index, r->er_flags,
	    r->er_ngroup, r->er_models);
}

static void
write_umask(const struct event_umask *u)
{
	printf("\t{ %u, %u, %#x, %#x, %u, %#x, %#x, %#x, %u, %u },\n",
	    u->um_name, u->um_alias, u->um_flags, u->um_fixed, u->um_group,
	    u->um_code, u->um_high, u->um_models, u->um_pics, u->um_extra);
}

static void
write_pmu(const struct event_pmu *p)
{
	printf(
	    "\t{ \"%s\", \"%s\", \"%s\", %u, %u, %u, %u, %u, %#x, %u, %#x, %u, "
	    "%u, %u, %u, %u, {",
	    p->ep_name, p->ep_desc, p->ep_source, p->ep_first, p->ep_nrow,
	    p->ep_index, p->ep_bits, p->ep_shift, p->ep_model, p->ep_kind,
	    p->ep_flags, p->ep_preset, p->ep_npreset, p->ep_npic, p->ep_nfixed,
	    p->ep_family);
	for (unsigned i = 0; i < LENGTH(p->ep_models); i++)
		printf("%s%u", i == 0 ? " " : ", ", p->ep_models[i]);
	printf(" } },\n");
}

/* Print the rows of presets, several to a line. */
static void
write_presets(const struct pool *p)
{
	const struct event_preset *pr = p->p_at;
	bool ends;

	for (unsigned i = 0; i < p->p_n; i++) {
		ends = i % PRESETS == PRESETS - 1 || i + 1 == p->p_n;
		printf("%s{ %u, %u, %u },%s", i % PRESETS == 0 ? "\t" : " ",
		    pr[i].pr_preset, pr[i].pr_why, pr[i].pr_event,
		    ends ? "\n" : "");
	}
}

static void
write_numbers(const struct pool *p)
{
	bool ends;

	for (unsigned i = 0; i < p->p_n; i++) {
		ends = i % COLUMNS == COLUMNS - 1 || i + 1 == p->p_n;
		printf("%s%u,%s", i % COLUMNS == 0 ? "\t" : " ",
		    p->p_size == 2 ? ((uint16_t *)p->p_at)[i]
				   : ((uint8_t *)p->p_at)[i],
		    ends ? "\n" : "");
	}
}

static void
write_elements(enum event_section s, const struct pool *p)
{
	if (s == SECTION_PRESETS) {
		write_presets(p);
		return;
	}
	if (s >= SECTION_LISTS) {
		write_numbers(p);
		return;
	}
	for (unsigned i = 0; i < p->p_n; i++) {
		if (s == SECTION_PMUS)
			write_pmu((struct event_pmu *)p->p_at + i);
		else if (s == SECTION_ROWS)
			write_row((struct event_row *)p->p_at + i);
		else if (s == SECTION_UMASKS)
			write_umask((struct event_umask *)p->p_at + i);
		else
			printf(
			    "\t%#" PRIx64 ",\n", ((event_pics_t *)p->p_at)[i]);
	}
}

static void
write_section(enum event_section s)
{
	const struct pool *p = &pool[s];

	if (s == SECTION_NAMES) {
		printf("\nstatic const char %s[] =\n", p->p_name);
		write_text(p);
		printf("\t\"\";\n");
		return;
	}
	printf("\nstatic const %s %s[] = {\n", p->p_type, p->p_name);
	write_elements(s, p);
	printf("};\n");
}

void
write_all(const char *vendor, const char *first_line)
{
	printf(
	    "/* clang-format off */\n/* %s */\n#include \"events/table.h\"\n",
	    first_line);
	for (unsigned s = 0; s < SECTION_FACTS; s++)
		write_section((enum event_section)s);
	printf("\nextern const struct event_db events_%s;\n", vendor);
	printf("const struct event_db events_%s = {\n\t{ ", vendor);
	for (unsigned s = 0; s < SECTION_FACTS; s++)
		printf("%s%s", s > 0 ? ", " : "", pool[s].p_name);
	printf(" },\n\t{ ");
	for (unsigned s = 0; s < SECTION_FACTS; s++)
		printf("%ssizeof %s", s > 0 ? ", " : "", pool[s].p_name);
	printf(" },\n};\n");
}
