/* The executor of instructions on x86-64.  It needs AVX2, and sets K1 to K7
 * where AVX-512 is. */
#include "execute.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static struct reg list[NREGS];
const struct reg *const registers = list;

uint64_t saved_sp;
uint32_t has_masks;
uint8_t *code_page;

/* enter_x86_64.S has these offsets. */
_Static_assert(offsetof(struct state, flags) == 128, "flags");
_Static_assert(offsetof(struct state, masks) == 136, "masks");
_Static_assert(offsetof(struct state, vector) == 200, "vector");
extern const char code_end[];

void
place_code(const uint8_t *code, unsigned n)
{
	uint64_t end = (uintptr_t)code_end;

	memcpy(code_page, code, n);
	memcpy(code_page + n, "\xff\x25\0\0\0\0",
	    6); /* JMP to the address that follows */
	memcpy(code_page + n + 6, &end, sizeof end);
}

void
prepare(void)
{
	static const char *const names[] = { "rax", "rcx", "rdx", "rbx", "",
		"rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
		"r14", "r15" };
	unsigned n = 0;

	code_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	has_masks = (uint32_t)__builtin_cpu_supports("avx512bw");
	for (unsigned i = 0; i < NGENERAL; i++) {
		if (i == 4)
			continue;
		list[n] = (struct reg){ .offset = 8 * i, .bytes = 8 };
		strcpy(list[n++].name, names[i]);
	}
	list[n++] = (struct reg){ "c", offsetof(struct state, flags), 8, 0x1 };
	list[n++] =
	    (struct reg){ "o", offsetof(struct state, flags), 8, 0x800 };
	list[n++] = (struct reg){ "flags", offsetof(struct state, flags), 8,
		FLAGS & ~0x801 };
	for (unsigned i = 0; i < 16; i++, n++) {
		list[n] =
		    (struct reg){ .offset = offsetof(struct state, vector[i]),
			    .bytes = VECTOR };
		snprintf(list[n].name, sizeof list[n].name, "v%u", i);
	}
	for (unsigned i = 1; i < NMASKS; i++, n++) {
		list[n] =
		    (struct reg){ .offset = offsetof(struct state, masks[i]),
			    .bytes = has_masks ? 8 : 0 };
		snprintf(list[n].name, sizeof list[n].name, "k%u", i);
	}
}
