/* Generates the function that counts: user's code between two reads. */
#include <errno.h>
#include <payload.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "payloads/common/usage.h"
#include "payloads/nb/nb.h"

/* From the frame to the code: stores near code are slow on x86. */
#define CODE_OFFSET 8192
#define STACK_BYTES 65536

static struct nb_areas areas;

void
nb_emit(struct nb_buffer *b, const void *bytes, size_t n)
{
	if ((size_t)(b->nbb_end - b->nbb_at) < n)
		fail(1, "the generated code outgrew its memory");
	memcpy(b->nbb_at, bytes, n);
	b->nbb_at += n;
}

static size_t
size_of(const struct nb_options *o)
{
	uint64_t copies = o->nbo_basic || o->nbo_end_to_end ? 1 : 2;
	uint64_t each = o->nbo_code[NB_CODE].nbc_n, bytes;

	if (__builtin_mul_overflow(copies, o->nbo_unroll, &copies) ||
	    __builtin_mul_overflow(copies, each, &bytes) || bytes >> 31 != 0)
		fail(2,
		    "%llu copies of %llu bytes: too much code: lower "
		    "-unroll_count",
		    (unsigned long long)copies, (unsigned long long)each);
	return CODE_OFFSET + bytes + o->nbo_code[NB_INIT].nbc_n +
	       o->nbo_code[NB_LATE_INIT].nbc_n +
	       o->nbo_code[NB_ONE_TIME_INIT].nbc_n + NB_SURROUNDINGS;
}

/* Place functions at the address that they were linked for. */
static void
load_linked(const struct nb_code *c, uint64_t at)
{
	void *want = (void *)(uintptr_t)at, *p;

	if (c->nbc_n == 0)
		return;
	p = mmap(want, c->nbc_n, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p != want)
		fail(1, "-linked_at %p: %s", want, strerror(errno));
	memcpy(p, c->nbc_bytes, c->nbc_n);
	payload_isync(p, c->nbc_n);
}

void
nb_open(struct nb_buffer *b, const struct nb_options *o)
{
	size_t bytes = size_of(o);

	load_linked(&o->nbo_linked, o->nbo_linked_at);
	uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail(1,
		    "no memory for %zu bytes of code: %s: lower -unroll_count "
		    "or give the machine more memory",
		    bytes, strerror(errno));
	b->nbb_frame = (struct nb_frame *)(void *)memory;
	b->nbb_start = memory + CODE_OFFSET;
	b->nbb_end = memory + bytes;
	memory = fail_unless_room(payload_contig(NB_AREAS * NB_AREA_BYTES));
	for (unsigned i = 0; i < NB_AREAS; i++)
		areas.nba_middle[i] =
		    (uintptr_t)memory + i * NB_AREA_BYTES + NB_AREA_BYTES / 2;
}

static void
emit_part(struct nb_buffer *b, const struct nb_options *o, enum nb_part part)
{
	const struct nb_code *c = &o->nbo_code[part];

	b->nbb_part[part] = b->nbb_at;
	nb_emit(b, c->nbc_bytes, c->nbc_n);
}

static void
begin(struct nb_buffer *b)
{
	memset(b->nbb_part, 0, sizeof b->nbb_part);
	b->nbb_at = b->nbb_start;
	nb_emit_areas(b, &areas);
}

static void
end(struct nb_buffer *b)
{
	nb_emit_leave(b);
	payload_isync(b->nbb_start, (size_t)(b->nbb_at - b->nbb_start));
}

void
nb_generate(
    struct nb_buffer *b, const struct nb_options *o, const struct nb_shape *s)
{
	/* Basic mode subtracts a run without copies and without the loop. */
	uint64_t loops = s->nbs_copies > 0 ? o->nbo_loops : 0;

	begin(b);
	emit_part(b, o, NB_INIT);
	if (o->nbo_drain)
		nb_emit_drain(b);
	nb_emit_read(b, s, o->nbo_no_mem, false);
	emit_part(b, o, NB_LATE_INIT);
	if (o->nbo_drain)
		nb_emit_drain(b);
	if (loops > 0)
		nb_emit_loop(b, loops);
	nb_emit_align(b, o->nbo_offset);
	const uint8_t *top = b->nbb_at;
	for (uint64_t i = 0; i < s->nbs_copies; i++)
		nb_emit(b, o->nbo_code[NB_CODE].nbc_bytes,
		    o->nbo_code[NB_CODE].nbc_n);
	b->nbb_part[NB_CODE] = (uint8_t *)top;
	if (loops > 0)
		nb_emit_loop_end(b, top);
	if (o->nbo_drain)
		nb_emit_drain(b);
	nb_emit_read(b, s, o->nbo_no_mem, true);
	end(b);
}

void
nb_generate_one_time(struct nb_buffer *b, const struct nb_options *o)
{
	begin(b);
	emit_part(b, o, NB_ONE_TIME_INIT);
	end(b);
}

/* Faults */

static const struct nb_buffer *faulting;
static const struct nb_options *faulting_options;

static const char *
name_of(int sig)
{
	switch (sig) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGBUS:
		return "SIGBUS";
	case SIGILL:
		return "SIGILL";
	case SIGFPE:
		return "SIGFPE";
	default:
		return "SIGTRAP";
	}
}

/* Describe the place of a PC in the user's code, or outside of it. */
static void
place_of(char *buf, size_t len, const uint8_t *pc)
{
	static const char *const options[] = { "-asm", "-asm_init",
		"-asm_late_init", "-asm_one_time_init" };
	const struct nb_buffer *b = faulting;

	for (unsigned i = 0; i < NB_PARTS; i++) {
		size_t n = faulting_options->nbo_code[i].nbc_n, at;
		const uint8_t *start = b->nbb_part[i];

		if (start == NULL || n == 0 || pc < start || pc >= b->nbb_at)
			continue;
		at = (size_t)(pc - start);
		if (i != NB_CODE && at >= n)
			continue;
		snprintf(buf, len, "at byte %zu of %s (copy %zu)", at % n,
		    options[i], at / n + 1);
		return;
	}
	snprintf(buf, len, "at address %p, which is not in the code",
	    (const void *)pc);
}

/*
 * The code may have changed any register.  The handler runs on a stack of its
 * own, and ends the program.
 */
static void
on_fault(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	const uint8_t *pc =
	    (const uint8_t *)(uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	char place[120];

	place_of(place, sizeof place, sig == SIGTRAP ? pc - nb_trap_bytes : pc);
	fflush(stdout);
	if ((sig == SIGSEGV || sig == SIGBUS) && info->si_addr != pc)
		fail(1, "%s: the code faults: %s %s, address %p",
		    faulting_options->nbo_name, name_of(sig), place,
		    info->si_addr);
	fail(1, "%s: the code faults: %s %s", faulting_options->nbo_name,
	    name_of(sig), place);
}

void
nb_catch(const struct nb_buffer *b, const struct nb_options *o)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE,
		SIGTRAP };
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t ss = { .ss_size = STACK_BYTES };

	faulting = b;
	faulting_options = o;
	ss.ss_sp = fail_unless_room(malloc(STACK_BYTES));
	sa.sa_sigaction = on_fault;
	sigaltstack(&ss, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaction(signals[i], &sa, NULL);
}
