/*
 * Run the program of the command line, or each program of the suite. Afterwards
 * check that each program gave back its memory, LWPs and counters.
 */
#include "kern/launch.h"

#include <stdbool.h>
#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/file/archive.h"
#include "kern/mm/page.h"
#include "kern/platform/boot_time.h"
#include "kern/platform/cmdline.h"
#include "kern/platform/run_end.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
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
	uint64_t asked, refused;

	kcpc_stat(&is);
	asked = is.ks_asked - was->ks_asked;
	refused = is.ks_refused - was->ks_refused;
	return asked > 0 && refused == asked;
}

static int
run_program(const struct cmdline *cl, char *const argv[], unsigned argc)
{
	struct inventory before = take_inventory();
	struct kcpc_stat st;
	struct proc *p;
	int status;

	kcpc_stat(&st);
	p = proc_create(argv, argc, cl->cl_env, cl->cl_nenv, cl->cl_system,
	    !cl->cl_no_cpc_cpu);
	if (p == NULL) {
		has_leaked(argv[0], &before);
		return EXIT_FAILED;
	}
	p->p_stop = cl->cl_trace_stops ? stop_trace : NULL;
	status = proc_run(p, cl->cl_timeout);
	proc_free(p);
	if (has_leaked(argv[0], &before))
		return EXIT_FAILED;
	return status == 0 && all_refused(&st) ? EXIT_UNCOUNTED : status;
}

/*
 * The suite is a file with one command on each line, in words as on the
 * command line.  A line that begins with # is a comment.
 */

struct suite {
	unsigned ran;
	bool uncounted; /* a program ended with EXIT_UNCOUNTED */
	int failed;     /* the first other status that is not 0 */
};

static void
run_line(const struct cmdline *cl, struct suite *s, char *line)
{
	char **argv, shown[PROC_NAME_MAX];
	const char *why = NULL;
	unsigned argc = 0;
	int status;

	while (*line == ' ' || *line == '\t')
		line++;
	if (*line == '#')
		return;
	if ((argv = words_split(line, &argc, &why)) == NULL) {
		printf("barecpc: suite: %s\n", why);
		s->failed = s->failed != 0 ? s->failed : EXIT_FAILED;
		return;
	}
	if (argc > 0) {
		status = run_program(cl, argv, argc);
		strlcpy_shown(shown, argv[0], sizeof shown);
		if (status != 0)
			printf("barecpc: %s: exit %d\n", shown, status);
		s->ran++;
		if (status == EXIT_UNCOUNTED)
			s->uncounted = true;
		else if (status != 0 && s->failed == 0)
			s->failed = status;
	}
	kfree(argv);
}

static int
run_suite(const struct cmdline *cl)
{
	struct suite s = { 0 };
	struct kcpc_stat st;
	const struct archive_entry *e = archive_find("suite");
	char *text, *line, *end;

	if (e == NULL) {
		printf("barecpc: no program on the command line and no file "
		       "`suite' in the archives\n");
		return EXIT_FAILED;
	}
	if ((text = kmalloc(e->ae_bytes + 1)) == NULL) {
		printf("barecpc: suite: out of memory\n");
		return EXIT_FAILED;
	}
	memcpy(text, e->ae_data, e->ae_bytes);
	kcpc_stat(&st);
	for (line = text; line != NULL; line = end) {
		if ((end = strchr(line, '\n')) != NULL)
			*end++ = '\0';
		run_line(cl, &s, line);
	}
	kfree(text);
	if (s.ran == 0) {
		printf("barecpc: suite: names no program\n");
		return EXIT_FAILED;
	}
	if (s.failed != 0)
		return s.failed;
	return s.uncounted && all_refused(&st) ? EXIT_UNCOUNTED : 0;
}

int
launch(const struct cmdline *cl)
{
	if (cl->cl_argc > 0)
		return run_program(cl, cl->cl_argv, cl->cl_argc);
	return run_suite(cl);
}
