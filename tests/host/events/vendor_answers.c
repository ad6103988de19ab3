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
#define MAXCPU     80
#define MAXTABLE   16
#define MAXCODE    1024
#define MAXEXCLUDE 400
#define MAXLINE    2048

enum kind {
	EQUAL,
	MISSING, /* no such name, or no table of the CPU */
	CODE,    /* event select */
	EXTRA,   /* extra MSR or its value */
	PICS,    /* general PICs */
	FIXED,   /* fixed PICs */
	RAW,     /* PICs of the code in perf's raw form */
	SPELLED, /* in small letters with a colon it is something else */
	KINDS
};
static const char *const kinds[] = { "equal", "missing", "code", "MSR", "PIC",
	"fixed", "raw", "spelling" };

/* A vendor's file, and the tables of its CPUs. */
struct file {
	char fl_key[48];
	struct events fl_tables[MAXTABLE];
	unsigned fl_n;
	unsigned fl_fixed; /* bit n: the vendor has an event of fixed PIC n */
	struct {
		uint64_t select, pics;
	} fl_codes[MAXCODE];
	unsigned fl_ncode;
	unsigned fl_count[KINDS];
};

struct answer {
	char *an_name, *an_selects, *an_pics, *an_extra;
};

static struct file files[MAXCPU];
static unsigned nfile;
static struct {
	char *files, *names, *why;
	unsigned used;
} excluded[MAXEXCLUDE];
static unsigned nexcluded;

/* The architectural event of fixed PIC n.
 * Intel SDM vol. 3B, "Fixed-Function Performance Counters". */
static const uint64_t architectural[] = { 0x00c0, 0x003c, 0x0300, 0x01a4,
	0x0073, 0x019c, 0x02c2 };

static FILE *
open_answers(const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, FOLDER "%s", name);
	f = fopen(path, "r");
	if (f == NULL)
		fail_msg("%s: run this test in the top folder", path);
	return f;
}

static struct file *
find_file(const char *key)
{
	for (unsigned i = 0; i < nfile; i++) {
		if (strcmp(files[i].fl_key, key) == 0)
			return &files[i];
	}
	fail_msg("no line `cpu %s'", key);
	return NULL;
}

/* Add the table of a CPU: see read.py for its numbers. */
static void
add_table(struct file *fl, const char *cpu)
{
	unsigned n[5] = { 0 };
	struct events es;
	int got =
	    sscanf(cpu, "%x/%x/%x/%x/%x", &n[0], &n[1], &n[2], &n[3], &n[4]);

	if (got == 2)
		es = events_cpu(event_dbs, EVENT_ARM, n[0], n[1], 0);
	else if (n[3] != 0)
		es = events_core(event_dbs, n[0], n[1], n[3]);
	else
		es = events_cpu(event_dbs, EVENT_INTEL, n[0], n[1], n[2]);
	for (unsigned i = 0; i < fl->fl_n; i++) {
		if (fl->fl_tables[i].es_pmu == es.es_pmu)
			return;
	}
	if (es.es_pmu == NULL)
		printf("%s: no table for the CPU %s\n", fl->fl_key, cpu);
	assert_in_range(fl->fl_n, 0, MAXTABLE - 1);
	fl->fl_tables[fl->fl_n++] = es;
}

/* A hexadecimal number of a list with commas, or false at its end. */
static bool
next_number(char **list, uint64_t *number)
{
	char *word = strsep(list, ",=");

	if (word != NULL)
		*number = strtoull(word, NULL, 16);
	return word != NULL;
}

/* The extra MSR's address, or 0.
 * Intel SDM vol. 4, "MSRs": MSR_OFFCORE_RSP_0 and others. */
static uint64_t
extra_msr(enum event_extra extra)
{
	static const uint64_t msrs[] = { [EXTRA_OFFCORE0] = 0x1a6,
		[EXTRA_OFFCORE1] = 0x1a7,
		[EXTRA_LDLAT] = 0x3f6,
		[EXTRA_FRONTEND] = 0x3f7 };

	return extra < sizeof msrs / sizeof msrs[0] ? msrs[extra] : 0;
}

static uint64_t
plain_select(const struct event_code *ec)
{
	return ec->ec_select & ~(SEL_EN | SEL_INT | SEL_USR | SEL_OS);
}

