/*
 * ELF64 programs: validation and symbols.  Included by kern/ and tests/host.
 *
 * "System V Application Binary Interface", "Object Files" and "Program Loading
 * and Dynamic Linking".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MAXSEG 16

struct elf_segment {
	uint64_t seg_vaddr;  /* without the load bias */
	uint64_t seg_memsz;  /* bytes; zeros follow the file's bytes */
	uint64_t seg_offset; /* in the file */
	uint64_t seg_filesz;
	unsigned seg_prot; /* ELF_R | ELF_W | ELF_X */
};
#define ELF_X 1u
#define ELF_W 2u
#define ELF_R 4u

/* A program that elf_check() accepted. */
struct elf {
	const char *e_data;
	size_t e_bytes;
	const char *e_interp; /* the path of its loader; NULL: it is static */
	uint64_t e_bias;      /* added to each address: not 0 for PIE */
	uint64_t e_entry;     /* this and the next two include the bias */
	uint64_t e_phdr;  /* address of the program headers; 0: not loaded */
	uint64_t e_end;   /* end of the last segment */
	uint64_t e_stack; /* bytes that it asks for; 0: it does not say */
	unsigned e_phnum;
	unsigned e_nseg;
	struct elf_segment e_seg[ELF_MAXSEG];
};

/* The limits of a machine: its e_machine and its user addresses. */
struct elf_limits {
	uint16_t el_machine;
	uint64_t el_base, el_top;
	uint64_t el_pie_base; /* bias of PIE programs and loaders */
};

/*
 * Check a file of any content.  Returns NULL and fills *e, or returns the error
 * as a text that follows the file's name.  The text may be in buf.
 */
const char *elf_check(const void *data, size_t bytes,
    const struct elf_limits *lim, struct elf *e, char *buf, size_t buflen);

/*
 * Returns the name of the function at addr (with bias), and the offset in it.
 * Returns NULL if .symtab has none, or the name exceeds 255 bytes or one line.
 */
const char *elf_symbol(const struct elf *e, uint64_t addr, uint64_t *offset);
