#include "boot/efi.h"

#include "lib/string.h"

#define PATH_MAX_CHARS 256

/*
 * The folder this application came from, with a backslash at its end, in
 * path.  Returns its length: 0, for the root, where it is not known or long.
 * UEFI, "File Path Media Device Path": a path may be cut into several nodes.
 */
static size_t
own_folder(CHAR16 path[PATH_MAX_CHARS])
{
	EFI_DEVICE_PATH *node = efi_self->FilePath;
	size_t n = 0;

	for (; node != NULL && !IsDevicePathEnd(node);
	     node = NextDevicePathNode(node)) {
		const CHAR16 *part = ((FILEPATH_DEVICE_PATH *)node)->PathName;
		size_t max = ((size_t)DevicePathNodeLength(node) -
				 sizeof(EFI_DEVICE_PATH)) /
		             sizeof *part;

		if (DevicePathType(node) != MEDIA_DEVICE_PATH ||
		    DevicePathSubType(node) != MEDIA_FILEPATH_DP)
			continue;
		if (n + max + 1 >= PATH_MAX_CHARS)
			return 0;
		for (size_t i = 0; i < max && part[i] != 0; i++)
			path[n++] = part[i];
	}
	while (n > 0 && path[n - 1] != '\\')
		n--;
	return n;
}

static EFI_FILE_PROTOCOL *
open_in(EFI_FILE_PROTOCOL *root, CHAR16 path[PATH_MAX_CHARS], size_t folder,
    const char *name)
{
	EFI_FILE_PROTOCOL *file;
	size_t len = strlen(name);

	if (folder + len >= PATH_MAX_CHARS)
		return NULL;
	for (size_t i = 0; i <= len; i++)
		path[folder + i] = (unsigned char)name[i];
	if (EFI_ERROR(root->Open(root, &file, path, EFI_FILE_MODE_READ, 0)))
		return NULL;
	return file;
}

static void *
read_all(EFI_FILE_PROTOCOL *file, const char *name, size_t *bytes)
{
	UINT64 size = ~0ULL;
	UINTN got;
	void *buf;
	EFI_STATUS err;

	/* UEFI, "EFI_FILE_PROTOCOL.SetPosition()": all ones is the end. */
	if (EFI_ERROR(file->SetPosition(file, size)) ||
	    EFI_ERROR(file->GetPosition(file, &size)) ||
	    EFI_ERROR(file->SetPosition(file, 0)))
		efi_fail("cannot tell the size of %s", name);
	if (size == 0)
		return NULL;
	buf = efi_alloc(EfiLoaderData, size, EFI_PAGE, name);
	got = size;
	err = file->Read(file, &got, buf);
	if (EFI_ERROR(err) || got != size)
		efi_fail("cannot read %s (EFI_STATUS %#llx)", name,
		    (unsigned long long)err);
	*bytes = size;
	return buf;
}

void *
efi_read_file(const char *name, size_t *bytes)
{
	static EFI_GUID file_system = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
	static CHAR16 path[PATH_MAX_CHARS];
	EFI_SIMPLE_FILE_SYSTEM_PROTOCOL *fs;
	EFI_FILE_PROTOCOL *root, *file;
	void *buf = NULL;

	if (efi_self->DeviceHandle == NULL ||
	    EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &file_system, (void **)&fs)) ||
	    EFI_ERROR(fs->OpenVolume(fs, &root)))
		return NULL;
	file = open_in(root, path, own_folder(path), name);
	if (file == NULL) {
		path[0] = '\\';
		file = open_in(root, path, 1, name);
	}
	if (file != NULL) {
		buf = read_all(file, name, bytes);
		file->Close(file);
	}
	root->Close(root);
	return buf;
}
