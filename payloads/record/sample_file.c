/*
 * Turns the samples of a profile into rows of its table and folded stacks.
 */
#include "payloads/record/sample_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"
#include "payloads/record/symbols.h"

/* A program of the profile: the profiled one, or one that it executed. */
struct program {
	struct program *pg_next;
	unsigned pg_number; /* in the profile */
	const char *pg_path;
	struct cpc_profile_image pg_image;
	struct symbols *pg_symbols; /* NULL if the file cannot be read */
};

/* A row of the table or a folded stack, which grows as needed. */
struct line {
	char *text;
	size_t len, room;
};

static void
line_byte(struct line *l, char c)
{
	if (l->len == l->room) {
		l->room = l->room == 0 ? 4096 : 2 * l->room;
		l->text = fail_unless_room(realloc(l->text, l->room));
	}
	l->text[l->len++] = c;
}

static void
line_text(struct line *l, const char *text)
{
	while (*text != '\0')
		line_byte(l, *text++);
}

/*
 * Append a name of a folded stack.  There ";" separates frames and a space
 * separates the count, so replace both by ":".
 */
static void
line_name(struct line *l, const char *name)
{
	for (; *name != '\0'; name++)
		line_byte(l, *name == ';' || *name == ' ' ? ':' : *name);
}

static void
line_count(struct line *l, struct histogram *hg)
{
	line_byte(l, '\0');
	histogram_add(hg, l->text);
	l->len = 0;
}

/*
 * Find a program's path and symbols.  The kernel may have cut the path; the
 * profiled program's whole path is known.
 */
static void
read_program(const struct sampled *sd, struct program *pg)
{
	const char *path = pg->pg_image.ci_path, *wrong;

	if (cpc_syscall(CPC_OP_PROFILE_IMAGE, (uintptr_t)sd->sd_fd,
		pg->pg_number, (uintptr_t)&pg->pg_image, 0) != 0) {
		pg->pg_path = "[unknown]";
		return;
	}
	pg->pg_path =
	    strncmp(path, sd->sd_path, sizeof pg->pg_image.ci_path - 1) == 0
		? sd->sd_path
		: path;
	if ((pg->pg_symbols = symbols_load(pg->pg_path, &wrong)) == NULL)
		fprintf(stderr, "%s: %s: %s: its functions have no names\n",
		    usage_name(), pg->pg_path, wrong);
}

static struct program *programs;

static const struct program *
find_program(const struct sampled *sd, unsigned number)
{
	struct program *pg, **link = &programs;

	for (; (pg = *link) != NULL; link = &pg->pg_next) {
		if (pg->pg_number == number)
			return pg;
	}
	pg = *link = fail_unless_room(calloc(1, sizeof *pg));
	pg->pg_number = number;
	read_program(sd, pg);
	return pg;
}

const char *
sampled_program(unsigned n, unsigned *number, uint64_t *bias)
{
	const struct program *pg = programs;

	while (pg != NULL && n-- > 0)
		pg = pg->pg_next;
	if (pg == NULL)
		return NULL;
	*number = pg->pg_number;
	*bias = pg->pg_image.ci_bias;
	return pg->pg_path;
}

/* The kernel's function at pc, or NULL if pc is the program's. */
static const char *
kernel_symbol(uint64_t pc)
{
	static char name[128];
	intptr_t bytes;

	if (pc >> 63 == 0)
		return NULL;
	bytes = cpc_syscall(
	    CPC_OP_KERNEL_SYMBOL, pc, (uintptr_t)name, sizeof name - 1, 0);
	return bytes > 0 ? name : "[unknown]";
}

/* The functions that the process made at run time, or NULL. */
static const struct symbols *
made_symbols(uint32_t pid)
{
	static struct made {
		struct made *next;
		uint32_t pid;
		struct symbols *symbols;
	} * all;
	struct made *md = all;
	char path[40];

	while (md != NULL && md->pid != pid)
		md = md->next;
	if (md == NULL) {
		snprintf(path, sizeof path, "/tmp/perf-%" PRIu32 ".map", pid);
		md = fail_unless_room(calloc(1, sizeof *md));
		*md = (struct made){ all, pid, symbols_load_map(path) };
		all = md;
	}
	return md->symbols;
}

