/*
 * Names for the addresses of a program, from its ELF file.  Included by
 * record.c and sampled.c.
 */
#ifndef PAYLOADS_TOOLS_SYMBOLS_H
#define PAYLOADS_TOOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct symbols;

/*
 * Read the functions of the program at path.  NULL, and in *wrong what is
 * wrong with it.  A program without symbols has no function by which to name
 * anything.
 */
struct symbols *symbols_load(const char *path, const char **wrong);
void symbols_free(struct symbols *sy);
/*
 * The function at an address as it was linked; "[unknown]" where none is, and
 * where there are no symbols.
 */
const char *symbols_find(const struct symbols *sy, uint64_t addr);
/* Is the instruction that ends at the address a call? */
bool symbols_behind_call(const struct symbols *sy, uint64_t addr);

#endif /* PAYLOADS_TOOLS_SYMBOLS_H */
