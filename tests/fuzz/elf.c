/* A program of any content is refused, or has segments and symbols in range. */
#include "tests/fuzz/fuzz.h"

#include "kern/proc/elf.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct elf_limits limits = { 183, 0x10000, 0x7ffffffff000,
		0x40000000 };
	char *copy = fuzz_copy(data, n), buf[128];
	uint64_t offset;
	struct elf e;

	if (elf_check(copy, n, &limits, &e, buf, sizeof buf) == NULL) {
		CHECK(e.e_nseg > 0 && e.e_nseg <= ELF_MAXSEG);
		for (unsigned i = 0; i < e.e_nseg; i++) {
			const struct elf_segment *s = &e.e_seg[i];

			CHECK(s->seg_filesz <= n);
			CHECK(s->seg_offset <= n - s->seg_filesz);
			CHECK(s->seg_vaddr + e.e_bias >= limits.el_base);
			CHECK(s->seg_memsz <= limits.el_top);
		}
		elf_symbol(&e, e.e_entry, &offset);
		elf_symbol(&e, e.e_end - 1, &offset);
		elf_symbol(&e, 0, &offset);
	}
	free(copy);
	return 0;
}
