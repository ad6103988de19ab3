/*
 * libpfm4's own validation vectors (text to register values) of the CPUs that
 * have no vendor's file, given to our encoder.  The test reads them from the
 * library's source package, and skips without it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/events.h"
#include "tests/lib/host/test.h"

#define MAXCODE 4

struct vector {
	char v_name[256];
	char v_ret[32]; /* PFM_... */
	unsigned v_count;
	uint64_t v_code[MAXCODE];
	char v_fstr[512];
};

static char source_folder[512];

static int
find_source(void **state)
{
	FILE *p = popen("scripts/mkevents --source", "r");

	(void)state;
	if (p == NULL ||
	    fgets(source_folder, sizeof source_folder, p) == NULL ||
	    pclose(p) != 0)
		source_folder[0] = '\0';
	source_folder[strcspn(source_folder, "\n")] = '\0';
	return 0;
}

TEST_FIRST(find_source);

static const struct {
	const char *ret;
	enum event_error err;
} returns[] = {
	{ "PFM_SUCCESS", EVENT_OK },
	{ "PFM_ERR_NOTFOUND", EVENT_UNKNOWN },
	{ "PFM_ERR_ATTR", EVENT_BAD_PART },
	{ "PFM_ERR_ATTR_VAL", EVENT_BAD_VALUE },
	{ "PFM_ERR_ATTR_SET", EVENT_TWO_VALUES },
	{ "PFM_ERR_FEATCOMB", EVENT_BAD_MIX },
	{ "PFM_ERR_UMASK", EVENT_NEEDS_UMASK },
};

/* A PMU without a table must not be a core's PMU. */
static bool
is_uncore(const char *pmu)
{
	static const char *const parts[] = { "unc", "_nb", "_l3", "rapl",
		"perf", "hisi_sccl", "tx2_" };

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (strcasestr(pmu, parts[i]) != NULL)
			return true;
	}
	return false;
}

/*
 * libpfm4 truncates a numeric unit mask to 32 bits in the event's name only.
 */
static bool
same_name(const struct vector *v, const struct event_spec *sp, const char *text)
{
	return v->v_fstr[0] == '\0' || strcmp(text, v->v_fstr) == 0 ||
	       sp->spc_rawmask > UINT32_MAX;
}

static void
check_vector(const struct vector *v, unsigned *agreed, unsigned *wrong)
{
	char pmu[64] = "", text[512];
	const char *event = strstr(v->v_name, "::");
	struct event_spec sp;
	struct event_code ec = { 0 };
	struct events es;
	enum event_error err, want = EVENT_OK;
	unsigned i, count;

	if (event == NULL)
		return;
	snprintf(pmu, sizeof pmu, "%.*s", (int)(event - v->v_name), v->v_name);
	es = events_find(event_dbs, pmu);
	if (es.es_pmu == NULL) {
		if (!is_uncore(pmu))
			fail_msg("%s: no such PMU here", v->v_name);
		return;
	}
	/*
	 * If a CPU has a vendor's file, libpfm4 gives spellings alone.  A list
	 * of events is split before it reaches the encoder.
	 */
	if (strncmp(es.es_pmu->ep_source, "libpfm4 ", 8) != 0 ||
	    strchr(event, ',') != NULL)
		return;
	for (i = 0; i < sizeof returns / sizeof returns[0]; i++) {
		if (strcmp(v->v_ret, returns[i].ret) == 0)
			want = returns[i].err;
	}
	err = events_parse(&es, event + 2, EVENT_ANY_CASE, &sp);
	if (err == EVENT_OK)
		err = events_encode(&es, &sp, &ec);
	count = ec.ec_extra != EXTRA_NONE ? 2 : 1;
	text[0] = '\0';
	if (err == EVENT_OK)
		events_canonical(&es, &sp, &ec, text, sizeof text);
	if (err == want &&
	    (err != EVENT_OK ||
		(ec.ec_select == v->v_code[0] && count == v->v_count &&
		    (count == 1 || ec.ec_extra_value == v->v_code[1]) &&
		    same_name(v, &sp, text)))) {
		++*agreed;
		return;
	}
	++*wrong;
	print_error("%s: %s, %#llx %#llx %s\n\twanted %s %#llx %#llx (%u) %s\n",
	    v->v_name, event_strerror(err), (unsigned long long)ec.ec_select,
	    (unsigned long long)ec.ec_extra_value, text, v->v_ret,
	    (unsigned long long)v->v_code[0], (unsigned long long)v->v_code[1],
	    v->v_count, v->v_fstr);
}

/* Copy the text between the first two quotes. */
static void
copy_quoted(const char *line, char *buf, size_t size)
{
	const char *begin = strchr(line, '"');
	const char *end = begin != NULL ? strchr(begin + 1, '"') : NULL;

	if (end != NULL)
		snprintf(buf, size, "%.*s", (int)(end - begin - 1), begin + 1);
}

/* Parse one line of an initializer: `.name = "...",` and so on. */
static void
parse_field(struct vector *v, char *line)
{
	char *value = strchr(line, '=');
	size_t n;

	if (value++ == NULL)
		return;
	while (isspace((unsigned char)*value))
		value++;
	if (strstr(line, ".name") != NULL) {
		memset(v, 0, sizeof *v);
		copy_quoted(value, v->v_name, sizeof v->v_name);
	} else if (strstr(line, ".fstr") != NULL) {
		copy_quoted(value, v->v_fstr, sizeof v->v_fstr);
	} else if (strstr(line, ".ret") != NULL) {
		n = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		snprintf(v->v_ret, sizeof v->v_ret, "%.*s", (int)n, value);
	} else if (strstr(line, ".count") != NULL) {
		v->v_count = (unsigned)strtoul(value, NULL, 0);
	} else if (strstr(line, ".codes[") != NULL) {
		n = strtoul(strchr(line, '[') + 1, NULL, 10);
		assert_in_range(n, 0, MAXCODE - 1);
		v->v_code[n] = strtoull(value, NULL, 0);
	}
}

static void
check_file(const char *file, unsigned least)
{
	unsigned agreed = 0, wrong = 0;
	struct vector v = { .v_name = "" };
	char path[600], line[1024];
	FILE *f;

	if (source_folder[0] == '\0')
		skip();
	snprintf(path, sizeof path, "%s/tests/%s", source_folder, file);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f) != NULL) {
		if (strstr(line, "SRC_LINE") != NULL && v.v_name[0] != '\0') {
			check_vector(&v, &agreed, &wrong);
			v.v_name[0] = '\0';
		}
		parse_field(&v, line);
	}
	if (v.v_name[0] != '\0')
		check_vector(&v, &agreed, &wrong);
	fclose(f);
	print_message("%s: %u vectors agree\n", file, agreed);
	assert_int_equal(wrong, 0);
	assert_true(agreed >= least);
}

TEST(agrees_on_x86)
{
	check_file("validate_x86.c", 75);
}

TEST(agrees_on_arm64)
{
	check_file("validate_arm64.c", 8);
}
