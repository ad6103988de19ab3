/* Turns the samples of a profile into rows of its table and folded stacks. */
#include "payloads/record/sample_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"
#include "payloads/record/symbols.h"

/* A program of the profile, or a library of it. */
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
 * Find the path and symbols of a program, whose path the kernel may have cut
 * (the profiled one's is known whole), or of a library.
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
	pg->pg_path = path;
	if (pg->pg_image.ci_end == 0 &&
	    strncmp(path, sd->sd_path, CPC_PROFILE_NAME - 1) == 0)
		pg->pg_path = sd->sd_path;
	if ((pg->pg_symbols = symbols_load(pg->pg_path, &wrong)) == NULL)
		fprintf(stderr, "%s: %s: %s: its functions have no names\n",
		    usage_name(), pg->pg_path, wrong);
	else if (pg->pg_image.ci_end != 0)
		pg->pg_image.ci_bias =
		    pg->pg_image.ci_start -
		    symbols_address(pg->pg_symbols, pg->pg_image.ci_offset);
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

/* The program, or the library that it has at an address: the last mapped. */
static const struct program *
find_object(const struct sampled *sd, const struct program *pg, uint64_t pc)
{
	static struct cpc_profile_image *all;
	static unsigned nall;

	while (all == NULL || all[nall].ci_path[0] != '\0') {
		nall += all != NULL;
		all = fail_unless_room(realloc(all, (nall + 1) * sizeof *all));
		memset(&all[nall], 0, sizeof *all);
		cpc_syscall(CPC_OP_PROFILE_IMAGE, (uintptr_t)sd->sd_fd, nall,
		    (uintptr_t)&all[nall], 0);
	}
	for (unsigned n = nall; n-- > 0;) {
		if (all[n].ci_of == pg->pg_number && pc >= all[n].ci_start &&
		    pc < all[n].ci_end)
			return find_program(sd, n);
	}
	return pg;
}

const struct cpc_profile_image *
sampled_program(unsigned n, unsigned *number, const char **path)
{
	const struct program *pg = programs;

	while (pg != NULL && n-- > 0)
		pg = pg->pg_next;
	if (pg == NULL)
		return NULL;
	*number = pg->pg_number;
	*path = pg->pg_path;
	return &pg->pg_image;
}

/* The kernel's function at pc, or NULL if pc is the program's. */
static const char *
kernel_symbol(uint64_t pc)
{
	static char name[128];

	if (pc >> 63 == 0)
		return NULL;
	intptr_t bytes = cpc_syscall(
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

/*
 * Append a frame's function, and its library.  Addresses after the first are
 * return addresses; the call is before them.
 */
static void
line_frame(struct line *l, void (*put)(struct line *l, const char *name),
    const struct sampled *sd, const struct program *pg, uint32_t pid,
    const uint64_t *pc, uint32_t n)
{
	uint64_t at = pc[n] - (n > 0);
	const struct program *object = find_object(sd, pg, at);
	const char *name =
	    symbols_find(object->pg_symbols, at - object->pg_image.ci_bias);

	if (name == NULL)
		name = symbols_find(made_symbols(pid), at);
	put(l, name != NULL ? name : "[unknown]");
	if (object == pg)
		return;
	name = strrchr(object->pg_path, '/');
	line_byte(l, '@');
	put(l, name != NULL ? name + 1 : object->pg_path);
}

/*
 * Code without frame pointers gives random addresses.  A stack ends at the
 * first address that does not follow a call.
 */
static uint32_t
stack_depth(const struct sampled *sd, const struct program *pg,
    const uint64_t *pc, uint32_t nframes)
{
	const struct program *object;
	uint32_t n;

	for (n = 1; n < nframes; n++) {
		object = find_object(sd, pg, pc[n]);
		if (!symbols_after_call(
			object->pg_symbols, pc[n] - object->pg_image.ci_bias))
			break;
	}
	return n < nframes ? n : nframes;
}

#define COMMAND 16 /* columns of a path; two blanks follow */

static void
add_row(struct sampled *sd, const struct program *pg, uint32_t pid,
    const char *kernel, const uint64_t *pc)
{
	static struct line line;

	line_text(&line, pg->pg_path);
	while (line.len < COMMAND)
		line_byte(&line, ' ');
	line_text(&line, kernel != NULL || sd->sd_kernel ? "  [k] " : "  [.] ");
	if (kernel != NULL)
		line_text(&line, kernel);
	else
		line_frame(&line, line_text, sd, pg, pid, pc, 0);
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
	char word[24];

	snprintf(word, sizeof word, "%u ", s->cm_image);
	line_text(&line, word);
	line_name(&line, kernel != NULL ? kernel : "-");
	for (uint32_t i = 0; i < n; i++) {
		snprintf(word, sizeof word, " %" PRIx64, s->cm_pc[i]);
		line_text(&line, word);
	}
	line_byte(&line, '\0');
	const struct histogram_entry *he = histogram_add(hg, line.text);
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
	uint32_t depth = stack_depth(sd, pg, pc, nframes);

	/* Without -g a sample of the kernel has no address of the program. */
	add_row(sd, pg, s->cm_pid, kernel, pc);
	if (sd->sd_addresses)
		add_addresses(sd, s, kernel, depth + (kernel != NULL));
	line_name(&line, pg->pg_path);
	for (uint32_t n = depth; n-- > 0;) {
		line_byte(&line, ';');
		line_frame(&line, line_name, sd, pg, s->cm_pid, pc, n);
	}
	if (kernel != NULL || sd->sd_kernel) {
		line_byte(&line, ';');
		line_name(&line, kernel != NULL ? kernel : "[kernel]");
		line_text(&line, "_[k]");
	}
	line_count(&line, &sd->sd_folded);
}
