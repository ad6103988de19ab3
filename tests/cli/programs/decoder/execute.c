/*
 * Executes instructions, and sees which registers their results depend on
 *
 *     execute < LINES    a line is the bytes of an instruction, in hexadecimal
 *
 * It prints "IN>OUT" for each register IN that changes OUT, and ">OUT" for each
 * one that the instruction writes.  A line of "!" cannot be executed.  "mem" is
 * memory.  In a first turn each general register is a pointer into the same
 * memory, so that any of them may address it.  In a second and third turn they
 * are numbers.
 */
#include "execute.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TURNS  6
#define MEMORY 8192
#define MIDDLE 2048

enum kind { POINTERS, NUMBERS, SMALL, KINDS };

struct state state_in, state_out;
static uint8_t memory[MEMORY] __attribute__((aligned(4096)));
static uint8_t memory_in[MEMORY], memory_base[MEMORY];
static sigjmp_buf back;
static uint64_t seed;

static uint64_t
draw(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1dULL;
}

static void
on_signal(int sig)
{
	siglongjmp(back, sig);
}

static bool
execute(const struct state *in, struct state *out)
{
	memcpy(memory, memory_in, sizeof memory);
	state_in = *in;
	if (sigsetjmp(back, 1) != 0)
		return false;
	alarm(5);
	execute_code();
	alarm(0);
	*out = state_out;
	out->flags &= FLAGS;
	return true;
}

/* A value of register r, of n bytes */
static void
draw_register(uint8_t *value, const struct reg *r, enum kind kind)
{
	static const uint64_t places = (MEMORY - 2 * MIDDLE) / 64;

	for (unsigned i = 0; i < r->bytes; i += 8) {
		uint64_t v = draw();

		if (r->mask != 0) {
			uint64_t was;

			memcpy(&was, value, 8);
			v = (was & ~r->mask) | (v & r->mask);
		} else if (r->bytes > 8 && kind != NUMBERS)
			v = 0x3ff0000040000000 |
			    (v & 0xfffff003fffff); /* two floats, or a double */
		else if (r->bytes > 8)
			;
		else if (kind == POINTERS)
			v = (uintptr_t)memory + MIDDLE + v % places * 64;
		else if (kind == SMALL)
			v = 1 + v % 50;
		memcpy(value + i, &v, 8);
	}
}

/* 8 bytes of a register */
static uint64_t
part(const struct state *s, const struct reg *r, unsigned at)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)s + r->offset + at, 8);
	return r->mask != 0 ? v & r->mask : v;
}

static bool seen[NREGS + 1]
		[NREGS + 1]; /* [in][out]; the last is no register, or memory */

static void
compare(const struct state *in, const struct state *out,
    const struct state *in2, const struct state *out2, unsigned changed)
{
	for (unsigned q = 0; q < NREGS; q++) {
		const struct reg *r = &registers[q];

		for (unsigned at = 0; at < r->bytes; at += 8) {
			uint64_t was = part(in, r, at), is = part(out, r, at),
				 is2 = part(out2, r, at);
			/* A bit that the instruction leaves depends on itself
			 * alone. */
			uint64_t moved = (was ^ is) | (part(in2, r, at) ^ is2);

			seen[changed][q] |=
			    ((is ^ is2) & (q == changed ? moved : ~0ULL)) != 0;
			seen[NREGS][q] |= was != is;
		}
	}
	if (memcmp(memory, memory_base, sizeof memory) != 0)
		seen[changed][NREGS] = true;
}

/* Change each register in turn.  False if the instruction cannot be executed,
 * or gives another result each time. */
static bool
try_turn(enum kind kind)
{
	struct state in, in2, out, out2;

	memset(&in, 0, sizeof in);
	for (unsigned i = 0; i < NREGS; i++)
		draw_register(
		    (uint8_t *)&in + registers[i].offset, &registers[i], kind);
	for (unsigned i = 0; i < MEMORY; i += 8) {
		uint64_t v = draw();

		memcpy(memory_in + i, &v, 8);
	}
	if (!execute(&in, &out))
		return false;
	memcpy(memory_base, memory, sizeof memory);
	if (!execute(&in, &out2) || memcmp(&out, &out2, sizeof out) != 0)
		return false;
	for (unsigned i = 0; i < NREGS; i++) {
		in2 = in;
		draw_register(
		    (uint8_t *)&in2 + registers[i].offset, &registers[i], kind);
		if (execute(&in2, &out2))
			compare(&in, &out, &in2, &out2, i);
	}
	return true;
}

static const char *
name_of(unsigned r)
{
	return r < NREGS ? registers[r].name : "mem";
}

static void
try_line(const char *line)
{
	uint8_t code[16];
	unsigned n = 0, byte;
	bool any = false;

	while (n < sizeof code && sscanf(line + 2 * n, "%2x", &byte) == 1)
		code[n++] = (uint8_t)byte;
	place_code(code, n);
	memset(seen, 0, sizeof seen);
	seed = 1;
	for (unsigned i = 0; i < TURNS; i++)
		any |= try_turn(i % KINDS);
	if (!any)
		printf("!");
	for (unsigned i = 0; i <= NREGS; i++) {
		for (unsigned q = 0; q <= NREGS; q++) {
			if (seen[i][q])
				printf("%s>%s ", i < NREGS ? name_of(i) : "",
				    name_of(q));
		}
	}
	printf("\n");
	fflush(stdout);
}

int
main(void)
{
	static const int signals[] = { SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP,
		SIGALRM, SIGSYS };
	struct sigaction sa = { .sa_handler = on_signal,
		.sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = 65536 };
	char line[80];

	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaction(signals[i], &sa, NULL);
	prepare();
	while (fgets(line, sizeof line, stdin) != NULL)
		try_line(line);
	return 0;
}
