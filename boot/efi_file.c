#include "boot/efi.h"

void *
efi_read_file(CHAR16 *path, const char *name, size_t *bytes)
{
	static EFI_GUID file_system = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
	EFI_SIMPLE_FILE_SYSTEM_PROTOCOL *fs;
	EFI_FILE_PROTOCOL *root, *file;
	EFI_STATUS err;
	UINT64 size = ~0ULL;
	UINTN got;
	void *buf = NULL;

	if (efi_self->DeviceHandle == NULL ||
	    EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &file_system, (void **)&fs)) ||
	    EFI_ERROR(fs->OpenVolume(fs, &root)))
		return NULL;
	err = root->Open(root, &file, path, EFI_FILE_MODE_READ, 0);
	if (EFI_ERROR(err))
		goto close_root;

	/* UEFI, "EFI_FILE_PROTOCOL.SetPosition()": all ones is the end. */
	if (EFI_ERROR(file->SetPosition(file, size)) ||
	    EFI_ERROR(file->GetPosition(file, &size)) ||
	    EFI_ERROR(file->SetPosition(file, 0)))
		efi_fail("cannot tell the size of \\%s", name);
	if (size == 0)
		goto close_file;
	buf = efi_alloc(EfiLoaderData, size, EFI_PAGE, name);
	got = size;
	err = file->Read(file, &got, buf);
	if (EFI_ERROR(err) || got != size)
		efi_fail("cannot read \\%s (EFI_STATUS %#llx)", name,
		    (unsigned long long)err);
	*bytes = size;

close_file:
	file->Close(file);
close_root:
	root->Close(root);
	return buf;
}
