/* Parses event specifications, and prints the columns that belong to them. */
#include "payloads/cputrack/event_spec.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "events/events.h"
#include "payloads/common/usage.h"

/* Attributes */

struct names {
	const char *wanted;
	size_t length;
	bool found;
};

static void
compare_name(void *arg, const char *name)
{
	struct names *n = arg;

	n->found |= strlen(name) == n->length &&
	            strncmp(name, n->wanted, n->length) == 0 &&
	            strcmp(name, "picnum") != 0;
}

static bool
is_attribute(cpc_t *cpc, const char *name, size_t length)
{
	struct names n = { name, length, false };

	cpc_walk_attrs(cpc, &n, compare_name);
	return n.found;
}

/*
 * Is the token an attribute, or nouser or sys?  Then *length is that of its
 * name, and *pic the PIC of its suffix, or -1.
 */
static bool
find_attribute(cpc_t *cpc, const char *token, size_t *length, int *pic)
{
	size_t whole = strcspn(token, "="), n = whole;
	long number;

	*pic = -1;
	for (;;) {
		if ((n == 6 && strncmp(token, "nouser", n) == 0) ||
		    (n == 3 && strncmp(token, "sys", n) == 0) ||
		    is_attribute(cpc, token, n)) {
			*length = n;
			number = n < whole ? strtol(token + n, NULL, 10) : -1;
			*pic = number < INT_MAX ? (int)number : INT_MAX;
			return true;
		}
		if (n == 0 || !isdigit((unsigned char)token[n - 1]))
			return false;
		n--;
	}
}

/* Events */

static void
ignore_error(const char *fn, int subcode, const char *fmt, va_list ap)
{
	(void)fn, (void)subcode, (void)fmt, (void)ap;
}

/* Can this PIC count the event?  pic -1: can any? */
static bool
can_count(cpc_t *cpc, const char *event, int pic)
{
	cpc_set_t *set = fail_unless_room(cpc_set_create(cpc));
	cpc_attr_t attr = { "picnum", (uint64_t)pic };
	bool can;

	cpc_seterrhndlr(cpc, ignore_error);
	can = cpc_set_add_request(cpc, set, event, 0, CPC_COUNT_USER, pic >= 0,
		  pic >= 0 ? &attr : NULL) == 0;
	cpc_seterrhndlr(cpc, NULL);
	cpc_set_destroy(cpc, set);
	return can;
}

/* The number of "picN=", or -1. */
static int
pic_of(const char *token)
{
	char *end;

	if (strncmp(token, "pic", 3) != 0 || !isdigit((unsigned char)token[3]))
		return -1;
	long n = strtol(token + 3, &end, 10);
	return *end == '=' && n < INT_MAX ? (int)n : -1;
}

static int
highest_pic(const struct spec *sp)
{
	int highest = -1;

	for (unsigned i = 0; i < sp->spc_n; i++) {
		if ((int)sp->spc_request[i].sr_pic > highest)
			highest = (int)sp->spc_request[i].sr_pic;
	}
	return highest;
}

static void
set_attribute(struct spec_request *r, char *name, uint64_t value)
{
	if (r->sr_nattrs == SPEC_ATTRS)
		usage_mistake("too many attributes");
	r->sr_attrs[r->sr_nattrs++] = (cpc_attr_t){ name, value };
}

/* Insert the event by its PIC. */
static void
place_event(struct spec *sp, char *event, int pic)
{
	unsigned at = sp->spc_n;

	if (sp->spc_n == SPEC_REQUESTS)
		usage_mistake("too many events");
	while (at > 0 && (int)sp->spc_request[at - 1].sr_pic > pic) {
		sp->spc_request[at] = sp->spc_request[at - 1];
		at--;
	}
	sp->spc_n++;
	sp->spc_request[at] = (struct spec_request){ .sr_event = event,
		.sr_pic = (unsigned)pic,
		.sr_flags = CPC_COUNT_USER };
	set_attribute(&sp->spc_request[at], "picnum", (uint64_t)pic);
}

/* Raw code 0 is refused, as by Solaris's programs. */
static bool
is_zero(const char *event)
{
	char *end;

	return strtol(event, &end, 0) == 0 && end != event && *end == '\0';
}

static void
add_pinned(cpc_t *cpc, struct spec *sp, char *token, int pic)
{
	char *event = strchr(token, '=') + 1;

	for (unsigned i = 0; i < sp->spc_n; i++) {
		if ((int)sp->spc_request[i].sr_pic == pic)
			usage_mistake("repeated 'pic%d' token", pic);
	}
	if (*event == '\0')
		usage_mistake("missing 'pic%d' value", pic);
	if (is_zero(event) || !can_count(cpc, event, pic))
		usage_mistake(
		    "pic%d cannot measure event '%s' on this cpu", pic, event);
	place_event(sp, event, pic);
}

