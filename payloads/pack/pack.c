/*
 * pack: runs programs, and packs their records and stdout.  It is for a console
 * that keeps only its last bytes (docs/records.md, "A narrow console").
 *
 * A program gives each record through a pipe, and waits for an answer.  Its
 * stdout is a file in /tmp.  So `pack` sleeps while the program measures, but
 * for a look at the turn each `most_seconds`.
 *
 * The pipe for answers has one byte while no record is on its way.  A writer
 * takes that first, so two do not mix, then the answer, which it puts back.
 */
#define _GNU_SOURCE /* ppoll(), memmem() */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "payloads/common/report.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"
#include "payloads/pack/pack.h"

#define KEEP         (64UL << 10) /* of AWS: "get-console-output" */
#define KEEP_MIN     (16UL << 10)
#define KEEP_MAX     (1UL << 30)
#define RECORD_BYTES 190 /* of a packed record with five runs, about */
#define SHORT_BYTES  30
#define SECONDS      30
#define TEXT         "/tmp/pack.out"
#define CUT          "pack: %s: a record is cut, and left out\n"

/* A line of the suite, and the records that its program gives. */
struct suite_line {
	unsigned number;
	char **words;
	unsigned long records;
};

static struct pack pack;
static int record_fd, failed;
static unsigned programs, uncounted;
static time_t most_seconds = SECONDS, sent, came; /* a record sends all */
static bool announced;
static volatile sig_atomic_t child_ended;
static sigset_t no_signal;

static void
on_child(int sig)
{
	(void)sig;
	child_ended = 1;
}

/* It comes in ppoll() only, so none is missed before that waits. */
static void
take_sigchld(void)
{
	struct sigaction act = { .sa_handler = on_child,
		.sa_flags = SA_NOCLDSTOP };
	sigset_t child;

	sigaction(SIGCHLD, &act, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &no_signal);
}

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

/* How many records of the usual size the console keeps in full. */
static unsigned long
most_full(void)
{
	return (pack.pck_keep - PACK_RESERVE) / RECORD_BYTES;
}

/* Say that `all` records will not come in full, before they are measured. */
static void
announce(const char *name, unsigned long all)
{
	unsigned long full = most_full();

	announced = true;
	fprintf(stderr,
	    "pack: %s: %lu records with those before: the last %zu bytes of "
	    "the console have about %lu in full, or %lu short ones: for full "
	    "ones divide ",
	    name, all, pack.pck_keep, full,
	    (pack.pck_keep - PACK_RESERVE) / SHORT_BYTES);
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
	if (n == 0 && ftruncate(fd, 0) == 0)
		return;
	fprintf(
	    stderr, "pack: %s: %s: output is lost\n", TEXT, strerror(errno));
	failed = 1;
}

static void
take_record(const char *line, size_t n, int text)
{
	time_t now = now_seconds(), last = now - came;

	came = now;
	take_text(text);
	pack_record(&pack, line, n);
	/* The next one may take as long as this: pack cannot wake up then. */
	if (now - sent + last >= most_seconds)
		pack_flush(&pack);
}

/* Take a line, or with `expected` the number of records alone. */
static void
take_line(
    const char *name, char *line, size_t n, int text, unsigned long *expected)
{
	unsigned long all = pack.pck_records + strtoul(line, NULL, 10);

	if (expected != NULL)
		*expected = strtoul(line, NULL, 10);
	else if (*line == '{' && strpbrk(line, "\1\2\3\4") != NULL)
		send_frame(line, n); /* they mean something */
	else if (*line == '{')
		take_record(line, n, text);
	else if (!announced && all > most_full()) {
		announce(name, all);
		fprintf(stderr, "-e or the arguments over %lu jobs\n",
		    (all - 1) / most_full() + 1);
	}
}

/*
 * Take what a program gives until it has ended, and answer each line.
 * Children of the program may keep the pipe for ever.
 */
static void
take_lines(const char *name, int in, const int answers[2], int text,
    unsigned long *expected)
{
	struct timespec left = { 0 };
	struct pollfd wait = { .fd = in, .events = POLLIN };
	struct pollfd turn = { .fd = answers[0], .events = POLLIN };
	char *lines = NULL, *line, *end;
	size_t have = 0, length;
	ssize_t n;
	int ready, held = 0; /* waits that ended in a writer's turn */

	for (;;) {
		left.tv_sec = child_ended ? 0 : most_seconds + 1;
		ready = ppoll(&wait, 1, &left, &no_signal);
		if (ready == -1 && errno == EINTR)
			continue;
		held = ready == 0 && poll(&turn, 1, 0) == 0 ? held + 1 : 0;
		if (ready == 0 && !child_ended && have == 0 && held < 2)
			continue;
		/* The writer was killed: it is another one's turn. */
		if (ready == 0 && !child_ended &&
		    write(answers[1], "", 1) == 1) {
			fprintf(stderr, CUT, name);
			have = 0;
			held = 0;
			continue;
		}
		lines = fail_unless_room(realloc(lines, have + 4096));
		if (ready != 1 || (n = read(in, lines + have, 4096)) <= 0)
			break;
		have += (size_t)n;
		while ((end = memchr(lines, '\n', have)) != NULL) {
			length = (size_t)(++end - lines);
			line = fail_unless_room(strndup(lines, length));
			if (strlen(line) == length)
				take_line(name, line, length, text, expected);
			else
				fprintf(stderr, CUT, name);
			free(line);
			memmove(lines, end, have -= length);
			if (write(answers[1], "", 1) != 1)
				break;
		}
	}
	if (have != 0)
		fprintf(stderr, CUT, name);
	free(lines);
}

