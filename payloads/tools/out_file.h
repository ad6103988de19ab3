/*
 * Files that a program writes for the host.  Included by board and by programs
 * with an option -o.
 */
#pragma once

#include <stdio.h>

/*
 * Open a file for writing.  The files of the image cannot be written.  A file
 * outside /dev/ is kept in memory, and out_close() sends it to the host as
 * records; `barecpc run --out NAME=FILE` writes it there.  NULL with errno.
 */
FILE *out_open(const char *name);
/* argc and argv are main()'s. */
void out_close(FILE *f, int argc, char *const *argv);