/* A bare event takes the first PIC above all used ones that can count it. */
static void
add_bare(cpc_t *cpc, struct spec *sp, char *event)
{
	int first = highest_pic(sp) + 1, pic = first;

	if (*event == '\0' || is_zero(event) || !can_count(cpc, event, -1))
		usage_mistake("bad token '%s'", event);
	while (pic < (int)cpc_npic(cpc) && !can_count(cpc, event, pic))
		pic++;
	if (pic >= (int)cpc_npic(cpc))
		usage_mistake("pic%d cannot measure event '%s' on this cpu",
		    first, event);
	place_event(sp, event, pic);
}

static void
refine_request(
    struct spec_request *r, const char *name, size_t length, uint64_t value)
{
	if (strncmp(name, "nouser", length) == 0) {
		r->sr_flags &= ~(uint_t)CPC_COUNT_USER;
	} else if (strncmp(name, "sys", length) == 0) {
		r->sr_flags |= CPC_COUNT_SYSTEM;
	} else {
		set_attribute(
		    r, fail_unless_room(strndup(name, length)), value);
	}
}

static void
add_attribute(struct spec *sp, const char *token, size_t length, int pic)
{
	const char *text = strchr(token, '=');
	bool flag = strncmp(token, "nouser", length) == 0 ||
	            strncmp(token, "sys", length) == 0;
	uint64_t value = 1;
	char *end = NULL;

	if (text != NULL && !flag) {
		errno = 0;
		value = strtoull(text + 1, &end, 0);
		if (text[1] == '\0' || *end != '\0' || errno != 0)
			usage_mistake("invalid value '%s' for attribute '%.*s'",
			    text + 1, (int)length, token);
	}
	for (unsigned i = 0; i < sp->spc_n; i++) {
		if (pic == -1 || (int)sp->spc_request[i].sr_pic == pic)
			refine_request(
			    &sp->spc_request[i], token, length, value);
	}
}

/* First the events, then the attributes, which may precede them. */
struct spec *
spec_parse(cpc_t *cpc, const char *text)
{
	struct spec *sp = fail_unless_room(calloc(1, sizeof *sp));
	char *copy = fail_unless_room(strdup(text)), *token, *next = copy;
	char *attribute[SPEC_REQUESTS];
	unsigned nattributes = 0;
	size_t length;
	int pic;

	sp->spc_text = text;
	while ((token = events_cut(&next)) != NULL) {
		if ((pic = pic_of(token)) >= 0)
			add_pinned(cpc, sp, token, pic);
		else if (find_attribute(cpc, token, &length, &pic) &&
			 nattributes < SPEC_REQUESTS)
			attribute[nattributes++] = token;
		else if (strchr(token, '=') != NULL &&
			 strchr(token, '/') == NULL)
			usage_mistake("bad token '%s'", token);
		else
			add_bare(cpc, sp, token);
	}
	if (sp->spc_n == 0)
		usage_mistake("bad token '%s'", text);
	for (unsigned i = 0; i < nattributes; i++) {
		find_attribute(cpc, attribute[i], &length, &pic);
		add_attribute(sp, attribute[i], length, pic);
	}
	return sp;
}

cpc_set_t *
spec_set(cpc_t *cpc, const struct spec *sp)
{
	cpc_set_t *set = fail_unless_room(cpc_set_create(cpc));

	for (unsigned i = 0; i < sp->spc_n; i++) {
		const struct spec_request *r = &sp->spc_request[i];

		if (cpc_set_add_request(cpc, set, r->sr_event, 0, r->sr_flags,
			r->sr_nattrs, r->sr_attrs) == -1)
			fail(1, "cannot add '%s': %s", r->sr_event,
			    strerror(errno));
	}
	return set;
}

bool
spec_counts_system_only(const struct spec *sp)
{
	for (unsigned i = 0; i < sp->spc_n; i++) {
		if (sp->spc_request[i].sr_flags != CPC_COUNT_SYSTEM)
			return false;
	}
	return true;
}

bool
spec_count_siblings(cpc_t *cpc, struct spec *sp)
{
	static char user[] = "count_sibling_usr",
		    system[] = "count_sibling_sys";

	if (!is_attribute(cpc, user, sizeof user - 1))
		return false;
	for (unsigned i = 0; i < sp->spc_n; i++) {
		struct spec_request *r = &sp->spc_request[i];

		if ((r->sr_flags & CPC_COUNT_USER) != 0)
			set_attribute(r, user, 1);
		if ((r->sr_flags & CPC_COUNT_SYSTEM) != 0)
			set_attribute(r, system, 1);
	}
	return true;
}

