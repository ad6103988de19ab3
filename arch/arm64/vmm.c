/*
 * The hypervisor's name, from the UID that it answers the SMC Calling
 * Convention's call "Call UID" with, or from the host.
 *
 * SMC Calling Convention (DEN 0028), "Vendor Specific Hypervisor Service
 * Calls".
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "lib/string.h"

/* The first of the UID's four words, which x0 returns. */
static const struct {
	uint32_t word;
	const char *name;
} known[] = {
	/* 28b46fb6-2ec5-11e9-a9ca-4b564d003a74: Linux, linux/arm-smccc.h */
	{ 0xb66fb428, "kvm" },
	/* 58ba324d-6447-24cd-756c-ef8e24705916: Linux, linux/arm-smccc.h */
	{ 0x4d32ba58, "hyperv" },
	/* c1d58fcd-a453-5fdb-9265-ce36673d5f14: Gunyah for Linux, gunyah.c */
	{ 0xcd8fd5c1, "gunyah" },
	/* a71812dc-c698-4369-9acf-79d18ddee667: Xen, public/arch-arm/smccc.h */
	{ 0xdc1218a7, "xen" },
};
#define NOT_SUPPORTED 0xffffffff

/*
 * An emulator does not answer.  Nor does KVM before Linux 5.13, and other
 * hypervisors need not.  For these, only host.accel= says which it is.  The
 * tables of a board that is emulated are the board's, so they do not help.
 */
static const char *
without_uid(bool is_virtual, const char *accel)
{
	if (accel != NULL && strcmp(accel, "tcg") == 0)
		return "tcg";
	if (accel != NULL && strcmp(accel, "kvm") == 0)
		return "kvm";
	return is_virtual ? "unknown" : "none";
}

const char *
arm64_vmm_name(uint32_t uid, bool is_virtual, const char *accel)
{
	if (uid == NOT_SUPPORTED)
		return without_uid(is_virtual, accel);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		if (known[i].word == uid)
			return known[i].name;
	}
	return "unknown";
}