/* One of the selects is right, with the MSR at the same place. */
static enum kind
compare_select(const struct event_code *ec, const struct answer *an)
{
	uint64_t ours = plain_select(ec);
	char selects[64], extra[64], *s = selects, *x = extra, *value;
	uint64_t select, msr, number = 0;
	enum kind kind = CODE;

	strcpy(selects, an->an_selects);
	strcpy(extra, an->an_extra);
	value = strchr(extra, '=');
	if (value != NULL) {
		*value++ = '\0';
		number = strtoull(value, NULL, 16);
	}
	while (next_number(&s, &select)) {
		msr = 0;
		if (value != NULL)
			assert_true(next_number(&x, &msr));
		if (select == ours) {
			if (extra_msr(ec->ec_extra) == msr &&
			    ec->ec_extra_value == number)
				return EQUAL;
			kind = EXTRA;
		}
	}
	return kind;
}

/* The same for a fixed PIC, whose event has two codes. */
static enum kind
compare_fixed(const struct event_code *ec, const struct answer *an, unsigned n)
{
	uint64_t flags = strtoull(an->an_selects, NULL, 16) & ~0xffffULL;
	char text[32];
	struct answer other = { an->an_name, text, an->an_pics, an->an_extra };

	snprintf(text, sizeof text, "%llx",
	    (unsigned long long)(architectural[n] | flags));
	return compare_select(ec, an) == EQUAL ? EQUAL
	                                       : compare_select(ec, &other);
}

/*
 * The vendor lists general PICs.  A fixed PIC of the same architectural event
 * may count it, too, if nothing modifies it.
 */
static enum kind
compare_pics(const struct file *fl, const struct event_pmu *ep,
    const struct event_code *ec, uint64_t general)
{
	uint64_t pics = pics_of(ep, ec), fixed = pics >> ep->ep_npic;
	uint64_t select = plain_select(ec), too = 0;

	for (unsigned n = 0; n < 7; n++) {
		if (select == architectural[n])
			too = 1U << n & fl->fl_fixed;
	}
	if ((pics & ((1ULL << ep->ep_npic) - 1)) != general)
		return PICS;
	return fixed == 0 || fixed == too ? EQUAL : FIXED;
}

/* Names of one code may have different PICs: the code has those of all. */
static enum kind
compare_raw(
    const struct file *fl, const struct events *es, const struct answer *an)
{
	uint64_t select = strtoull(an->an_selects, NULL, 16);
	unsigned i = 0;
	char name[32];
	struct wanted raw = { .wn_name = name };

	while (fl->fl_codes[i].select != select)
		i++;
	snprintf(name, sizeof name, "r%llx", (unsigned long long)select);
	return find_event(es, &raw) &&
	               compare_pics(fl, es->es_pmu, &raw.wn_code,
			   fl->fl_codes[i].pics) == EQUAL
	           ? EQUAL
	           : RAW;
}

static enum kind
compare_intel(
    const struct file *fl, const struct events *es, const struct answer *an)
{
	struct event_code ec;
	struct event_spec sp;
	uint64_t general;
	enum kind kind;
	char *threads;
	unsigned n;

	if (event_lookup(es, an->an_name, &sp, &ec) != EVENT_OK)
		return MISSING;
	if (sscanf(an->an_pics, "fixed%u", &n) == 1) {
		kind = compare_fixed(&ec, an, n);
		if (kind == EQUAL && pics_of(es->es_pmu, &ec) !=
					 1ULL << n << es->es_pmu->ep_npic)
			kind = FIXED;
		return kind;
	}
	general = strtoull(an->an_pics, &threads, 16);
	/* With hyperthreading a thread has half of the 8 PICs. */
	if (*threads == '/')
		assert_int_equal(
		    strtoull(threads + 1, NULL, 16), general & 0xf);
	kind = compare_select(&ec, an);
	if (kind == EQUAL)
		kind = compare_pics(fl, es->es_pmu, &ec, general);
	return kind == EQUAL ? compare_raw(fl, es, an) : kind;
}

#define ARM_EVENT 0xffffU

/* All event counters count all events: Arm ARM (DDI 0487), "PMEVTYPER<n>_EL0".
 */
static enum kind
compare_arm(const struct events *es, const struct answer *an)
{
	uint64_t number = strtoull(an->an_selects, NULL, 16);
	struct event_code ec;
	struct event_spec sp;

	if (event_lookup(es, an->an_name, &sp, &ec) != EVENT_OK)
		return MISSING;
	if ((ec.ec_select & ARM_EVENT) != number)
		return CODE;
	return pics_of(es->es_pmu, &ec) == (1ULL << es->es_pmu->ep_npic) - 1
	           ? EQUAL
	           : PICS;
}