/* Columns */

void
spec_titles(FILE *f, const struct spec *sp, bool ticks)
{
	if (ticks)
		fprintf(f, "%9s ", CPC_TICKREG_NAME);
	for (unsigned i = 0; i < sp->spc_n; i++)
		fprintf(f, "%8s%-2d ", "pic", (int)sp->spc_request[i].sr_pic);
}

void
spec_values(
    FILE *f, cpc_t *cpc, const struct spec *sp, cpc_buf_t *buf, bool ticks)
{
	uint64_t value;

	if (ticks)
		fprintf(f, "%9lld ", (long long)cpc_buf_tick(cpc, buf));
	for (unsigned i = 0; i < sp->spc_n; i++) {
		value = 0;
		cpc_buf_get(cpc, buf, (int)i, &value);
		fprintf(f, "%9lld ", (long long)value);
	}
}

/* Help */

struct list {
	FILE *to;
	int margin, column;
	bool any;
};

static void
list_add(struct list *l, const char *name)
{
	int n = (int)strlen(name);

	if (l->any && l->column + n + 1 > 75) {
		fprintf(l->to, "\n%*s", l->margin, "");
		l->column = l->margin;
	}
	l->column += fprintf(l->to, "%s ", name);
	l->any = true;
}

static void
list_event(void *arg, const char *event)
{
	list_add(arg, event);
}

static void
list_pic_event(void *arg, uint_t, const char *event)
{
	list_add(arg, event);
}

static void
count_event(void *arg, const char *)
{
	++*(unsigned *)arg;
}

static void
count_pic_event(void *arg, uint_t, const char *event)
{
	count_event(arg, event);
}

/* Do all PICs have all platform events? */
static bool
pics_are_alike(cpc_t *cpc)
{
	unsigned all = 0, n;

	cpc_walk_events_all(cpc, &all, count_event);
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		n = 0;
		cpc_walk_events_pic(cpc, pic, &n, count_pic_event);
		if (n != all)
			return false;
	}
	return true;
}

typedef void walk_all_fn(
    cpc_t *, void *arg, void (*action)(void *, const char *));
typedef void walk_pic_fn(
    cpc_t *, uint_t, void *arg, void (*action)(void *, uint_t, const char *));

static void
list_events(FILE *f, cpc_t *cpc, walk_all_fn *walk_all, walk_pic_fn *walk_pic)
{
	bool alike = pics_are_alike(cpc);
	char title[32];

	for (uint_t pic = 0; pic < (alike ? 1 : cpc_npic(cpc)); pic++) {
		struct list l = { f, 17, 8, false };

		if (alike)
			snprintf(title, sizeof title,
			    "event[0-%u]: ", cpc_npic(cpc) - 1);
		else
			snprintf(title, sizeof title, "event%u: ", pic);
		l.column += fprintf(f, "\t%s", title) - 1;
		if (alike)
			walk_all(cpc, &l, list_event);
		else
			walk_pic(cpc, pic, &l, list_pic_event);
		fputc('\n', f);
	}
}

static void
list_attribute(void *arg, const char *name)
{
	if (strcmp(name, "picnum") != 0 &&
	    strncmp(name, "count_sibling_", 14) != 0)
		list_add(arg, name);
}

void
spec_help(FILE *f, cpc_t *cpc, const char *tool, const char *usage)
{
	struct list l = { f, 20, 20, false };
	char *reference = fail_unless_room(strdup(cpc_cpuref(cpc)));
	char *next = reference, *word;

	fprintf(f, "usage: %s %s\n\n", tool, usage);
	fprintf(
	    f, "\tCPU performance counter interface: %s\n\n", cpc_cciname(cpc));
	fprintf(f, "\tevent specification syntax:\n"
		   "\t[picn=]<eventn>[,attr[n][=<val>]][,[picn=]<eventn>"
		   "[,attr[n][=<val>]],...]\n\n");
	fprintf(f, "\tGeneric Events:\n\n");
	list_events(
	    f, cpc, cpc_walk_generic_events_all, cpc_walk_generic_events_pic);
	fprintf(f, "\n\tSee generic_events(3CPC) for descriptions of these "
		   "events\n\n");
	fprintf(f, "\tPlatform Specific Events:\n\n");
	list_events(f, cpc, cpc_walk_events_all, cpc_walk_events_pic);
	fprintf(f, "\n\tattributes: ");
	cpc_walk_attrs(cpc, &l, list_attribute);
	list_add(&l, "nouser");
	list_add(&l, "sys");
	fprintf(f, "\n\n\t");
	l = (struct list){ f, 8, 8, false };
	while ((word = strsep(&next, " ")) != NULL)
		list_add(&l, word);
	fputc('\n', f);
	free(reference);
}
