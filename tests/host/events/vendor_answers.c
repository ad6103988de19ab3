/*
 * The table of a CPU has each name of its vendor's file.  `encode` gives the
 * vendor's code and extra MSR, and `fits` the vendor's PICs.
 *
 * The answers are in tests/vendors/.  read.py made them from the vendors' form.
 * It shares nothing with the generator of the tables.  A difference must have
 * a line in excluded.txt with its reason, and such a line a difference.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>

/* The program fits itself, for its masks of PICs. */
#define main fits_main
#include "payloads/tools/fits.c"
#undef main

#include "events/select.h"
#include "tests/lib/host/test.h"

#define FOLDER     "tests/vendors/"
#define MAXFILE    80
#define MAXTABLE   16
#define MAXEXCLUDE 100
#define MAXLINE    2048

/* A vendor's file, and the tables of its CPUs. */
static struct {
	char *key;
	struct events tables[MAXTABLE];
	unsigned ntable;
} files[MAXFILE];
static unsigned nfile;

static struct {
	char *files, *names, *why;
	bool used;
} excluded[MAXEXCLUDE];
static unsigned nexcluded;

static unsigned equal, differ, left_out;

static FILE *
open_answers(const char *name)
{
	char path[64];

	snprintf(path, sizeof path, FOLDER "%s", name);
	FILE *f = fopen(path, "r");
	if (f == NULL)
		fail_msg("%s: run this test in the top folder", path);
	return f;
}

/* The table of a CPU: read.py says what its numbers are. */
static struct events
find_table(const char *cpu)
{
	unsigned n[5] = { 0 };

	if (sscanf(cpu, "%x/%x/%x/%x/%x", &n[0], &n[1], &n[2], &n[3], &n[4]) ==
	    2)
		return events_cpu(event_dbs, EVENT_ARM, n[0], n[1], 0);
	if (n[1] == 0xc5 && n[4] == 2) /* Arrow Lake's second E-core */
		return events_find(event_dbs, "arl_cmt");
	if (n[3] != 0)
		return events_core(event_dbs, n[0], n[1], n[3]);
	return events_cpu(event_dbs, EVENT_INTEL, n[0], n[1], n[2]);
}

/* The pattern of names is of NAME:WHAT. */
static bool
is_excluded(const char *key, const char *name, const char *what)
{
	char text[EVENT_MAXTEXT];

	snprintf(text, sizeof text, "%s:%s", name, what);
	for (unsigned i = 0; i < nexcluded; i++) {
		if (fnmatch(excluded[i].files, key, 0) == 0 &&
		    fnmatch(excluded[i].names, text, 0) == 0)
			return excluded[i].used = true;
	}
	return false;
}

/* AMD's models, family/first-last: each has the table of the file's first. */
static void
add_models(const char *key, const char *cpu)
{
	struct events es, *first = files[nfile].tables;
	unsigned n[3], wrong = 0;

	assert_int_equal(sscanf(cpu, "%x/%x-%x", &n[0], &n[1], &n[2]), 3);
	for (unsigned model = n[1]; model <= n[2]; model++) {
		es = events_cpu(event_dbs, EVENT_AMD, n[0], model, 0);
		if (first->es_pmu == NULL)
			*first = es;
		wrong += es.es_pmu != first->es_pmu;
	}
	if (wrong != 0 && !is_excluded(key, cpu, "model")) {
		printf(
		    "%s: %s: %u models have another table\n", key, cpu, wrong);
		differ++;
	}
}

static void
add_file(const char *key, char *cpus)
{
	struct events es, last = { NULL, NULL };
	unsigned n = 0;
	char *cpu;

	assert_in_range(nfile, 0, MAXFILE - 1);
	files[nfile].key = strdup(key);
	files[nfile].tables[0].es_pmu = NULL;
	while ((cpu = strsep(&cpus, " ")) != NULL) {
		if (strchr(cpu, '-') != NULL) {
			add_models(key, cpu);
			n = 1;
			continue;
		}
		es = find_table(cpu);
		if (n != 0 && es.es_pmu == last.es_pmu)
			continue;
		assert_in_range(n, 0, MAXTABLE - 1);
		files[nfile].tables[n++] = last = es;
	}
	files[nfile++].ntable = n;
}

static uint64_t
plain_select(const struct event_code *ec)
{
	return ec->ec_select & ~(SEL_EN | SEL_INT | SEL_USR | SEL_OS);
}

/* Does a list with commas have this word? */
static bool
has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (strncmp(list, word, len) != 0 ||
	       (list[len] != ',' && list[len] != '\0')) {
		if ((list = strchr(list, ',')) == NULL)
			return false;
		list++;
	}
	return true;
}

