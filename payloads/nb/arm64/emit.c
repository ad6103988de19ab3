/*
 * Generated code of nb on arm64.
 *
 * Arm ARM (DDI 0487), "A64 Instruction Set Encoding", "PMEVCNTR<n>_EL0".
 * X28 points to nb's frame.  X15 counts the loop.
 */
#include "payloads/common/usage.h"
#include "payloads/nb/nb.h"

#define A64_NOP    0xd503201f
#define A64_ISB    0xd5033fdf
#define DRAIN_NOPS 256
#define CACHE_LINE 64

#define FRAME        28 /* X28 */
#define COUNTER      15 /* X15 */
#define SCRATCH      16 /* X16 */
#define FIRST_VALUE  19 /* X19 to X26 keep values if memory may not be used */
#define NO_MEM_READS 8
#define STACK        31

const unsigned nb_trap_bytes = 0; /* BRK has not run when it traps */

unsigned
nb_max_reads(bool no_mem)
{
	return no_mem ? NO_MEM_READS : NB_READS;
}

static void
emit(struct nb_buffer *b, uint32_t insn)
{
	nb_emit(b, &insn, sizeof insn);
}

/* MOVZ and three MOVK: always four instructions. */
static void
emit_constant(struct nb_buffer *b, unsigned reg, uint64_t v)
{
	for (unsigned i = 0; i < 4; i++)
		emit(b, (i == 0 ? 0xd2800000 : 0xf2800000) | i << 21 |
			    (uint32_t)(v >> 16 * i & 0xffff) << 5 | reg);
}

/* STR or LDR of a word of the frame. */
static void
emit_move(struct nb_buffer *b, uint32_t insn, unsigned reg, const void *word)
{
	size_t at = (size_t)((const char *)word - (const char *)b->nbb_frame);

	emit(b, insn | (uint32_t)(at / 8) << 10 | FRAME << 5 | reg);
}
#define STR 0xf9000000
#define LDR 0xf9400000

static void
emit_mrs(struct nb_buffer *b, unsigned reg, uint32_t n)
{
	emit(b, 0xd53be800 | n >> 3 << 8 | (n & 7) << 5 | reg);
}

void
nb_emit_areas(struct nb_buffer *b, const struct nb_areas *areas)
{
	static const unsigned regs[NB_AREAS] = { 14, 0, 1, STACK, 29 };

	for (unsigned i = 0; i < NB_AREAS; i++) {
		bool sp = regs[i] == STACK;

		emit_constant(b, sp ? SCRATCH : regs[i], areas->nba_middle[i]);
		if (sp) /* ADD SP, X16, 0 */
			emit(b, 0x91000000 | SCRATCH << 5 | STACK);
	}
	emit_constant(b, FRAME, (uintptr_t)b->nbb_frame);
}

/* No flag and no register changes. */
static void
emit_read_to_memory(
    struct nb_buffer *b, const struct nb_shape *s, uint64_t *values)
{
	emit_move(b, STR, SCRATCH, &b->nbb_frame->nbf_saved[0]);
	emit(b, A64_ISB);
	for (unsigned i = 0; i < s->nbs_nreads; i++) {
		emit_mrs(b, SCRATCH, s->nbs_read[i]);
		emit_move(b, STR, SCRATCH, &values[i]);
	}
	emit_move(b, LDR, SCRATCH, &b->nbb_frame->nbf_saved[0]);
	emit(b, A64_ISB);
}

/* The first read leaves a value in X19 and up; the second one a difference. */
static void
emit_read_to_registers(struct nb_buffer *b, const struct nb_shape *s, bool end)
{
	emit(b, A64_ISB);
	for (unsigned i = 0; i < s->nbs_nreads; i++) {
		unsigned reg = FIRST_VALUE + i;

		emit_mrs(b, end ? SCRATCH : reg, s->nbs_read[i]);
		if (end) /* SUB reg, X16, reg */
			emit(b, 0xcb000000 | reg << 16 | SCRATCH << 5 | reg);
	}
	emit(b, A64_ISB);
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
		emit_move(b, STR, FIRST_VALUE + i, &f->nbf_end[i]);
}

unsigned
nb_insns_to_read(const struct nb_options *o)
{
	return (o->nbo_drain ? 1 + DRAIN_NOPS : 0) + (o->nbo_no_mem ? 1 : 2);
}

void
nb_emit_drain(struct nb_buffer *b)
{
	emit(b, A64_ISB);
	for (unsigned i = 0; i < DRAIN_NOPS; i++)
		emit(b, A64_NOP);
}

void
nb_emit_align(struct nb_buffer *b, uint64_t offset)
{
	while (((offset - (uintptr_t)b->nbb_at) % CACHE_LINE) / 4 != 0)
		emit(b, A64_NOP);
}

void
nb_emit_loop(struct nb_buffer *b, uint64_t count)
{
	emit_constant(b, COUNTER, count);
}

#define BRANCH_BYTES (128 << 20)

/*
 * SUB X15, X15, 1; CBZ X15, over the next; B top.  A conditional branch alone
 * reaches 1 MiB only.
 */
void
nb_emit_loop_end(struct nb_buffer *b, const uint8_t *top)
{
	emit(b, 0xd1000400 | COUNTER << 5 | COUNTER);
	emit(b, 0xb4000000 | 2 << 5 | COUNTER);
	if (b->nbb_at - top > BRANCH_BYTES)
		fail(2,
		    "-loop_count: a branch reaches %d MiB, and the loop is "
		    "longer: lower -unroll_count",
		    BRANCH_BYTES >> 20);
	emit(b, 0x14000000 | ((uint32_t)((top - b->nbb_at) / 4) & 0x3ffffff));
}

void
nb_emit_leave(struct nb_buffer *b)
{
	emit_constant(b, SCRATCH, (uintptr_t)nb_leave);
	emit(b, 0xd61f0000 | SCRATCH << 5); /* BR X16 */
}
