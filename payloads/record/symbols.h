/*
 * Names for the addresses of a program, from its ELF file.  Included by
 * record.c and sample_file.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/*
 * Read the functions of the program at path.  Returns NULL on error, with the
 * reason in *wrong.  A program without symbols is not an error.
 */
struct symbols *symbols_load(const char *path, const char **wrong);
/*
 * Read the functions that a program made at run time and described in the file
 * /tmp/perf-PID.map.  Returns NULL without the file.
 */
struct symbols *symbols_load_map(const char *path);
void symbols_free(struct symbols *sy);
/* The address as linked of code at this offset in the file. */
uint64_t symbols_address(const struct symbols *sy, uint64_t offset);
/* The function at an address as linked, or NULL if no symbol is there. */
const char *symbols_find(const struct symbols *sy, uint64_t addr);
/* The n bytes of code before an address, or NULL: none there, or no sy. */
const unsigned char *symbols_code_before(
    const struct symbols *sy, uint64_t addr, size_t n);
/* ARCH/call.c: is the instruction that ends at the address a call? */
bool symbols_after_call(const struct symbols *sy, uint64_t addr);
