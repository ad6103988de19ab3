/*
 * Run the programs of the command line, or of each line of the suite.
 * Afterwards check that they gave back their memory, LWPs and counters.
 */
#include "kern/main.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/file/archive.h"
#include "kern/file/file.h"
#include "kern/file/pipe.h"
#include "kern/file/tmp.h"
#include "kern/mm/page.h"
#include "kern/platform/command/cmdline.h"
#include "kern/platform/console.h"
#include "kern/platform/results/fb_console.h"
#include "kern/platform/results/keep.h"
#include "kern/platform/run_end.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sys/syscall.h"
#include "lib/printf.h"
#include "lib/string.h"

/* The resources in use.  They must be the same before and after a program. */
struct inventory {
	size_t pages;
	unsigned lwps, contexts, pics;
};

static struct inventory
take_inventory(void)
{
	struct kcpc_stat st;

	kcpc_stat(&st);
	return (
	    struct inventory){ page_nfree(), nlwp, st.ks_contexts, st.ks_pics };
}

static bool
has_leaked(const char *name, const struct inventory *was)
{
	struct inventory is = take_inventory();
	char shown[PROC_NAME_MAX];

	if (is.pages == was->pages && is.lwps == was->lwps &&
	    is.contexts == was->contexts && is.pics == was->pics)
		return false;
	strlcpy_shown(shown, name, sizeof shown);
	printf("barecpc: leak: %s left behind %ld page(s), %d LWP(s), "
	       "%d context(s), %d PIC(s)\n",
	    shown, (long)(was->pages - is.pages), (int)(is.lwps - was->lwps),
	    (int)(is.contexts - was->contexts), (int)(is.pics - was->pics));
	return true;
}

/* Did programs ask for counters since `was`, and was each bind refused? */
static bool
all_refused(const struct kcpc_stat *was)
{
	struct kcpc_stat is;

	kcpc_stat(&is);
	uint64_t asked = is.ks_asked - was->ks_asked;
	uint64_t refused = is.ks_refused - was->ks_refused;
	return asked > 0 && refused == asked;
}

/*
 * A line: the words of the command line after `--`, or of one line of the
 * suite.  Its programs are joined by | or &, and run at the same time.
 */

#define LINE_PROGRAMS 8 /* at most */
#define LINE_NAME_MAX 96

struct program {
	char **argv;
	unsigned argc;
	bool piped; /* its output is the next program's input */
	struct proc *proc;
	int status;
};

struct line {
	unsigned n;
	struct program program[LINE_PROGRAMS];
	char name[LINE_NAME_MAX]; /* its programs, as shown in the log */
};

static void
name_line(struct line *ln)
{
	size_t n = 0;

	for (unsigned i = 0; i < ln->n && n < sizeof ln->name; i++) {
		if (i > 0)
			n += (size_t)snprintf(ln->name + n, sizeof ln->name - n,
			    ln->program[i - 1].piped ? " | " : " & ");
		if (n < sizeof ln->name)
			n += strlcpy_shown(ln->name + n, ln->program[i].argv[0],
			    sizeof ln->name - n);
	}
}

/*
 * Divide words into programs.  Returns false, with a line of output that begins
 * with `where`, if a program is missing or there are too many.
 */
static bool
divide_line(struct line *ln, const char *where, char **words, unsigned count)
{
	unsigned first = 0;

	*ln = (struct line){ 0 };
	for (unsigned i = 0; i <= count; i++) {
		if (i < count && words[i] != word_pipe && words[i] != word_both)
			continue;
		if (i == first) {
			const char *joint = words[i < count ? i : i - 1];

			printf("barecpc: %s: no program %s `%s': name one, or "
			       "write \\%s for the word itself\n",
			    where, i < count ? "before" : "after", joint,
			    joint);
			return false;
		}
		if (ln->n == LINE_PROGRAMS) {
			printf("barecpc: %s: more than %d programs at once: "
			       "join fewer by | and &\n",
			    where, LINE_PROGRAMS);
			return false;
		}
		ln->program[ln->n++] = (struct program){
			.argv = words + first,
			.argc = i - first,
			.piped = i < count && words[i] == word_pipe,
		};
		first = i + 1;
	}
	name_line(ln);
	return true;
}

/* Create all programs of a line, so that all run or none. */
static bool
create_line(const struct cmdline *cl, struct line *ln)
{
	for (unsigned i = 0; i < ln->n; i++) {
		struct program *g = &ln->program[i];

		g->proc = proc_create(g->argv, g->argc, cl->cl_env, cl->cl_nenv,
		    cl->cl_system, !cl->cl_no_cpc_cpu);
		if (g->proc == NULL)
			return false;
		g->proc->p_pgid = ln->program[0].proc->p_pid;
		g->proc->p_stop = cl->cl_trace_stops ? stop_trace : NULL;
		if (i > 0 && g[-1].piped &&
		    pipe_connect(g[-1].proc, g->proc) != 0) {
			printf("barecpc: %s: no memory for a pipe\n", ln->name);
			return false;
		}
	}
	return true;
}

/* The statuses of several programs. */
struct verdict {
	bool uncounted; /* one is EXIT_UNCOUNTED */
	int failed;     /* the first one that is neither that nor 0 */
};

static void
add_status(struct verdict *v, int status)
{
	if (status == EXIT_UNCOUNTED)
		v->uncounted = true;
	else if (v->failed == 0)
		v->failed = status;
}

/*
 * The status of a line.  Only the last program of a pipe counts.  The log names
 * each program that failed.
 */
