/*
 * Results kept in UEFI variables (keep=nvram): BarecpcKept00, 01, and so on.
 * The kernel writes them at the end of a run, the first one last.  This code
 * reads and removes them.
 *
 * UEFI, "Variable Services".
 */
#include "boot/efi/efi.h"

#include "kern/platform/results/kept.h"

#define EFI_2_00 0x20000 /* UEFI, "EFI System Table": the revision 2.0 */

static EFI_GUID vendor = KEPT_VENDOR;

/* The name of variable n, in a buffer of KEPT_NAME + 1 characters. */
static CHAR16 *
name_of(unsigned n, CHAR16 *to)
{
	kept_variable_name(n, (uint16_t *)to);
	return to;
}

/*
 * The bytes that variables may take: at most half of what is free, so that
 * firmware's own settings keep their room.  0: none.
 */
size_t
efi_variable_room(void)
{
	EFI_RUNTIME_SERVICES *rt = efi_st->RuntimeServices;
	UINT64 all, left, largest;

	/* UEFI 2.0 introduced QueryVariableInfo. */
	if (rt->Hdr.Revision < EFI_2_00 ||
	    EFI_ERROR(rt->QueryVariableInfo(
		EFI_VARIABLE_NON_VOLATILE | EFI_VARIABLE_BOOTSERVICE_ACCESS |
		    EFI_VARIABLE_RUNTIME_ACCESS,
		&all, &left, &largest)) ||
	    largest < 2 * KEPT_VARIABLE)
		return 0;
	left /= 2;
	return left < KEPT_VARIABLES_BYTES ? left : KEPT_VARIABLES_BYTES;
}

bool
efi_read_variables(struct kept_head *to)
{
	CHAR16 name[KEPT_NAME + 1];
	char *at = (char *)to;

	for (unsigned n = 0; n < KEPT_VARIABLES; n++) {
		UINTN bytes = KEPT_VARIABLE;

		if (EFI_ERROR(
			efi_st->RuntimeServices->GetVariable(name_of(n, name),
			    &vendor, NULL, &bytes, at + n * KEPT_VARIABLE)))
			return n > 0;
	}
	return true;
}

void
efi_drop_variables(void)
{
	CHAR16 name[KEPT_NAME + 1];

	/* Without data and attributes this removes one, if it exists. */
	for (unsigned n = 0; n < KEPT_VARIABLES; n++)
		efi_st->RuntimeServices->SetVariable(
		    name_of(n, name), &vendor, 0, 0, NULL);
}
