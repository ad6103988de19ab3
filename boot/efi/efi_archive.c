/* Finds the second archive for the UEFI application. */
#include "boot/efi/efi.h"

/* UEFI, "Load File 2 Protocol". */
static const EFI_GUID load_file2_guid = { 0x4006c0c1, 0xfcb3, 0x403e,
	{ 0x99, 0x6d, 0x4a, 0x6c, 0x87, 0x24, 0xe0, 0x6d } };

struct load_file2 {
	EFI_STATUS(EFIAPI *load)
	(struct load_file2 *self, EFI_DEVICE_PATH *path, BOOLEAN boot_policy,
	    UINTN *bytes, void *buf);
};

/*
 * The device path at which boot loaders, and QEMU's firmware for -initrd,
 * publish an initrd: a vendor's medium with this GUID.  Linux, "The EFI Boot
 * Stub" (LINUX_EFI_INITRD_MEDIA_GUID).
 */
static struct {
	VENDOR_DEVICE_PATH medium;
	EFI_DEVICE_PATH end;
} initrd_path = {
	.medium = {
		.Header = { MEDIA_DEVICE_PATH, MEDIA_VENDOR_DP,
		    { sizeof(VENDOR_DEVICE_PATH), 0 } },
		.Guid = { 0x5568e427, 0x68fc, 0x4f3d,
		    { 0xac, 0x74, 0xca, 0x55, 0x52, 0x31, 0xcc, 0x68 } },
	},
	.end = { END_DEVICE_PATH_TYPE, END_ENTIRE_DEVICE_PATH_SUBTYPE,
	    { sizeof(EFI_DEVICE_PATH), 0 } },
};

static void *
read_initrd(size_t *bytes)
{
	EFI_GUID guid = load_file2_guid;
	EFI_DEVICE_PATH *rest = &initrd_path.medium.Header;
	struct load_file2 *lf;
	EFI_HANDLE handle;
	UINTN n = 0;

	if (EFI_ERROR(efi_bs->LocateDevicePath(&guid, &rest, &handle)) ||
	    EFI_ERROR(efi_bs->HandleProtocol(handle, &guid, (void **)&lf)))
		return NULL;
	/* Without a buffer it returns the size. */
	if (lf->load(lf, rest, FALSE, &n, NULL) != EFI_BUFFER_TOO_SMALL ||
	    n == 0)
		return NULL;
	void *buf = efi_alloc(EfiLoaderData, n, EFI_PAGE, "the initrd");
	if (EFI_ERROR(lf->load(lf, rest, FALSE, &n, buf)))
		efi_fail("cannot read the boot loader's initrd");
	*bytes = n;
	return buf;
}

void
efi_find_archive(struct bootinfo *bi)
{
	size_t n = 0;
	void *p = read_initrd(&n);

	if (p == NULL && efi_initrd[0] != '\0') {
		p = efi_read_file(efi_initrd, &n);
		if (p == NULL)
			efi_fail("initrd=%s: no such file on the volume this "
				 "application came from",
			    efi_initrd);
	}
	if (p == NULL)
		p = efi_read_file("barecpc.cpio", &n);
	bi->bi_archive = (uintptr_t)p;
	bi->bi_archive_bytes = n;
}