/* Intel SDM vol. 4, "MSRs": MSR_OFFCORE_RSP_0 and others. */
static const unsigned msrs[] = { [EXTRA_OFFCORE0] = 0x1a6,
	[EXTRA_OFFCORE1] = 0x1a7,
	[EXTRA_LDLAT] = 0x3f6,
	[EXTRA_FRONTEND] = 0x3f7 };

static bool
same_code(const struct event_code *ec, const char *codes)
{
	unsigned long long value = ec->ec_extra_value;
	char code[64];

	int n = snprintf(
	    code, sizeof code, "%llx", (unsigned long long)plain_select(ec));
	if (ec->ec_extra != EXTRA_NONE)
		snprintf(code + n, sizeof code - (size_t)n, ":%x=%llx",
		    ec->ec_extra < sizeof msrs / sizeof msrs[0]
			? msrs[ec->ec_extra]
			: 0,
		    value);
	return has_word(codes, code);
}

/* A fixed PIC counts the event if no general PIC does, else it may. */
static bool
same_pics(const struct event_pmu *ep, const struct event_code *ec,
    uint64_t general, uint64_t fixed)
{
	uint64_t pics = pics_of(ep, ec), ours = pics >> ep->ep_npic;

	return (pics & ((1ULL << ep->ep_npic) - 1)) == general &&
	       (ours == fixed || (ours == 0 && general != 0));
}

/* Returns the name of what differs, or NULL. */
static const char *
compare_intel(const struct events *es, const struct event_code *ec,
    const char *codes, const char *pics)
{
	unsigned general, thread, fixed, by_code;
	struct wanted raw;
	char name[32];

	assert_int_equal(
	    sscanf(pics, "%x:%x:%x:%x", &general, &thread, &fixed, &by_code),
	    4);
	/* With hyperthreading a thread has half of the 8 PICs. */
	assert_true(thread == general || thread == (general & 0xf));
	if (!same_code(ec, codes))
		return "code";
	if (!same_pics(es->es_pmu, ec, general, fixed))
		return "PICs";
	snprintf(name, sizeof name, "r%.*s", (int)strcspn(codes, ":,"), codes);
	raw.wn_name = name;
	if (general != 0 &&
	    (!find_event(es, &raw) ||
		!same_pics(es->es_pmu, &raw.wn_code, by_code, fixed)))
		return "raw-PICs";
	return NULL;
}

/*
 * Each event counter counts each event: Arm ARM, "PMEVTYPER<n>_EL0"; AMD64 APM
 * vol. 2, "Performance Event-Select Registers".
 */
static const char *
compare_plain(
    const struct events *es, const struct event_code *ec, const char *code)
{
	uint64_t select = es->es_pmu->ep_kind == EVENT_ARM
	                      ? ec->ec_select & 0xffff
	                      : plain_select(ec);

	if (select != strtoull(code, NULL, 16))
		return "code";
	return same_pics(es->es_pmu, ec, (1ULL << es->es_pmu->ep_npic) - 1, 1)
	           ? NULL
	           : "PICs";
}

/* The same event in small letters, with a colon for the first dot. */
static bool
same_spelled(
    const struct events *es, const char *name, const struct event_code *ec)
{
	char small[EVENT_MAXTEXT] = "";
	struct event_code other;
	struct event_spec sp;

	for (size_t i = 0; name[i] != '\0'; i++)
		small[i] = (char)tolower((unsigned char)name[i]);
	small[strcspn(small, ".:")] = strpbrk(name, ".:") != NULL ? ':' : '\0';
	return event_lookup(es, small, &sp, &other) == EVENT_OK &&
	       ec->ec_select == other.ec_select &&
	       ec->ec_extra == other.ec_extra &&
	       ec->ec_extra_value == other.ec_extra_value &&
	       ec->ec_pics == other.ec_pics;
}

static void
compare(const struct events *es, const char *key, const char *name,
    const char *codes, const char *pics)
{
	const char *what = NULL;
	struct event_spec sp;
	struct event_code ec;

	if (es->es_pmu == NULL)
		what = "table";
	else if (event_lookup(es, name, &sp, &ec) != EVENT_OK)
		what = "name";
	else if (es->es_pmu->ep_kind == EVENT_INTEL)
		what = compare_intel(es, &ec, codes, pics);
	else
		what = compare_plain(es, &ec, codes);
	if (what == NULL && !same_spelled(es, name, &ec))
		what = "spelling";
	if (what == NULL) {
		equal++;
	} else if (is_excluded(key, name, what)) {
		left_out++;
	} else {
		differ++;
		printf("%s: %s: %s: %s: not %s %s\n", key,
		    es->es_pmu != NULL ? es->es_pmu->ep_name : "-", name, what,
		    codes, pics);
	}
}

