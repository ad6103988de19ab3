/*
 * Writes files to the volume that the UEFI application came from.
 *
 * UEFI, "File Protocol".
 */
#include "boot/efi/efi.h"

#include <stdbool.h>

#include "lib/string.h"

EFI_FILE_PROTOCOL *
efi_open_root(void)
{
	static EFI_GUID file_system = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
	EFI_SIMPLE_FILE_SYSTEM_PROTOCOL *fs;
	EFI_FILE_PROTOCOL *root;

	if (efi_self->DeviceHandle == NULL ||
	    EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &file_system, (void **)&fs)) ||
	    EFI_ERROR(fs->OpenVolume(fs, &root)))
		return NULL;
	return root;
}

/* Open a file of the root; mode 0 is reading.  NULL on failure. */
static EFI_FILE_PROTOCOL *
open_file(EFI_FILE_PROTOCOL *root, const char *name, UINT64 mode)
{
	CHAR16 path[EFI_PATH_MAX];
	EFI_FILE_PROTOCOL *file;
	size_t n = 0;

	path[n++] = '\\';
	while (*name != '\0' && n < EFI_PATH_MAX - 1)
		path[n++] = (CHAR16)*name++;
	path[n] = 0;
	if (EFI_ERROR(
		root->Open(root, &file, path, mode | EFI_FILE_MODE_READ, 0)))
		return NULL;
	return file;
}

static bool
has_file(const char *name)
{
	EFI_FILE_PROTOCOL *root = efi_open_root(), *file;

	if (root == NULL)
		return false;
	file = open_file(root, name, 0);
	if (file != NULL)
		file->Close(file);
	root->Close(root);
	return file != NULL;
}

static size_t
read_file(const char *name, char *to, size_t room)
{
	EFI_FILE_PROTOCOL *root = efi_open_root(), *file;
	UINTN n = room;

	if (root == NULL)
		return 0;
	file = open_file(root, name, 0);
	if (file == NULL || EFI_ERROR(file->Read(file, &n, to)))
		n = 0;
	if (file != NULL)
		file->Close(file);
	root->Close(root);
	return n;
}

/* Does the file have these bytes? */
static bool
same_bytes(EFI_FILE_PROTOCOL *file, const char *data, size_t bytes)
{
	char part[512];
	UINTN n;

	if (file == NULL)
		return false;
	for (size_t at = 0;; at += n) {
		n = sizeof part;
		if (EFI_ERROR(file->Read(file, &n, part)) || n > bytes - at ||
		    memcmp(part, data + at, n) != 0)
			return false;
		if (n == 0)
			return at == bytes;
	}
}

static const char *
write_file(const char *name, const void *data, size_t bytes)
{
	EFI_FILE_PROTOCOL *root = efi_open_root(), *file;
	UINTN n = bytes;

	if (root == NULL)
		return "the volume cannot be opened";
	/* A file of this name was ours: remove it. */
	if ((file = open_file(root, name, EFI_FILE_MODE_WRITE)) != NULL)
		file->Delete(file);
	file =
	    open_file(root, name, EFI_FILE_MODE_WRITE | EFI_FILE_MODE_CREATE);
	if (file == NULL) {
		root->Close(root);
		return "the file cannot be created: is the volume full or "
		       "read-only?";
	}
	EFI_STATUS err = file->Write(file, &n, (void *)(uintptr_t)data);
	if (!EFI_ERROR(err))
		err = file->Flush(file);
	if (EFI_ERROR(err) || n != bytes) {
		file->Delete(file);
		root->Close(root);
		return "the volume is full or cannot be written";
	}
	file->Close(file);
	file = open_file(root, name, EFI_FILE_MODE_WRITE);
	bool good = same_bytes(file, data, bytes);
	if (file != NULL && good)
		file->Close(file);
	else if (file != NULL)
		file->Delete(file);
	root->Close(root);
	return good ? NULL : "it does not read back as written";
}

/*
 * Does the disk take what it has in its first block?  Firmware takes a CD on
 * USB for a disk that can be written.  Its driver of FAT then stops the machine
 * when it creates a file: seen with EDK II for arm64.
 */
static bool
can_write(EFI_BLOCK_IO *disk)
{
	const EFI_BLOCK_IO_MEDIA *m = disk->Media;
	void *block = efi_alloc(
	    EfiLoaderData, m->BlockSize, EFI_PAGE, "a block of the volume");

	return !EFI_ERROR(disk->ReadBlocks(
		   disk, m->MediaId, 0, m->BlockSize, block)) &&
	       !EFI_ERROR(
		   disk->WriteBlocks(disk, m->MediaId, 0, m->BlockSize, block));
}

const struct efi_home *
efi_volume_home(const char **why)
{
	static const struct efi_home home = { has_file, read_file, write_file };
	static EFI_GUID id = EFI_FILE_SYSTEM_INFO_ID, disk = BLOCK_IO_PROTOCOL;
	union {
		EFI_FILE_SYSTEM_INFO info;
		char room[sizeof(EFI_FILE_SYSTEM_INFO) + 256];
	} u;
	EFI_FILE_PROTOCOL *root;
	UINTN n = sizeof u;
	EFI_BLOCK_IO *block;

	*why = NULL;
	/* QEMU's -kernel comes from a volume that no disk has. */
	if (efi_self->DeviceHandle == NULL ||
	    EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &disk, (void **)&block)) ||
	    (root = efi_open_root()) == NULL)
		return NULL;
	if (!EFI_ERROR(root->GetInfo(root, &id, &n, &u)) && u.info.ReadOnly)
		*why = "the volume is read-only";
	else if (!can_write(block))
		*why = "the disk cannot be written";
	root->Close(root);
	return *why == NULL ? &home : NULL;
}