/* Addresses after the first are return addresses; the call is before them. */
static const char *
frame_symbol(
    const struct program *pg, uint32_t pid, const uint64_t *pc, uint32_t n)
{
	uint64_t at = pc[n] - (n > 0);
	const char *name =
	    symbols_find(pg->pg_symbols, at - pg->pg_image.ci_bias);

	if (name == NULL)
		name = symbols_find(made_symbols(pid), at);
	return name != NULL ? name : "[unknown]";
}

/*
 * Code without frame pointers gives random addresses.  A stack ends at the
 * first address that does not follow a call.
 */
static uint32_t
stack_depth(const struct program *pg, const uint64_t *pc, uint32_t nframes)
{
	uint32_t n = 1;

	while (n < nframes &&
	       symbols_after_call(pg->pg_symbols, pc[n] - pg->pg_image.ci_bias))
		n++;
	return n < nframes ? n : nframes;
}

#define COMMAND 16 /* columns of a path; two blanks follow */

static void
add_row(struct sampled *sd, const struct program *pg, const char *kernel,
    const char *function)
{
	static struct line line;

	line_text(&line, pg->pg_path);
	while (line.len < COMMAND)
		line_byte(&line, ' ');
	line_text(&line, kernel != NULL || sd->sd_kernel ? "  [k] " : "  [.] ");
	line_text(&line, kernel != NULL ? kernel : function);
	line_count(&line, &sd->sd_functions);
}

/* Keep the sample with the addresses of its first n frames. */
static void
add_addresses(struct sampled *sd, const struct cpc_profile_sample *s,
    const char *kernel, uint32_t n)
{
	static struct line line;
	static size_t room;
	struct histogram *hg = &sd->sd_stacks;
	const struct histogram_entry *he;
	char word[24];

	snprintf(word, sizeof word, "%u ", s->cm_image);
	line_text(&line, word);
	line_name(&line, kernel != NULL ? kernel : "-");
	for (uint32_t i = 0; i < n; i++) {
		snprintf(word, sizeof word, " %" PRIx64, s->cm_pc[i]);
		line_text(&line, word);
	}
	line_byte(&line, '\0');
	he = histogram_add(hg, line.text);
	line.len = 0;
	if (sd->sd_nplaced == room) {
		room = 2 * room + 1024;
		sd->sd_placed = fail_unless_room(
		    realloc(sd->sd_placed, room * sizeof *sd->sd_placed));
	}
	sd->sd_placed[sd->sd_nplaced++] = (struct placed){ s->cm_hrtime,
		s->cm_pid, s->cm_tid, he->hge_place };
}

void
sampled_add(struct sampled *sd, const struct cpc_profile_sample *s)
{
	static struct line line;
	const struct program *pg = find_program(sd, s->cm_image);
	const char *kernel = kernel_symbol(s->cm_pc[0]);
	const uint64_t *pc = s->cm_pc + (kernel != NULL);
	uint32_t nframes = s->cm_nframes - (kernel != NULL);
	uint32_t depth = stack_depth(pg, pc, nframes);

	/* Without -g a sample of the kernel has no address of the program. */
	add_row(sd, pg, kernel,
	    nframes > 0 ? frame_symbol(pg, s->cm_pid, pc, 0) : NULL);
	if (sd->sd_addresses)
		add_addresses(sd, s, kernel, depth + (kernel != NULL));
	line_name(&line, pg->pg_path);
	for (uint32_t n = depth; n-- > 0;) {
		line_byte(&line, ';');
		line_name(&line, frame_symbol(pg, s->cm_pid, pc, n));
	}
	if (kernel != NULL || sd->sd_kernel) {
		line_byte(&line, ';');
		line_name(&line, kernel != NULL ? kernel : "[kernel]");
		line_text(&line, "_[k]");
	}
	line_count(&line, &sd->sd_folded);
}
