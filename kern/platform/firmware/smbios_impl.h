/*
 * Functions that the files of SMBIOS share.  Included by smbios.c and
 * smbios_dimm.c.
 *
 * A structure starts at t, whose byte 1 is its length; its strings follow and
 * end at `end`.
 */
#ifndef KERN_PLATFORM_FIRMWARE_SMBIOS_IMPL_H
#define KERN_PLATFORM_FIRMWARE_SMBIOS_IMPL_H

#include <stdbool.h>

struct text; /* lib/text.h */

#define SMBIOS_NAME_MAX 64 /* bytes of a name; more are cut off */

/*
 * Copy the string whose number is the byte at `offset`, cleaned.  Without one,
 * name does not change.  It has room for SMBIOS_NAME_MAX and a NUL.
 */
void smbios_string(const unsigned char *t, const unsigned char *end,
    unsigned offset, char *name);

/* Forget all modules. */
void smbios_no_dimm(void);
/* Take a structure of this type: a slot, with a module or empty. */
#define SMBIOS_TYPE_DIMM 17
void smbios_take_dimm(const unsigned char *t, const unsigned char *end);
/*
 * Append the modules as the member "dimms", after the text `join`.  Returns
 * false, and appends nothing, without modules.
 */
bool smbios_describe_dimms(struct text *t, const char *join);

#endif /* KERN_PLATFORM_FIRMWARE_SMBIOS_IMPL_H */
