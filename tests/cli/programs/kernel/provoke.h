/* For provoke.c: code that raises exceptions, of one machine. */
#pragma once

#include <stdint.h>

struct code {
	const char *name;
	const char *start, *end;
	void (*prepare)(void); /* NULL: nothing to prepare */
};
extern const struct code codes[]; /* ends with a name of NULL */

/* From a row of CODES: the code NAME, position-independent, and its row. */
#define CODE(name, prepare, text)                                              \
	__asm__(".pushsection .rodata; " #name "_start: " text "; " #name      \
		"_end: .popsection");                                          \
	extern const char name##_start[], name##_end[];
#define ENTRY(name, prepare, text) { #name, name##_start, name##_end, prepare },

/* Replace the kernel's instructions at this address. */
void poke(uintptr_t at, const char *code, uintptr_t bytes);

/* Interrupt this program as an NMI does.  Returns if there is no such thing. */
void interrupt_self(void);
