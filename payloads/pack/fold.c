/*
 * Folds records: leaves out the aggregates that follow from the raw values.
 *
 * A quantity becomes \1 SERIES \2, or \1 SERIES|SERIES \2 with an overhead, and
 * a series elsewhere \3 SERIES \2.  SERIES is "value*number" if all raw values
 * are equal.  Else it is "least;d,d,..." with each value's difference to the
 * least one, which is left out if it is 0.  A value that does not follow
 * exactly stays as it is.  The machine of a record is \4 if it is that of the
 * record before in the block.  scripts/host/console/packed.py unfolds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/report.h"
#include "payloads/common/usage.h"
#include "payloads/pack/pack.h"

/* Sums of squares of larger values need not be the same on every machine. */
#define LARGEST (1LL << 52)

/* The end of `text` if s begins with it, or NULL. */
static const char *
after(const char *s, const char *text)
{
	size_t n = strlen(text);

	return s != NULL && strncmp(s, text, n) == 0 ? s + n : NULL;
}

/* Read a series at s.  Returns its end, or NULL: series_free() in any case. */
static const char *
read_series(const char *s, struct series *to)
{
	const char *raw = after(s, "{\"min\":") ? strstr(s, "\"raw\":[") : NULL;
	const char *end = raw != NULL ? strchr(raw, ']') : NULL;
	char *next, *text = NULL;
	size_t bytes;
	unsigned n = 1;

	memset(to, 0, sizeof *to);
	if (end == NULL)
		return NULL;
	raw += strlen("\"raw\":[");
	for (const char *c = raw; c < end; c++)
		n += *c == ',';
	series_open(to, n);
	for (; n > 0; n--, raw = next + 1) {
		int64_t v = strtoll(raw, &next, 10);

		if (next == raw || v <= -LARGEST || v >= LARGEST)
			return NULL;
		series_add(to, v);
	}
	series_close(to, NULL);
	FILE *f = fail_unless_room(open_memstream(&text, &bytes));
	series_json(f, to);
	close_or_fail(f);
	s = after(s, text);
	free(text);
	return s;
}

static void
fold_series(FILE *f, const struct series *s)
{
	if (s->s_min == s->s_max) {
		fprintf(f, "%" PRId64 "*%u", s->s_min, s->s_n);
		return;
	}
	fprintf(f, "%" PRId64, s->s_min);
	for (unsigned i = 0; i < s->s_n; i++) {
		fputc(i == 0 ? ';' : ',', f);
		if (s->s_raw[i] != s->s_min)
			fprintf(f, "%" PRId64, s->s_raw[i] - s->s_min);
	}
}

/* Fold a quantity or a series at s.  Returns its end, or NULL. */
static const char *
fold_at(FILE *f, const char *s)
{
	const char *measured =
	    after(s, "{\"net\":") ? strstr(s, "{\"min\":") : NULL;
	struct quantity q = { 0 };
	char net[100];
	const char *end =
	    read_series(measured != NULL ? measured : s, &q.q_raw);

	if (end != NULL && measured != NULL) {
		const char *over = after(end, ",\"overhead\":");

		end = after(over, "null");
		if (over != NULL && end == NULL)
			end = read_series(over, &q.q_overhead);
		end = after(end, "}");
		snprintf(net, sizeof net,
		    "{\"net\":%" PRId64 ",\"spread_larger\":%s,\"measured\":",
		    quantity_net(&q), quantity_noisy(&q) ? "true" : "false");
		if (after(s, net) != measured)
			end = NULL;
	}
	if (end != NULL) {
		fputc(measured != NULL ? 1 : 3, f);
		fold_series(f, &q.q_raw);
		if (q.q_overhead.s_n != 0) {
			fputc('|', f);
			fold_series(f, &q.q_overhead);
		}
		fputc(2, f);
	}
	series_free(&q.q_raw);
	series_free(&q.q_overhead);
	return end;
}

