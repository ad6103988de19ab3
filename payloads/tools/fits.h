/*
 * What the files of fits share; included by them alone.
 */
#ifndef PAYLOADS_TOOLS_FITS_H
#define PAYLOADS_TOOLS_FITS_H

/*
 * fits_here.c: on this machine's PMU, and fits_host.c where none is asked.
 * The list is cut at its commas.  main()'s result.
 */
int fits_here(char *list);

#endif /* PAYLOADS_TOOLS_FITS_H */