static int
line_status(const struct line *ln)
{
	struct verdict v = { 0 };
	char shown[PROC_NAME_MAX];

	for (unsigned i = 0; i < ln->n; i++) {
		const struct program *g = &ln->program[i];

		if (ln->n > 1 && g->status != 0) {
			strlcpy_shown(shown, g->argv[0], sizeof shown);
			printf("barecpc: %s: exit %d\n", shown, g->status);
		}
		if (!g->piped)
			add_status(&v, g->status);
	}
	return v.failed != 0 ? v.failed : v.uncounted ? EXIT_UNCOUNTED : 0;
}

/* The most bytes of a file: a frame has no more. */
#define OUT_MAX (16UL << 20)

static void
send_file(const char *name)
{
	const struct tmp_node *tn = tmp_content(tmp_child(&tmp_root, name));

	if (tn == NULL || (tn->tn_mode & S_IFMT) != S_IFREG)
		printf("barecpc: out: /tmp/%s: %s\n", name,
		    tn == NULL ? "no program made this file" : "no plain file");
	else if (tn->tn_bytes > OUT_MAX)
		printf("barecpc: out: /tmp/%s: %zu bytes: at most %lu are "
		       "sent\n",
		    name, tn->tn_bytes, OUT_MAX);
	else
		cons_write(STREAM_FILE, tn->tn_data, tn->tn_bytes);
}

/* Run all programs of a line.  It ends when all have ended. */
static int
run_line(const struct cmdline *cl, struct line *ln)
{
	struct inventory before = take_inventory();
	struct kcpc_stat st;
	int status = EXIT_FAILED;

	kcpc_stat(&st);
	progress_program(ln->name);
	if (create_line(cl, ln)) {
		for (unsigned i = 0; i < ln->n; i++)
			proc_start(ln->program[i].proc, cl->cl_timeout);
		for (unsigned i = 0; i < ln->n; i++)
			ln->program[i].status = proc_wait(ln->program[i].proc);
		proc_end_others();
		if (cl->cl_out != NULL)
			send_file(cl->cl_out);
		tmp_clear();
		status = line_status(ln);
	}
	for (unsigned i = 0; i < ln->n && ln->program[i].proc != NULL; i++)
		proc_free(ln->program[i].proc);
	if (has_leaked(ln->name, &before))
		return EXIT_FAILED;
	return status == 0 && all_refused(&st) ? EXIT_UNCOUNTED : status;
}

/*
 * The suite is a file with one line for each run, in words as on the command
 * line.  A line that begins with # is a comment.
 */

bool launch_spin_failed;

struct suite {
	unsigned ran;
	struct verdict verdict;
};

static void
run_suite_line(const struct cmdline *cl, struct suite *s, char *text)
{
	const char *why = NULL;
	unsigned count = 0;
	struct line ln;
	char **words;
	int status;

	while (*text == ' ' || *text == '\t')
		text++;
	if (*text == '#')
		return;
	if ((words = words_split(text, &count, &why)) == NULL) {
		printf("barecpc: suite: %s\n", why);
		add_status(&s->verdict, EXIT_FAILED);
		return;
	}
	if (count > 0 && !divide_line(&ln, "suite", words, count)) {
		add_status(&s->verdict, EXIT_FAILED);
	} else if (count > 0) {
		status = run_line(cl, &ln);
		if (status != 0)
			printf("barecpc: %s: exit %d\n", ln.name, status);
		if (status == 1 && strcmp(ln.name, "spin") == 0)
			launch_spin_failed = true;
		s->ran++;
		add_status(&s->verdict, status);
	}
	kfree(words);
}

static int
run_suite(const struct cmdline *cl)
{
	struct suite s = { 0 };
	struct kcpc_stat st;
	const struct archive_entry *e = archive_find("suite");
	char *text, *line, *end;

	if (e == NULL || (text = kmalloc(e->ae_bytes + 1)) == NULL) {
		printf("barecpc: %s\n",
		    e == NULL ? "no program on the command line and no file "
				"`suite' in the archives"
			      : "suite: out of memory");
		return EXIT_FAILED;
	}
	memcpy(text, e->ae_data, e->ae_bytes);
	kcpc_stat(&st);
	for (line = text; line != NULL; line = end) {
		if ((end = strchr(line, '\n')) != NULL)
			*end++ = '\0';
		run_suite_line(cl, &s, line);
	}
	kfree(text);
	if (s.ran == 0 && s.verdict.failed == 0) {
		printf("barecpc: suite: names no program\n");
		return EXIT_FAILED;
	}
	if (s.verdict.failed != 0)
		return s.verdict.failed;
	return s.verdict.uncounted && all_refused(&st) ? EXIT_UNCOUNTED : 0;
}

int
launch(const struct cmdline *cl)
{
	struct line ln;

	if (cl->cl_argc == 0)
		return run_suite(cl);
	if (!divide_line(&ln, "command line", cl->cl_argv, cl->cl_argc))
		return EXIT_FAILED;
	as_last = true;
	return run_line(cl, &ln);
}

/*
 * The program has its own time, so timeout= is not for it.  Its status is no
 * result of the run.
 */
void
show_results(const struct cmdline *cl)
{
	static struct cmdline own;
	char name[] = "pages";
	char *words[] = { name, NULL };
	struct line ln;
	unsigned width, height;

	if (cl->cl_no_pages || !keep_has_records() ||
	    archive_find(name) == NULL || !fbcons_take(&width, &height))
		return;
	own = *cl;
	own.cl_timeout = 0;
	own.cl_system = own.cl_trace_stops = false;
	if (divide_line(&ln, "screen", words, 1))
		run_line(&own, &ln);
	fbcons_give_back();
}
