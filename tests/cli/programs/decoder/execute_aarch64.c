/* The executor of instructions on arm64, under qemu-aarch64.  X29 keeps the way
 * back, and X18 is the platform's. */
#include "execute.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static struct reg list[NREGS];
const struct reg *const registers = list;

uint64_t saved_sp;
uint32_t *code_page;

/* enter_aarch64.S has these offsets. */
_Static_assert(offsetof(struct state, flags) == 248, "flags");
_Static_assert(offsetof(struct state, vector) == 320, "vector");
extern const char code_end[];

void
place_code(const uint8_t *code, unsigned n)
{
	uint64_t end = (uintptr_t)code_end;

	memcpy(code_page, code, n);
	code_page[1] = 0x5800005d; /* LDR X29, 8 bytes on; BR X29 */
	code_page[2] = 0xd61f03a0;
	memcpy(&code_page[3], &end, sizeof end);
	__builtin___clear_cache((char *)code_page, (char *)code_page + 64);
}

void
prepare(void)
{
	unsigned n = 0;

	code_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < NGENERAL; i++) {
		if (i == 18 || i == 29)
			continue;
		list[n] = (struct reg){ .offset = 8 * i, .bytes = 8 };
		snprintf(list[n++].name, sizeof list[0].name, "x%u", i);
	}
	list[n++] =
	    (struct reg){ "flags", offsetof(struct state, flags), 8, FLAGS };
	for (unsigned i = 0; i < 32; i++, n++) {
		list[n] =
		    (struct reg){ .offset = offsetof(struct state, vector[i]),
			    .bytes = VECTOR };
		snprintf(list[n].name, sizeof list[n].name, "v%u", i);
	}
}
