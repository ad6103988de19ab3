/*
 * Generated code of nb on x86-64.
 *
 * Intel SDM vol. 2, chapters 3 to 6: the encodings; vol. 2B, "RDPMC": an
 * LFENCE before and after it keeps other instructions on their side.
 */
#include "payloads/nb/nb.h"

#define EMIT(b, ...)                                                           \
	nb_emit((b), (const uint8_t[]){ __VA_ARGS__ },                         \
	    sizeof((const uint8_t[]){ __VA_ARGS__ }))

#define LFENCE      0x0f, 0xae, 0xe8
#define DRAIN_NOPS  128
#define LONGEST_NOP 15
#define CACHE_LINE  64

/* Registers, as instructions number them. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R14 = 14, R15 };

/* Values stay in R8 to R11 if memory may not be used. */
#define NO_MEM_READS 4

const unsigned nb_trap_bytes = 1; /* INT3 has run when it traps */

unsigned
nb_max_reads(bool no_mem)
{
	return no_mem ? NO_MEM_READS : NB_READS;
}

static void
emit_32(struct nb_buffer *b, uint32_t v)
{
	nb_emit(b, &v, sizeof v);
}

/* MOV r64, imm64 */
static void
emit_constant(struct nb_buffer *b, unsigned reg, uint64_t v)
{
	EMIT(b, (uint8_t)(0x48 | reg >> 3), (uint8_t)(0xb8 | (reg & 7)));
	nb_emit(b, &v, sizeof v);
}

/* The address of a word of the frame, relative to the next instruction. */
static void
emit_place(struct nb_buffer *b, const void *word)
{
	emit_32(b, (uint32_t)((const uint8_t *)word - (b->nbb_at + 4)));
}

/* MOV between a register and a word of the frame: opcode 89 or 8B */
static void
emit_move(struct nb_buffer *b, uint8_t opcode, unsigned reg, const void *word)
{
	EMIT(b, (uint8_t)(0x48 | reg >> 3 << 2), opcode,
	    (uint8_t)(0x05 | (reg & 7) << 3));
	emit_place(b, word);
}

/* The same for the lower 32 bits of a register. */
static void
emit_store_32(struct nb_buffer *b, unsigned reg, const void *word)
{
	EMIT(b, 0x89, (uint8_t)(0x05 | reg << 3));
	emit_place(b, word);
}

/* MOV ECX, index; RDPMC or RDMSR */
static void
emit_counter(struct nb_buffer *b, uint32_t index, bool rdmsr)
{
	EMIT(b, 0xb9);
	emit_32(b, index);
	EMIT(b, 0x0f, rdmsr ? 0x32 : 0x33);
}

void
nb_emit_areas(struct nb_buffer *b, const struct nb_areas *areas)
{
	static const unsigned regs[NB_AREAS] = { R14, RDI, RSI, RSP, RBP };

	for (unsigned i = 0; i < NB_AREAS; i++)
		emit_constant(b, regs[i], areas->nba_middle[i]);
}

/* No flag and no register changes. */
static void
emit_read_to_memory(
    struct nb_buffer *b, const struct nb_shape *s, uint64_t *values)
{
	static const unsigned used[] = { RAX, RCX, RDX };

	for (unsigned i = 0; i < 3; i++)
		emit_move(b, 0x89, used[i], &b->nbb_frame->nbf_saved[i]);
	EMIT(b, LFENCE);
	for (unsigned i = 0; i < s->nbs_nreads; i++) {
		emit_counter(b, s->nbs_read[i], s->nbs_rdmsr);
		emit_store_32(b, RAX, &values[i]);
		emit_store_32(b, RDX, (uint8_t *)&values[i] + 4);
	}
	for (unsigned i = 0; i < 3; i++)
		emit_move(b, 0x8b, used[i], &b->nbb_frame->nbf_saved[i]);
	EMIT(b, LFENCE);
}

/* The first read leaves a value in R8 and up; the second one a difference. */
static void
emit_read_to_registers(struct nb_buffer *b, const struct nb_shape *s, bool end)
{
	EMIT(b, LFENCE);
	for (unsigned i = 0; i < s->nbs_nreads; i++) {
		emit_counter(b, s->nbs_read[i], s->nbs_rdmsr);
		EMIT(b, 0x48, 0xc1, 0xe2, 32, 0x48, 0x09, 0xc2);
		if (end) /* SUB RDX, R8 + i */
			EMIT(b, 0x4c, 0x29, (uint8_t)(0xc2 | i << 3));
		/* MOV R8 + i, RDX */
		EMIT(b, 0x49, 0x89, (uint8_t)(0xd0 | i));
	}
	EMIT(b, LFENCE);
}

void
nb_emit_read(
    struct nb_buffer *b, const struct nb_shape *s, bool no_mem, bool end)
{
	struct nb_frame *f = b->nbb_frame;

	if (!no_mem) {
		emit_read_to_memory(b, s, end ? f->nbf_end : f->nbf_begin);
		return;
	}
	emit_read_to_registers(b, s, end);
	for (unsigned i = 0; end && i < s->nbs_nreads; i++)
		emit_move(b, 0x89, R8 + i, &f->nbf_end[i]);
}

static void
emit_nop(struct nb_buffer *b, size_t n)
{
	/* The NOPs that Intel recommends for 1 to 9 bytes. */
	static const uint8_t nops[][9] = { { 0x90 }, { 0x66, 0x90 },
		{ 0x0f, 0x1f, 0x00 }, { 0x0f, 0x1f, 0x40 },
		{ 0x0f, 0x1f, 0x44 }, { 0x66, 0x0f, 0x1f, 0x44 },
		{ 0x0f, 0x1f, 0x80 }, { 0x0f, 0x1f, 0x84 },
		{ 0x66, 0x0f, 0x1f, 0x84 } };

	for (; n > 9; n--)
		EMIT(b, 0x66);
	nb_emit(b, nops[n - 1], n);
}

unsigned
nb_insns_to_read(const struct nb_options *o)
{
	return (o->nbo_drain ? 1 + 2 * DRAIN_NOPS : 0) +
	       (o->nbo_no_mem ? 2 : 5);
}

void
nb_emit_drain(struct nb_buffer *b)
{
	EMIT(b, LFENCE);
	for (unsigned i = 0; i < DRAIN_NOPS; i++)
		emit_nop(b, 1);
	for (unsigned i = 0; i < DRAIN_NOPS; i++)
		emit_nop(b, LONGEST_NOP);
}

void
nb_emit_align(struct nb_buffer *b, uint64_t offset)
{
	size_t missing = (offset - (uintptr_t)b->nbb_at) % CACHE_LINE;

	while (missing > 0) {
		size_t n = missing < 9 ? missing : 9;

		emit_nop(b, n);
		missing -= n;
	}
}

void
nb_emit_loop(struct nb_buffer *b, uint64_t count)
{
	emit_constant(b, R15, count);
}

/* DEC R15; JNZ top */
void
nb_emit_loop_end(struct nb_buffer *b, const uint8_t *top)
{
	EMIT(b, 0x49, 0xff, 0xcf, 0x0f, 0x85);
	emit_place(b, top);
}

/* JMP RAX */
void
nb_emit_leave(struct nb_buffer *b)
{
	emit_constant(b, RAX, (uintptr_t)nb_leave);
	EMIT(b, 0xff, 0xe0);
}
