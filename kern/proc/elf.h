/*
 * Static ELF64 programs: validation and symbols.  Included by kern/ and
 * tests/host.  Structures as in "System V Application Binary Interface",
 * "Object Files" and "Program Loading and Dynamic Linking".
 */
#ifndef KERN_PROC_ELF_H
#define KERN_PROC_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MAXSEG 16

struct elf_segment {
	uint64_t es_vaddr;  /* before the load bias */
	uint64_t es_memsz;  /* bytes; what exceeds filesz is zero */
	uint64_t es_offset; /* in the file */
	uint64_t es_filesz;
	unsigned es_prot; /* ELF_R | ELF_W | ELF_X */
};
#define ELF_X 1u
#define ELF_W 2u
#define ELF_R 4u

/* A file elf_check() found good. */
struct elf {
	const char *e_data;
	size_t e_bytes;
	uint64_t e_bias;  /* added to every address: not 0 for static PIE */
	uint64_t e_entry; /* bias included, as in the two below */
	uint64_t e_phdr;  /* where the program headers will be; 0: nowhere */
	uint64_t e_end;   /* behind the last segment */
	unsigned e_phnum;
	unsigned e_nseg;
	struct elf_segment e_seg[ELF_MAXSEG];
};

/* What a machine takes: its e_machine, and where a program may lie. */
struct elf_limits {
	uint16_t el_machine;
	uint64_t el_base, el_top;
	uint64_t el_pie_base; /* where static PIE goes */
};

/*
 * Check a file of any content.  Returns NULL and fills *e, or what is wrong
 * with it, to follow the file's name; the text may lie in buf.
 */
const char *elf_check(const void *data, size_t bytes,
    const struct elf_limits *lim, struct elf *e, char *buf, size_t buflen);

/*
 * The function of .symtab that holds addr (bias included), and the offset
 * in it; NULL where the file has none, or its name is longer than 255 bytes or
 * more than one line.  Takes one pass over the symbols, whatever they are.
 */
const char *elf_symbol(const struct elf *e, uint64_t addr, uint64_t *offset);

#endif /* KERN_PROC_ELF_H */