static void
compare_file(
    const char *key, const char *name, const char *codes, const char *pics)
{
	unsigned f = 0;

	while (f < nfile && strcmp(files[f].key, key) != 0)
		f++;
	if (f == nfile)
		fail_msg("no line `cpu %s'", key);
	for (unsigned i = 0; i < files[f].ntable; i++)
		compare(&files[f].tables[i], key, name, codes, pics);
}

/* The lines of a file of answers: read.py has their form. */
static void
compare_answers(const char *answers)
{
	FILE *f = open_answers(answers);
	char line[MAXLINE], *rest, *word[4];

	equal = differ = left_out = 0;
	while (fgets(line, sizeof line, f) != NULL) {
		assert_non_null(strchr(line, '\n'));
		rest = line;
		line[strcspn(line, "\n")] = '\0';
		for (int i = 0; i < 3; i++)
			word[i] = strsep(&rest, " ");
		if (strcmp(word[0], "cpu") == 0) {
			strsep(&rest, " "); /* the version */
			add_file(word[1], rest);
		} else if (strcmp(word[0], "out") == 0) {
			left_out += (unsigned)atoi(word[1]);
		} else if (strcmp(word[0], "#") != 0) {
			while ((word[3] = strsep(&rest, " ")) != NULL)
				compare_file(
				    word[3], word[0], word[1], word[2]);
		}
	}
	fclose(f);
	while (nfile > 0)
		free(files[--nfile].key);
	print_message("%s: equal %u, differ %u, excluded %u\n", answers, equal,
	    differ, left_out);
	assert_true(equal > 0);
	assert_int_equal(differ, 0);
}

/* Lines `FILES NAMES:WHAT REASON`, with the wildcards of fnmatch(). */
static int
read_excluded(void **state)
{
	FILE *f = open_answers("excluded.txt");
	char line[MAXLINE], *rest;

	while (fgets(line, sizeof line, f) != NULL) {
		if (line[0] == '#')
			continue;
		assert_in_range(nexcluded, 0, MAXEXCLUDE - 1);
		rest = strdup(line);
		excluded[nexcluded].files = strsep(&rest, " ");
		excluded[nexcluded].names = strsep(&rest, " ");
		excluded[nexcluded++].why = rest;
		if (rest == NULL || strchr(rest, ' ') == NULL)
			fail_msg("excluded.txt: without a reason: %s", line);
	}
	fclose(f);
	return 0;
}

TEST_FIRST(read_excluded);

TEST(intel_perfmon)
{
	compare_answers("intel.txt");
}

TEST(amd_perf)
{
	compare_answers("amd.txt");
}

TEST(arm_data)
{
	compare_answers("arm.txt");
}

TEST(arm_telemetry)
{
	compare_answers("telemetry.txt");
}

/* Intel's L1D_PEND_MISS.PENDING, CYCLE_ACTIVITY.CYCLES_L1D_PENDING, and
 * BR_INST_RETIRED.ALL_BRANCHES. */
static const struct {
	const char *cpu, *name;
	uint64_t select, pics;
} rows[] = {
	{ "hsw", "r148", 0x148, 1 << 2 },
	{ "hsw", "r80008a3", 0x80008a3, 1 << 2 },
	{ "hsw", "cpu/event=0x48,umask=1/", 0x148, 1 << 2 },
	{ "icl", "br_inst_retired", 0xc4, 0xff },
	{ "icx", "br_inst_retired", 0xc4, 0xff },
	{ "spr", "br_inst_retired", 0xc4, 0xff },
};

TEST(raw_codes_and_default_unit_masks_are_the_vendors)
{
	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct events es = events_find(event_dbs, rows[i].cpu);
		struct wanted w = { .wn_name = rows[i].name };
		const char *what = NULL;

		if (!find_event(&es, &w) ||
		    plain_select(&w.wn_code) != rows[i].select)
			what = "code";
		else if (pics_of(es.es_pmu, &w.wn_code) != rows[i].pics)
			what = "PICs";
		if (what != NULL && !is_excluded("rows", rows[i].name, what))
			fail_msg("%s: %s: %s", rows[i].cpu, rows[i].name, what);
	}
}

/* After the tests that use them. */
TEST(each_exclusion_is_needed)
{
	unsigned needless = 0;

	for (unsigned i = 0; i < nexcluded; i++) {
		if (!excluded[i].used) {
			printf("needless: %s %s %s", excluded[i].files,
			    excluded[i].names, excluded[i].why);
			needless++;
		}
		free(excluded[i].files);
	}
	assert_int_equal(needless, 0);
}
