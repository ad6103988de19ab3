/* Between the executor of instructions and its parts of each machine.  Included
 * by these files only. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __x86_64__
#define NGENERAL 16
#define NMASKS   8
#define NREGS    (15 + 3 + 16 + 7) /* without RSP and K0 */
#define VECTOR   32
#define FLAGS    0x8d5 /* CF, PF, AF, ZF, SF, OF */
#else
#define NGENERAL 31
#define NMASKS   0
#define NREGS    (29 + 1 + 32) /* without X18 and X29 */
#define VECTOR   16
#define FLAGS    0xf0000000
#endif

struct state {
	uint64_t general[NGENERAL], flags, masks[8];
	uint8_t vector[32][VECTOR];
};
struct reg {
	char name[8];
	size_t offset;
	unsigned bytes;
	uint64_t mask; /* the bits that may change, or 0: all */
};

extern const struct reg *const registers;
/* Execute the code with the registers of state_in.  Leaves them in state_out.
 */
extern struct state state_in, state_out;
void execute_code(void);
/* Place the instruction, and the way back after it. */
void place_code(const uint8_t *code, unsigned n);
void prepare(void);
