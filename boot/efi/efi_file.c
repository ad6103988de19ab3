/* Reads files from the volume that the UEFI application came from. */
#include "boot/efi/efi.h"

/*
 * Put the folder of this application, with a final backslash, into path.
 * Returns its length; 0, for the root, if the folder is unknown or too long.
 * UEFI, "File Path Media Device Path": a path may be split into several nodes.
 */
static size_t
own_folder(CHAR16 path[EFI_PATH_MAX])
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
		if (n + max + 1 >= EFI_PATH_MAX)
			return 0;
		for (size_t i = 0; i < max && part[i] != 0; i++)
			path[n++] = part[i];
	}
	while (n > 0 && path[n - 1] != '\\')
		n--;
	return n;
}

/* Read one character that put_utf8() of efi_cmdline.c wrote; / becomes \. */
static CHAR16
from_utf8(const char **s)
{
	unsigned char c = (unsigned char)*(*s)++;
	unsigned more = c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
	CHAR16 v = more == 2 ? c & 0x0f : more == 1 ? c & 0x1f : c;

	for (; more > 0 && (**s & 0xc0) == 0x80; more--)
		v = (CHAR16)(v << 6 | (*(*s)++ & 0x3f));
	return v == '/' ? '\\' : v;
}

static EFI_FILE_PROTOCOL *
open_in(EFI_FILE_PROTOCOL *root, CHAR16 path[EFI_PATH_MAX], size_t folder,
    const char *name)
{
	EFI_FILE_PROTOCOL *file;
	size_t at = folder;

	while (*name != '\0') {
		if (at + 1 >= EFI_PATH_MAX)
			return NULL;
		path[at++] = from_utf8(&name);
	}
	path[at] = 0;
	if (EFI_ERROR(root->Open(root, &file, path, EFI_FILE_MODE_READ, 0)))
		return NULL;
	return file;
}

static void *
read_all(EFI_FILE_PROTOCOL *file, const char *name, size_t *bytes)
{
	UINT64 size = ~0ULL;

	/* UEFI, "EFI_FILE_PROTOCOL.SetPosition()": all ones: to the end. */
	if (EFI_ERROR(file->SetPosition(file, size)) ||
	    EFI_ERROR(file->GetPosition(file, &size)) ||
	    EFI_ERROR(file->SetPosition(file, 0)))
		efi_fail("cannot tell the size of %s", name);
	if (size == 0)
		return NULL;
	void *buf = efi_alloc(EfiLoaderData, size, EFI_PAGE, name);
	UINTN got = size;
	EFI_STATUS err = file->Read(file, &got, buf);
	if (EFI_ERROR(err) || got != size)
		efi_fail("cannot read %s (EFI_STATUS %#llx)", name,
		    (unsigned long long)err);
	*bytes = size;
	return buf;
}

void *
efi_read_file(const char *name, size_t *bytes)
{
	static CHAR16 path[EFI_PATH_MAX];
	EFI_FILE_PROTOCOL *root = efi_open_root(), *file;
	const char *at = name;
	void *buf = NULL;

	if (root == NULL)
		return efi_fetch_file(name, bytes);
	while (*at == '\\' || *at == '/')
		at++;
	file = at == name ? open_in(root, path, own_folder(path), at) : NULL;
	if (file == NULL) {
		path[0] = '\\';
		file = open_in(root, path, 1, at);
	}
	if (file != NULL) {
		buf = read_all(file, name, bytes);
		file->Close(file);
	}
	root->Close(root);
	return buf;
}
