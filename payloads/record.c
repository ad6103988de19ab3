#include "payloads/report.h"

#include <fcntl.h>
#include <inttypes.h>
#include <libcpc.h>
#include <payload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_SCHEMA 1

/* The text of /dev/machine, read once; "" where there is none. */
static const char *
machine_text(void)
{
	static char text[4096];
	static bool have;

	if (!have && payload_machine(text, sizeof text) == -1)
		text[0] = '\0';
	have = true;
	return text;
}

const char *
report_machine(const char *key, char *buf, size_t len)
{
	char member[64];
	const char *at;
	size_t n;

	snprintf(member, sizeof member, "\"%s\":\"", key);
	if ((at = strstr(machine_text(), member)) == NULL)
		return NULL;
	at += strlen(member);
	for (n = 0; *at != '\0' && *at != '"' && n + 1 < len; n++) {
		if (*at == '\\' && at[1] != '\0')
			at++;
		buf[n] = *at++;
	}
	buf[n] = '\0';
	return buf;
}

static const char *
privilege(unsigned flags)
{
	switch (flags & (CPC_COUNT_USER | CPC_COUNT_SYSTEM)) {
	case CPC_COUNT_USER:
		return "user";
	case CPC_COUNT_SYSTEM:
		return "system";
	default:
		return "both";
	}
}

static void
json_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static void
json_member(FILE *f, const char *key, const char *value)
{
	fprintf(f, ",\"%s\":", key);
	json_string(f, value);
}

static void
json_series(FILE *f, const struct series *s)
{
	unsigned i;

	fprintf(f,
	    "{\"min\":%" PRIu64 ",\"median\":%" PRIu64 ",\"max\":%" PRIu64
	    ",\"range\":%" PRIu64 ",\"raw\":[",
	    s->s_min, s->s_median, s->s_max, s->s_max - s->s_min);
	for (i = 0; i < s->s_n; i++)
		fprintf(f, "%s%" PRIu64, i == 0 ? "" : ",", s->s_raw[i]);
	fputs("]}", f);
}

static void
json_quantity(FILE *f, const char *key, const struct quantity *q)
{
	fprintf(f, ",\"%s\":", key);
	if (q->q_raw.s_n == 0) {
		fputs("null", f);
		return;
	}
	fprintf(f, "{\"net\":%" PRId64 ",\"measured\":", quantity_net(q));
	json_series(f, &q->q_raw);
	fputs(",\"overhead\":", f);
	if (q->q_overhead.s_n == 0)
		fputs("null", f);
	else
		json_series(f, &q->q_overhead);
	fputc('}', f);
}

static void
json_result(FILE *f, const struct options *o, const struct result *r)
{
	char ratio[40];
	int i;

	fprintf(f, "{\"schema\":%d", RECORD_SCHEMA);
	json_member(f, "payload", o->o_name);
	fputs(",\"arguments\":[", f);
	for (i = 1; i < o->o_argc; i++) {
		fputs(i == 1 ? "" : ",", f);
		json_string(f, o->o_argv[i]);
	}
	fputc(']', f);
	json_member(f, "label", r->r_label);
	json_member(f, "event", r->r_event->e_name);
	if (r->r_code < 0)
		fputs(",\"code\":null", f);
	else
		fprintf(f, ",\"code\":%" PRId64, r->r_code);
	if (r->r_pic < 0)
		fputs(",\"pic\":null", f);
	else
		fprintf(f, ",\"pic\":%d", r->r_pic);
	json_member(f, "privilege", privilege(r->r_event->e_flags));
	json_member(f, "status", status_words[r->r_status]);
	if (r->r_status != COUNTED)
		json_member(f, "reason", r->r_reason);
	fprintf(f, ",\"runs\":%u,\"warm_ups\":%u,\"iterations\":%" PRIu64,
	    o->o_runs, o->o_warmups, r->r_iterations);
	json_member(f, "aggregate", "median");
	json_member(f, "overhead_method", r->r_method);
	json_quantity(f, "count", &r->r_count);
	if (r->r_status == COUNTED)
		fprintf(f, ",\"per_iteration\":%s",
		    report_ratio(ratio, sizeof ratio, quantity_net(&r->r_count),
			r->r_iterations));
	else
		fputs(",\"per_iteration\":null", f);
	json_quantity(f, "tick", &r->r_tick);
	json_quantity(f, "hrtime_ns", &r->r_hrtime);
	fprintf(f, ",\"verified\":%s,\"machine\":{%s}}\n",
	    r->r_verified ? "true" : "false", machine_text());
}

/*
 * The kernel frames each write to /dev/record as one record.  Elsewhere (a
 * payload tried out under Linux) there is nowhere to leave one.
 */
void
report_record(const struct options *o, const struct result *r)
{
	char *line = NULL;
	size_t len = 0;
	FILE *f;
	int fd;

	if ((fd = open("/dev/record", O_WRONLY)) == -1)
		return;
	if ((f = open_memstream(&line, &len)) == NULL)
		goto fail;
	json_result(f, o, r);
	if (fclose(f) != 0 || write(fd, line, len) != (ssize_t)len)
		goto fail;
	free(line);
	close(fd);
	return;

fail:
	perror("cannot leave a record");
	exit(1);
}
