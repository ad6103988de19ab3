/*
 * The parts of fits that differ on the build machine.  Included by fits.c and
 * them.
 */
#ifndef PAYLOADS_TOOLS_FITS_H
#define PAYLOADS_TOOLS_FITS_H

/*
 * fits_here.c asks this machine's PMU; fits_host.c has none to ask.  The list
 * is cut at its commas.  Returns main()'s result.
 */
int fits_here(char *list);

#endif /* PAYLOADS_TOOLS_FITS_H */
