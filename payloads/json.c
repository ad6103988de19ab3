#include "payloads/json.h"

#include <fcntl.h>
#include <libcpc.h>
#include <payload.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define RECORD_SCHEMA 1

const char *
json_machine(void)
{
	static char text[4096];
	static bool have;

	if (!have && payload_machine(text, sizeof text) == -1)
		text[0] = '\0';
	have = true;
	return text;
}

void
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

void
json_member(FILE *f, const char *key, const char *value)
{
	fprintf(f, ",\"%s\":", key);
	json_string(f, value);
}

void
json_privilege(FILE *f, unsigned flags)
{
	static const char *const names[] = { "both", "user", "system", "both" };
	unsigned n = ((flags & CPC_COUNT_USER) != 0) |
	             ((flags & CPC_COUNT_SYSTEM) != 0) << 1;

	json_member(f, "privilege", names[n]);
}

static void
write_all(FILE *f, const char *payload, int argc, char *const *argv,
    void (*members)(FILE *f, const void *arg), const void *arg)
{
	int i;

	fprintf(f, "{\"schema\":%d", RECORD_SCHEMA);
	json_member(f, "payload", payload);
	fputs(",\"arguments\":[", f);
	for (i = 1; i < argc; i++) {
		fputs(i == 1 ? "" : ",", f);
		json_string(f, argv[i]);
	}
	fputc(']', f);
	members(f, arg);
	fprintf(f, ",\"machine\":{%s}}\n", json_machine());
}

/*
 * The kernel frames each write to /dev/record as one record.  Elsewhere (a
 * payload tried out under Linux) there is nowhere to leave one.
 */
void
json_record(const char *payload, int argc, char *const *argv,
    void (*members)(FILE *f, const void *arg), const void *arg)
{
	char *line = NULL;
	size_t len = 0;
	FILE *f;
	int fd;

	if ((fd = open("/dev/record", O_WRONLY)) == -1)
		return;
	if ((f = open_memstream(&line, &len)) == NULL)
		goto fail;
	write_all(f, payload, argc, argv, members, arg);
	if (fclose(f) != 0 || write(fd, line, len) != (ssize_t)len)
		goto fail;
	free(line);
	close(fd);
	return;

fail:
	perror("cannot leave a record");
	exit(1);
}
