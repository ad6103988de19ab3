/*
 * The file /dev/machine: a description of the machine and of its PMU, for
 * result records.
 */
#include "kern/machine.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/cmdline.h"
#include "kern/platform/errno.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"

#define TEXT_MAX 4096

static struct {
	const char *via;
	bool system;
} boot;

/* The text of /dev/machine: JSON members on one line, without braces. */
static int
text_open(struct file *f)
{
	char *text = kmalloc(TEXT_MAX);
	size_t n;

	if (text == NULL)
		return ENOMEM;
	n = (size_t)snprintf(text, TEXT_MAX,
	    "\"arch\":\"%s\",\"boot\":\"%s\",\"priv\":\"%s\",\"cpus\":%u,"
	    "\"tick_hz\":%lu,\"stray_nmis\":%u,",
	    arch_name, boot.via, boot.system ? "system" : "user", cpu_nonline(),
	    (unsigned long)arch_tick_hz(), cpu_stray_nmis());
	arch_describe(text + n, TEXT_MAX - n - 2);
	while (text[n] != '\0')
		n++;
	text[n++] = ',';
	n += (size_t)kcpc_describe(text + n, TEXT_MAX - n - 1);
	ASSERT(n + 1 < TEXT_MAX);
	text[n++] = '\n';
	f->f_data = text;
	f->f_bytes = n;
	return 0;
}

static void
text_release(struct file *f)
{
	kfree((void *)(uintptr_t)f->f_data);
}

void
machine_init(const struct bootinfo *bi, const struct cmdline *cl)
{
	static const char *const via[] = {
		[BOOT_PVH] = "pvh",
		[BOOT_LINUX_IMAGE] = "linux-image",
		[BOOT_UEFI] = "uefi",
	};
	static const struct device_ops ops = { text_open, text_release };

	file_register(FILE_MACHINE, &ops);
	boot.via = bi->bi_via >= BOOT_PVH && bi->bi_via <= BOOT_UEFI
	               ? via[bi->bi_via]
	               : "unknown";
	boot.system = cl->cl_system;
}
