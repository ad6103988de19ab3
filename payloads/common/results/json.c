/* Writes records: lines of JSON on /dev/record. */
#include "payloads/common/results/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libcpc.h>
#include <payload.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "payloads/common/usage.h"

#define RECORD_SCHEMA 1

static char machine[16384];

const char *
json_machine(void)
{
	return machine[0] != '\0' ? machine : json_machine_now();
}

const char *
json_machine_now(void)
{
	size_t n;

	if (payload_machine(machine, sizeof machine) == -1)
		machine[0] = '\0';
	else if ((n = strlen(machine)) > 0)
		snprintf(machine + n, sizeof machine - n, "%s",
		    json_enlightenments());
	return machine;
}

/*
 * The length in bytes of the character at s, or 0 if the bytes are invalid.  A
 * character must have the shortest form and not be a surrogate.  RFC 3629,
 * "UTF-8 definition".
 */
static size_t
utf8_bytes(const char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint8_t first = (uint8_t)*s;
	size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	uint32_t c = first & (0x7fU >> n);

	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || c >> 11 == 0xd800 >> 11 ? 0 : n;
}

void
json_string(FILE *f, const char *s)
{
	size_t n;

	fputc('"', f);
	for (; *s != '\0'; s += n > 0 ? n : 1) {
		n = utf8_bytes(s);
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else if (n == 0)
			fputs("\\ufffd", f); /* REPLACEMENT CHARACTER */
		else
			fwrite(s, 1, n, f);
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

void
json_looks(FILE *f, unsigned looks, bool cut)
{
	if (looks != 0)
		fprintf(f, ",\"looks\":%u", looks);
	if (cut)
		fputs(",\"interrupted\":true", f);
}

/* RFC 4648, "Base 64 Encoding". */
void
json_base64(FILE *f, const unsigned char *p, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; n > 0; p += 3, n -= n < 3 ? n : 3) {
		unsigned v = (unsigned)p[0] << 16 | (n > 1 ? p[1] << 8 : 0) |
		             (n > 2 ? p[2] : 0);

		fputc(digits[v >> 18], f);
		fputc(digits[v >> 12 & 63], f);
		fputc(n > 1 ? digits[v >> 6 & 63] : '=', f);
		fputc(n > 2 ? digits[v & 63] : '=', f);
	}
}

/*
 * The program `pack` (payloads/pack/) takes the records of those that it runs.
 * Its answer ends the wait, so it takes no time from a measurement.  The
 * pipe for answers has one byte, and its owner may write (pack.c).
 */
static bool
give_to_pack(const char *line, size_t n)
{
	const char *fds = getenv("BARECPC_PACK");
	char turn;
	int in, out, back;

	if (fds == NULL || sscanf(fds, "%d,%d,%d", &in, &out, &back) != 3)
		return false;
	while (read(in, &turn, 1) == -1 && errno == EINTR)
		;
	for (ssize_t done; n > 0; line += done, n -= (size_t)done) {
		if ((done = write(out, line, n)) == -1 && errno == EINTR)
			done = 0;
		if (done == -1)
			fail(1, "pack takes no record: %s", strerror(errno));
	}
	while (read(in, &turn, 1) == -1 && errno == EINTR)
		;
	return write(back, &turn, 1) == 1;
}

bool
json_expect(uint64_t records)
{
	char line[32];
	int n = snprintf(line, sizeof line, "%" PRIu64 "\n", records);

	return give_to_pack(line, (size_t)n) && getenv(JSON_EXPECT) != NULL;
}

static void
write_all(FILE *f, int argc, char *const *argv,
    void (*members)(FILE *f, const void *arg), const void *arg)
{
	fprintf(f, "{\"schema\":%d", RECORD_SCHEMA);
	json_member(f, "payload", usage_name());
	fputs(",\"arguments\":[", f);
	for (int i = 1; i < argc; i++) {
		fputs(i == 1 ? "" : ",", f);
		json_string(f, argv[i]);
	}
	fputc(']', f);
	members(f, arg);
	fprintf(f, ",\"machine\":{%s}}\n", json_machine_now());
}

/*
 * The kernel frames each write to /dev/record as one record.  Under Linux, for
 * a payload that is tried there, the file does not exist.
 */
void
json_record(int argc, char *const *argv,
    void (*members)(FILE *f, const void *arg), const void *arg)
{
	char *line = NULL;
	size_t len = 0;
	FILE *f;
	int fd;

	if ((fd = open("/dev/record", O_WRONLY)) == -1)
		return;
	if ((f = open_memstream(&line, &len)) == NULL)
		goto lost;
	write_all(f, argc, argv, members, arg);
	if (fclose(f) != 0)
		goto lost;
	if (!give_to_pack(line, len) && write(fd, line, len) != (ssize_t)len)
		goto lost;
	free(line);
	close(fd);
	return;

lost:
	fail(1, "/dev/record: cannot write a record: %s", strerror(errno));
}
