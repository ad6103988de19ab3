/*
 * Names for the addresses of a program, from its ELF file.  Included by
 * record.c.
 */
#ifndef PAYLOADS_SYMBOLS_H
#define PAYLOADS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Read the functions of the program at path.  NULL, or what is wrong with
 * it.  A program without symbols has no function by which to name anything.
 */
const char *symbols_load(const char *path);
/* The function at an address as it was linked; "[unknown]" where none is. */
const char *symbols_find(uint64_t addr);
/* Is the instruction that ends at the address a call? */
bool symbols_behind_call(uint64_t addr);

#endif /* PAYLOADS_SYMBOLS_H */