/* The same event in small letters, with a colon for the first dot. */
static enum kind
compare_spelling(const struct events *es, const struct answer *an)
{
	struct event_code ec, other;
	struct event_spec sp;
	char name[EVENT_MAXTEXT];
	size_t i;

	for (i = 0; an->an_name[i] != '\0'; i++)
		name[i] = (char)tolower((unsigned char)an->an_name[i]);
	name[i] = '\0';
	if (strchr(name, '.') != NULL)
		*strchr(name, '.') = ':';
	return event_lookup(es, an->an_name, &sp, &ec) == EVENT_OK &&
	               event_lookup(es, name, &sp, &other) == EVENT_OK &&
	               ec.ec_select == other.ec_select &&
	               ec.ec_extra == other.ec_extra &&
	               ec.ec_extra_value == other.ec_extra_value &&
	               ec.ec_pics == other.ec_pics
	           ? EQUAL
	           : SPELLED;
}

static bool
is_excluded(const char *key, const char *name)
{
	for (unsigned i = 0; i < nexcluded; i++) {
		if (fnmatch(excluded[i].files, key, 0) == 0 &&
		    fnmatch(excluded[i].names, name, 0) == 0) {
			excluded[i].used++;
			return true;
		}
	}
	return false;
}

/* Compare an answer with a table.  Returns 1 if the difference is excluded. */
static unsigned
compare(struct file *fl, const struct events *es, const struct answer *an)
{
	enum kind kind = MISSING;
	const char *pmu = "no table";

	if (es->es_pmu != NULL) {
		pmu = es->es_pmu->ep_name;
		kind = es->es_pmu->ep_kind == EVENT_ARM
		           ? compare_arm(es, an)
		           : compare_intel(fl, es, an);
		if (kind == EQUAL)
			kind = compare_spelling(es, an);
	}
	if (kind != EQUAL && is_excluded(fl->fl_key, an->an_name))
		return 1;
	fl->fl_count[kind]++;
	if (kind != EQUAL && es->es_pmu != NULL)
		printf("%s: %s: %s: not %s %s %s of %s\n", pmu, an->an_name,
		    kinds[kind], an->an_selects, an->an_pics, an->an_extra,
		    fl->fl_key);
	return 0;
}

/* Note the fixed PICs of the file, and the PICs of all names of one code. */
static void
add_answer(struct file *fl, const struct answer *an)
{
	uint64_t select = strtoull(an->an_selects, NULL, 16);
	unsigned i = 0, n;

	if (sscanf(an->an_pics, "fixed%u", &n) == 1) {
		assert_in_range(n, 0, 6);
		fl->fl_fixed |= 1U << n;
		return;
	}
	while (i < fl->fl_ncode && fl->fl_codes[i].select != select)
		i++;
	assert_in_range(i, 0, MAXCODE - 1);
	fl->fl_codes[i].select = select;
	fl->fl_codes[i].pics |= strtoull(an->an_pics, NULL, 16);
	if (i == fl->fl_ncode)
		fl->fl_ncode++;
}

/* A line of answers: `cpu KEY FILE VERSION PART...`, or a name. */
static unsigned
read_line(char *line, bool first)
{
	struct answer an;
	struct file *fl;
	unsigned out = 0;
	char *word;

	line[strcspn(line, "\n")] = '\0';
	an.an_name = strsep(&line, " ");
	an.an_selects = strsep(&line, " ");
	if (strcmp(an.an_name, "#") == 0)
		return 0;
	if (strcmp(an.an_name, "out") == 0)
		return first ? 0 : (unsigned)atoi(an.an_selects);
	an.an_pics = strsep(&line, " ");
	an.an_extra = strsep(&line, " ");
	if (strcmp(an.an_name, "cpu") == 0) {
		if (!first)
			return 0;
		assert_in_range(nfile, 0, MAXCPU - 1);
		fl = &files[nfile++];
		snprintf(fl->fl_key, sizeof fl->fl_key, "%s", an.an_selects);
		while ((word = strsep(&line, " ")) != NULL)
			add_table(fl, word);
		return 0;
	}
	while ((word = strsep(&line, " ")) != NULL) {
		fl = find_file(word);
		if (first) {
			add_answer(fl, &an);
			continue;
		}
		for (unsigned i = 0; i < fl->fl_n; i++)
			out += compare(fl, &fl->fl_tables[i], &an);
	}
	return out;
}