void
fold_record(FILE *f, const char *line, size_t n)
{
	const char *stop = line + n, *end;

	while (line < stop) {
		end = *line == '{' ? fold_at(f, line) : NULL;
		if (end == NULL)
			fputc(*line++, f);
		else
			line = end;
	}
}

/* Write a value of the record: a word without quotes. */
static const char *
short_value(FILE *f, const char *s, const char *key)
{
	s = s != NULL ? strstr(s, key) : NULL;
	if (s == NULL)
		return NULL;
	s += strlen(key);
	fputc('\t', f);
	for (bool quoted = *s == '"' && s++; *s != '\0'; s++) {
		if (quoted ? *s == '"' : strchr(",}]", *s) != NULL)
			break;
		if (*s == '\\')
			fputc(*s++, f);
		fputc(*s, f);
	}
	return s;
}

/* Copy the value after the key, or "-" if it is null or missing. */
static const char *
value_after(const char *s, const char *key, char to[static 40])
{
	size_t n = 0;

	s = s != NULL ? strstr(s, key) : NULL;
	if (s != NULL && strncmp(s += strlen(key), "null", 4) != 0)
		n = strcspn(s, ",}]");
	n = n < 39 ? n : 39;
	memcpy(to, n > 0 ? s : "-", n > 0 ? n : 1);
	to[n > 0 ? n : 1] = '\0';
	return s;
}

char *
fold_row(char *row, const char *line)
{
	const char *label = strstr(line, "\"label\":\""), *count, *over;
	char net[40], each[40], tick[40], hrtime[40], range[40], less[40];
	char *event, *end, *made = NULL;

	if (label == NULL)
		return NULL;
	label += strlen("\"label\":\"");
	size_t n = strcspn(label, "\"");
	if (strlen(row) <= (n < 16 ? 16 : n) + 1)
		return NULL;
	event = row + (n < 16 ? 16 : n) + 1;
	end = event + strcspn(event, " ");
	if (end == event || *end != ' ')
		return NULL;
	count = value_after(line, "\"count\":{\"net\":", net);
	value_after(count, "\"range\":", range);
	over = count != NULL ? strstr(count, "\"overhead\":") : NULL;
	value_after(over != NULL && strncmp(over, "\"overhead\":{", 12) == 0
			? over
			: NULL,
	    "\"median\":", less);
	value_after(line, "\"per_iteration\":", each);
	value_after(line, "\"tick\":{\"net\":", tick);
	value_after(line, "\"hrtime_ns\":{\"net\":", hrtime);
	*end = '\0';
	char *name = fail_unless_room(strndup(label, n));
	if (asprintf(&made, REPORT_ROW, name, event, net, each, tick, hrtime,
		range, less) < 0)
		fail(1, "no memory");
	*end = ' ';
	bool same = strcmp(made, row) == 0;
	free(made);
	free(name);
	if (same)
		*end = '\0';
	return same ? event : NULL;
}

void
fold_short(FILE *f, const char *line)
{
	static const char *const words[] = {
		"\"payload\":", "\"label\":", "\"event\":", "\"privilege\":"
	};
	const char *s = line, *count;
	int64_t net = 0, min = 0, max = 0;

	fputc('s', f);
	if (strstr(line, "\"label\":") != NULL) {
		for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
			s = short_value(f, s, words[i]);
		count = strstr(line, "\"count\":{\"net\":");
		if (count != NULL &&
		    sscanf(count,
			"\"count\":{\"net\":%" SCNd64
			",\"spread_larger\":%*[a-z],\"measured\":{\"min\":"
			"%" SCNd64 ",\"median\":%*[-0-9],\"max\":%" SCNd64,
			&net, &min, &max) == 3)
			fprintf(f, "\t%" PRId64 "\t%" PRId64 "\t%" PRIu64, net,
			    min - net, (uint64_t)max - (uint64_t)min);
		else
			fputs("\t\t\t", f);
		short_value(f, line, "\"runs\":");
		short_value(f, line, "\"status\":");
	}
	fputc('\n', f);
}
