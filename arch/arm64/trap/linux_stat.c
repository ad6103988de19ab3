/*
 * Writes a file's status as the struct stat of Linux on arm64.
 */
#include <stdint.h>

#include "kern/arch.h"
#include "kern/file/file.h"
#include "lib/string.h"

/* Linux's include/uapi/asm-generic/stat.h, which arm64 uses. */
struct linux_stat {
	uint64_t st_dev, st_ino;
	uint32_t st_mode, st_nlink, st_uid, st_gid;
	uint64_t st_rdev, st_pad1;
	int64_t st_size;
	int32_t st_blksize, st_pad2;
	int64_t st_blocks;      /* in units of 512 bytes */
	int64_t st_times[3][2]; /* seconds and ns */
	uint32_t st_pad3[2];
};
_Static_assert(sizeof(struct linux_stat) == 128, "Linux's struct stat");

size_t
arch_stat(void *st, const struct file_info *fi)
{
	struct linux_stat s = {
		.st_dev = 1,
		.st_ino = fi->fi_ino,
		.st_mode = fi->fi_mode,
		.st_uid = fi->fi_uid,
		.st_gid = fi->fi_gid,
		.st_nlink = 1,
		.st_rdev = fi->fi_rdev,
		.st_size = (int64_t)fi->fi_bytes,
		.st_blksize = PAGE_SIZE,
		.st_blocks = (int64_t)(fi->fi_bytes + 511) / 512,
	};

	memcpy(s.st_times, fi->fi_time, sizeof s.st_times);
	memcpy(st, &s, sizeof s);
	return sizeof s;
}
