/*
 * pack: runs programs, and packs their records and stdout.  It is for a console
 * that keeps only its last bytes (docs/records.md, "A narrow console").
 *
 * A program gives each record through a pipe, and waits for an answer.  Its
 * stdout is a file in /tmp.  So `pack` sleeps while the program measures.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "payloads/common/report.h"
#include "payloads/common/usage.h"
#include "payloads/pack/pack.h"

#define KEEP         (64UL << 10) /* of AWS: "get-console-output" */
#define KEEP_MIN     (16UL << 10)
#define KEEP_MAX     (1UL << 30)
#define RECORD_BYTES 190 /* of a packed record with five runs, about */
#define SHORT_BYTES  30
#define SECONDS      30
#define TEXT         "/tmp/pack.out"
#define WORDS_MAX    256

static struct pack pack;
static int record_fd, failed;
static unsigned programs, uncounted;
static time_t most_seconds = SECONDS, sent; /* a record sends all */

static time_t
now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void
send_frame(const char *frame, size_t n)
{
	sent = now_seconds();
	if (write(record_fd, frame, n) != (ssize_t)n)
		fail(1, "/dev/record: cannot write a record: %s",
		    strerror(errno));
}

/* Say which records of a program will not come in full, before it measures. */
static void
announce(const char *name, unsigned long records)
{
	unsigned long all = pack.pck_records + records, full, most;

	full = (pack.pck_keep - PACK_RESERVE) / RECORD_BYTES;
	if (all <= full)
		return;
	most = (pack.pck_keep - PACK_RESERVE) / SHORT_BYTES;
	fprintf(stderr,
	    "pack: %s: %lu records with those before: the last %zu bytes of "
	    "the console have about %lu in full, or %lu short ones: for full "
	    "ones divide -e or the arguments over %lu jobs\n",
	    name, all, pack.pck_keep, full, most, (all + full - 1) / full);
}

static void
take_text(int fd)
{
	char text[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, text, sizeof text, at)) > 0) {
		pack_text(&pack, text, (size_t)n);
		at += n;
	}
	if (n == -1 || ftruncate(fd, 0) == -1)
		fail(1, "%s: %s", TEXT, strerror(errno));
}

/* Take what a program gives until it has ended, and answer each line. */
static void
take_records(const char *name, int in, int answer, int text)
{
	FILE *f = fail_unless_room(fdopen(in, "r"));
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, f)) > 0) {
		if (line[n - 1] != '\n')
			fprintf(stderr,
			    "pack: %s: a record is cut, and left out\n", name);
		else if (*line != '{')
			announce(name, strtoul(line, NULL, 10));
		else if (strpbrk(line, "\1\2\3\4") != NULL)
			send_frame(line, (size_t)n); /* they mean something */
		else {
			take_text(text);
			pack_record(&pack, line, (size_t)n);
			if (now_seconds() - sent >= most_seconds)
				pack_flush(&pack);
		}
		if (write(answer, "", 1) != 1)
			break;
	}
	free(line);
	fclose(f);
}

static _Noreturn void
become_program(char **words, int in, int out, int text)
{
	char fds[32];

	snprintf(fds, sizeof fds, "%d,%d", in, out);
	if (dup2(text, STDOUT_FILENO) == -1 ||
	    setenv("BARECPC_PACK", fds, 1) == -1)
		fail(1, "%s", strerror(errno));
	close(text);
	signal(SIGPIPE, SIG_DFL);
	execv(words[0], words);
	fail(127, "%s: %s", words[0], strerror(errno));
}

static void
run_program(char **words)
{
	int records[2], answers[2], status, text;
	pid_t pid;

	text = open(TEXT, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (text == -1 || pipe(records) == -1 || pipe(answers) == -1 ||
	    (pid = fork()) == -1)
		fail(1, "%s: %s", words[0], strerror(errno));
	if (pid == 0) {
		close(record_fd);
		close(records[0]);
		close(answers[1]);
		become_program(words, answers[0], records[1], text);
	}
	close(records[1]);
	close(answers[0]);
	take_records(words[0], records[0], answers[1], text);
	close(answers[1]);
	if (waitpid(pid, &status, 0) == -1)
		fail(1, "%s: %s", words[0], strerror(errno));
	take_text(text);
	close(text);
	status =
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	programs++;
	uncounted += status == STATUS_NOTHING_COUNTED;
	if (status != 0 && status != STATUS_NOTHING_COUNTED) {
		fprintf(stderr, "pack: %s: exit %d\n", words[0], status);
		failed = failed != 0 ? failed : status;
	}
}

/* Divide a line into words as the kernel does; "..." has blanks in it. */
static unsigned
divide(char *s, char **words)
{
	unsigned n = 0;

	for (;;) {
		s += strspn(s, " \t\r\n");
		if (*s == '\0' || n + 1 == WORDS_MAX)
			break;
		words[n++] = s;
		bool quoted = false;
		char *to = s;

		for (; *s != '\0' && (quoted || !strchr(" \t\r\n", *s)); s++) {
			if (*s == '"') {
				quoted = !quoted;
				continue;
			}
			if (*s == '\\' && s[1] != '\0')
				s++;
			*to++ = *s;
		}
		s += *s != '\0';
		*to = '\0';
	}
	words[n] = NULL;
	return n;
}

/* Refuse a line of programs that run at the same time. */
static bool
is_joined(char **words)
{
	for (; *words != NULL; words++) {
		if (strcmp(*words, "&") != 0 && strcmp(*words, "|") != 0)
			continue;
		fprintf(stderr,
		    "pack: suite: `%s': left out: give each program a line\n",
		    *words);
		failed = failed != 0 ? failed : 2;
		return true;
	}
	return false;
}

static void
run_suite(void)
{
	char *words[WORDS_MAX], *line = NULL;
	FILE *f = fopen("suite", "r");
	size_t room = 0;

	if (f == NULL)
		fail(2, "no program on the command line, and no file `suite' "
			"in the archives: name a program");
	while (getline(&line, &room, f) > 0) {
		if (line[strspn(line, " \t")] == '#' ||
		    divide(line, words) == 0)
			continue;
		if (is_joined(words))
			continue;
		run_program(words);
	}
	free(line);
	fclose(f);
}

int
main(int argc, char **argv)
{
	size_t keep = KEEP;
	unsigned shorts;
	int c;

	usage_is("[program [args...]]",
	    "  -k BYTES   the console keeps its last BYTES (64k)\n"
	    "  -s SECONDS after SECONDS a record sends all that wait (30)\n");
	while ((c = usage_option(argc, argv, "+:k:s:", NULL)) != -1) {
		if (c == 'k')
			keep = usage_size("-k", optarg, KEEP_MIN, KEEP_MAX);
		else
			most_seconds = (time_t)usage_number(
			    "-s", optarg, 0, 1000000, " s");
	}
	if ((record_fd = open("/dev/record", O_WRONLY | O_CLOEXEC)) == -1)
		fail(1, "/dev/record: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN); /* a program may end before its answer */
	pack_start(&pack, keep, send_frame);
	sent = now_seconds();
	if (optind < argc)
		run_program(&argv[optind]);
	else
		run_suite();
	shorts = pack_end(&pack);
	if (shorts != 0)
		fprintf(stderr,
		    "pack: %u of %u records: short ones in the last %zu "
		    "bytes\n",
		    shorts, pack.pck_records, keep);
	if (failed != 0 || programs == 0)
		return failed != 0 ? failed : 2;
	return uncounted == programs ? STATUS_NOTHING_COUNTED : 0;
}
