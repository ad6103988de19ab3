/*
 * The result of stat(2) in the layout of Linux on x86-64.
 */
#include <stdint.h>

#include "kern/arch.h"
#include "kern/file/file.h"
#include "lib/string.h"

/* Linux's arch/x86/include/uapi/asm/stat.h, 64 bits. */
struct linux_stat {
	uint64_t st_dev, st_ino, st_nlink;
	uint32_t st_mode, st_uid, st_gid, st_pad0;
	uint64_t st_rdev;
	int64_t st_size, st_blksize;
	int64_t st_blocks;      /* of 512 bytes */
	int64_t st_times[3][2]; /* seconds and ns */
	int64_t st_pad1[3];
};
_Static_assert(sizeof(struct linux_stat) == 144, "Linux's struct stat");

size_t
arch_stat(void *st, const struct file_info *fi)
{
	struct linux_stat s = {
		.st_dev = 1,
		.st_ino = fi->fi_ino,
		.st_nlink = 1,
		.st_mode = fi->fi_mode,
		.st_uid = fi->fi_uid,
		.st_gid = fi->fi_gid,
		.st_rdev = fi->fi_rdev,
		.st_size = (int64_t)fi->fi_bytes,
		.st_blksize = PAGE_SIZE,
		.st_blocks = (int64_t)(fi->fi_bytes + 511) / 512,
	};

	memcpy(s.st_times, fi->fi_time, sizeof s.st_times);
	memcpy(st, &s, sizeof s);
	return sizeof s;
}