static void
compare_answers(const char *name)
{
	FILE *f = open_answers(name);
	unsigned total[KINDS] = { 0 }, out = 0, differ = 0;
	char line[MAXLINE];

	memset(files, 0, sizeof files);
	nfile = 0;
	for (int pass = 0; pass < 2; pass++) {
		rewind(f);
		while (fgets(line, sizeof line, f) != NULL) {
			assert_non_null(strchr(line, '\n'));
			out += read_line(line, pass == 0);
		}
	}
	fclose(f);
	for (unsigned i = 0; i < nfile; i++) {
		unsigned *count = files[i].fl_count, all = 0;

		for (enum kind k = EQUAL; k < KINDS; k++) {
			total[k] += count[k];
			all += count[k];
		}
		if (count[EQUAL] == all)
			continue;
		differ += all - count[EQUAL];
		printf("%-20s", files[i].fl_key);
		for (enum kind k = EQUAL; k < KINDS; k++)
			printf(" %s %u", kinds[k], count[k]);
		printf("\n");
	}
	print_message("%s: equal %u, differ %u, excluded %u\n", name,
	    total[EQUAL], differ, out);
	assert_true(total[EQUAL] > 0);
	assert_int_equal(differ, 0);
}

/* Read excluded.txt: `FILES NAMES REASON`, with the wildcards of fnmatch(). */
static int
read_excluded(void **state)
{
	FILE *f = open_answers("excluded.txt");
	char line[MAXLINE], *rest;

	(void)state;
	while (fgets(line, sizeof line, f) != NULL) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		assert_in_range(nexcluded, 0, MAXEXCLUDE - 1);
		rest = strdup(line);
		rest[strcspn(rest, "\n")] = '\0';
		excluded[nexcluded].files = strsep(&rest, " ");
		excluded[nexcluded].names = strsep(&rest, " ");
		excluded[nexcluded].why = rest;
		if (rest == NULL || strchr(rest, ' ') == NULL)
			fail_msg("excluded.txt: without a reason: %s", line);
		nexcluded++;
	}
	fclose(f);
	return 0;
}

TEST_FIRST(read_excluded);

TEST(intel_perfmon)
{
	compare_answers("intel.txt");
}

TEST(arm_data)
{
	compare_answers("arm.txt");
}

TEST(arm_telemetry)
{
	compare_answers("telemetry.txt");
}

/* The code of a name, its PICs in *pics; ~0 if it is refused. */
static uint64_t
code_of(const char *cpu, const char *name, uint64_t *pics)
{
	struct events es = events_find(event_dbs, cpu);
	struct wanted w = { .wn_name = name };

	if (!find_event(&es, &w))
		return ~0ULL;
	*pics = pics_of(es.es_pmu, &w.wn_code);
	return plain_select(&w.wn_code);
}

/* Intel's file: L1D_PEND_MISS.PENDING, CYCLE_ACTIVITY.CYCLES_L1D_PENDING. */
TEST(a_raw_code_takes_the_pics_of_its_cpu)
{
	static const char *const names[] = { "r148", "r80008a3",
		"cpu/event=0x48,umask=1/", "cpu/event=0xa3,umask=8,cmask=8/" };
	uint64_t pics;

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_int_equal(
		    code_of("hsw", names[i], &pics), i % 2 ? 0x80008a3 : 0x148);
		assert_int_equal(pics, 1 << 2);
	}
}

TEST(a_name_without_a_unit_mask_is_the_vendors_default)
{
	static const char *const cpus[] = { "icl", "icx", "spr" };
	uint64_t pics;

	for (unsigned i = 0; i < sizeof cpus / sizeof cpus[0]; i++)
		assert_int_equal(
		    code_of(cpus[i], "br_inst_retired", &pics), 0xc4);
}

/* Runs last: the tests before it have counted. */
TEST(each_exclusion_is_needed)
{
	unsigned needless = 0;

	for (unsigned i = 0; i < nexcluded; i++) {
		if (excluded[i].used == 0) {
			needless++;
			printf("needless: %s %s %s\n", excluded[i].files,
			    excluded[i].names, excluded[i].why);
		}
		free(excluded[i].files);
	}
	assert_int_equal(needless, 0);
}
