/*
 * The points of vpmu, as TAP, as JUnit's XML, or both.
 * TAP version 13, "Test lines and the plan", "Directives".
 */
#include "payloads/vpmu/vpmu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

enum verdict { PASS, FAIL, SKIPPED };

static const struct point {
	const char *pt_name;
	char pt_group[16];
	enum verdict pt_verdict;
	char pt_reason[200]; /* of a failure or a skip */
	char pt_notes[600];  /* lines */
} no_point;

static struct point now;
static bool tap_wanted;
static FILE *cases; /* JUnit's test cases, which follow the totals */
static char *case_text;
static size_t case_bytes;
static unsigned totals[3];

static unsigned
points_total(void)
{
	return totals[PASS] + totals[FAIL] + totals[SKIPPED];
}

void
report_start(bool junit, bool tap)
{
	tap_wanted = tap || !junit;
	if (junit)
		cases =
		    fail_unless_room(open_memstream(&case_text, &case_bytes));
}

void
report_begin(const char *group, const char *name)
{
	now = no_point;
	now.pt_name = name;
	snprintf(now.pt_group, sizeof now.pt_group, "%s", group);
}

static void __attribute__((format(printf, 1, 0)))
add_note(const char *fmt, va_list ap)
{
	size_t n = strlen(now.pt_notes);

	if (n != 0 && n + 1 < sizeof now.pt_notes)
		now.pt_notes[n++] = '\n';
	vsnprintf(now.pt_notes + n, sizeof now.pt_notes - n, fmt, ap);
}

void
point_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(fmt, ap);
	va_end(ap);
}

void
point_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (now.pt_verdict == FAIL)
		add_note(fmt, ap);
	else
		vsnprintf(now.pt_reason, sizeof now.pt_reason, fmt, ap);
	va_end(ap);
	now.pt_verdict = FAIL;
}

void
point_skip(const char *fmt, ...)
{
	va_list ap;

	if (now.pt_verdict == FAIL)
		return;
	va_start(ap, fmt);
	vsnprintf(now.pt_reason, sizeof now.pt_reason, fmt, ap);
	va_end(ap);
	now.pt_verdict = SKIPPED;
}

/* A count that is wrong by a power of two was lost or added by a counter. */
void
point_equal(const char *what, int64_t got, int64_t want)
{
	uint64_t off = (uint64_t)(got - want);
	uint64_t size = got < want ? -off : off;

	if (got == want)
		return;
	if (size >= 1 << 16 && (size & (size - 1)) == 0)
		point_fail("%s: %lld, not %lld: off by 2^%u", what,
		    (long long)got, (long long)want,
		    (unsigned)__builtin_ctzll(size));
	else
		point_fail("%s: %lld, not %lld", what, (long long)got,
		    (long long)want);
}

static void
print_tap(void)
{
	const char *line = now.pt_notes;

	printf("%s %u - %s %s", now.pt_verdict == FAIL ? "not ok" : "ok",
	    points_total(), now.pt_group, now.pt_name);
	if (now.pt_verdict == SKIPPED)
		printf(" # SKIP %s", now.pt_reason);
	putchar('\n');
	if (now.pt_verdict == FAIL)
		printf("# %s\n", now.pt_reason);
	while (*line != '\0') {
		int n = (int)strcspn(line, "\n");

		printf("# %.*s\n", n, line);
		line += n + (line[n] == '\n');
	}
}

/* Text as XML has it.  Extensible Markup Language (XML) 1.0, "Characters". */
static void
print_xml(FILE *f, const char *s)
{
	for (; *s != '\0'; s++) {
		switch (*s) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			fputc(*s < ' ' && *s != '\n' ? '?' : *s, f);
		}
	}
}

static void
print_case(FILE *f)
{
	static const char *const elements[] = { NULL, "failure", "skipped" };

	fprintf(f, "  <testcase classname=\"vpmu.%s\" name=\"%s\">\n",
	    now.pt_group, now.pt_name);
	if (now.pt_verdict != PASS) {
		fprintf(f, "    <%s message=\"", elements[now.pt_verdict]);
		print_xml(f, now.pt_reason);
		fputs("\"/>\n", f);
	}
	if (*now.pt_notes != '\0') {
		fputs("    <system-out>", f);
		print_xml(f, now.pt_notes);
		fputs("</system-out>\n", f);
	}
	fputs("  </testcase>\n", f);
}

void
report_end(void)
{
	totals[now.pt_verdict]++;
	if (cases != NULL)
		print_case(cases);
	if (tap_wanted)
		print_tap();
	fflush(stdout);
}

static void
print_suite(void)
{
	close_or_fail(cases);
	puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
	printf("<testsuite name=\"vpmu\" tests=\"%u\" failures=\"%u\" "
	       "errors=\"0\" skipped=\"%u\">\n",
	    points_total(), totals[FAIL], totals[SKIPPED]);
	fputs(case_text, stdout);
	puts("</testsuite>");
	free(case_text);
}

int
report_nothing(const char *reason)
{
	if (tap_wanted)
		printf("1..0 # SKIP %s\n", reason);
	tap_wanted = false;
	if (cases == NULL)
		return 77;
	report_begin("pmu", "present");
	point_skip("%s", reason);
	report_end();
	print_suite();
	return 77;
}

int
report_finish(void)
{
	if (tap_wanted)
		printf("1..%u\n", points_total());
	if (cases != NULL)
		print_suite();
	if (totals[FAIL] != 0)
		return 1;
	return totals[PASS] != 0 ? 0 : 77;
}