static _Noreturn void
become_program(
    char **words, const int answers[2], int out, int text, bool expects)
{
	char fds[48];

	snprintf(fds, sizeof fds, "%d,%d,%d", answers[0], out, answers[1]);
	if (dup2(text, STDOUT_FILENO) == -1 ||
	    (expects && (dup2(text, STDERR_FILENO) == -1 ||
			    setenv(JSON_EXPECT, "1", 1) == -1)) ||
	    setenv("BARECPC_PACK", fds, 1) == -1)
		fail(1, "%s", strerror(errno));
	close(text);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &no_signal, NULL);
	execv(words[0], words);
	fail(127, "%s: %s", words[0], strerror(errno));
}

static void
close_pipe(const int ends[2])
{
	if (ends[0] != -1) {
		close(ends[0]);
		close(ends[1]);
	}
}

/*
 * Run a program, and take what it gives.  With `expected` it only says how many
 * records that would be.  Returns its status, or -1 if it could not begin.
 */
static int
run(char **words, unsigned long *expected)
{
	int records[2] = { -1, -1 }, answers[2] = { -1, -1 }, status = -1;
	int text = open(TEXT, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	pid_t pid = -1;

	child_ended = 0;
	if (text != -1 && pipe(records) == 0 && pipe(answers) == 0 &&
	    write(answers[1], "", 1) == 1)
		pid = fork();
	if (pid == 0) {
		close(record_fd);
		close(records[0]);
		become_program(
		    words, answers, records[1], text, expected != NULL);
	}
	if (pid == -1)
		fprintf(stderr, "pack: %s: not run: %s\n", words[0],
		    strerror(errno));
	else {
		take_lines(words[0], records[0], answers, text, expected);
		waitpid(pid, &status, 0);
		if (expected == NULL)
			take_text(text);
	}
	close_pipe(records);
	close_pipe(answers);
	if (text != -1)
		close(text);
	return status;
}

static void
run_program(char **words)
{
	int status = run(words, NULL);

	status = status == -1        ? 1
	         : WIFEXITED(status) ? WEXITSTATUS(status)
	                             : 128 + WTERMSIG(status);
	programs++;
	uncounted += status == STATUS_NOTHING_COUNTED;
	if (status != 0 && status != STATUS_NOTHING_COUNTED) {
		fprintf(stderr, "pack: %s: exit %d\n", words[0], status);
		failed = failed != 0 ? failed : status;
	}
}

/* Does a program say how many records it gives, and do no more, if asked? */
static bool
says_records(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st = { 0 };
	const char *p = MAP_FAILED;
	bool says = false;

	if (fd != -1 && fstat(fd, &st) == 0 && st.st_size > 0)
		p = mmap(
		    NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p != MAP_FAILED) {
		says = memmem(p, (size_t)st.st_size, JSON_SAYS,
			   sizeof JSON_SAYS - 1) != NULL;
		munmap((void *)(uintptr_t)p, (size_t)st.st_size);
	}
	if (fd != -1)
		close(fd);
	return says;
}

/*
 * Divide a line into words as the kernel does; "..." has blanks in it.  The
 * caller frees the list.
 */
static char **
divide(char *s)
{
	char **words =
	    fail_unless_room(calloc(strlen(s) / 2 + 2, sizeof *words));
	unsigned n = 0;

	for (;;) {
		s += strspn(s, " \t\r\n");
		if (*s == '\0')
			return words;
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

/* Read the suite.  Returns its lines with programs, and *n. */
static struct suite_line *
read_suite(unsigned *n)
{
	struct suite_line *all = NULL;
	char *line = NULL, **words;
	FILE *f = fopen("suite", "r");
	size_t room = 0;

	if (f == NULL)
		fail(2, "no program on the command line, and no file `suite' "
			"in the archives: name a program");
	for (unsigned number = 1; getline(&line, &room, f) > 0; number++) {
		if (line[strspn(line, " \t")] == '#')
			continue;
		words = divide(line);
		if (words[0] == NULL || is_joined(words)) {
			free(words);
			continue;
		}
		all = fail_unless_room(realloc(all, (*n + 1) * sizeof *all));
		all[(*n)++] = (struct suite_line){ number, words, 0 };
		line = NULL; /* the words are in it */
		room = 0;
	}
	free(line);
	fclose(f);
	return all;
}

/*
 * Say before the suite starts if its records will not come in full, and after
 * which lines to divide it.
 */
static void
announce_suite(struct suite_line *all, unsigned n)
{
	unsigned long sum = 0, job = 0;
	const char *joint = "the suite after line ";

	for (unsigned i = 0; i < n; i++) {
		if (says_records(all[i].words[0]))
			run(all[i].words, &all[i].records);
		sum += all[i].records;
	}
	if (sum <= most_full())
		return;
	announce("suite", sum);
	for (unsigned i = 0; i < n; i++) {
		if (i > 0 && job + all[i].records > most_full()) {
			fprintf(stderr, "%s%u", joint, all[i - 1].number);
			joint = ", ";
			job = 0;
		}
		job += all[i].records;
	}
	fprintf(stderr, *joint == ',' ? "\n" : "-e or the arguments\n");
}

static void
run_suite(void)
{
	unsigned n = 0;
	struct suite_line *all = read_suite(&n);

	announce_suite(all, n);
	for (unsigned i = 0; i < n; i++)
		run_program(all[i].words);
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
	take_sigchld();
	pack_start(&pack, keep, send_frame);
	sent = came = now_seconds();
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
