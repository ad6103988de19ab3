/*
 * _dl_find_object(), which libgcc's unwinder calls and musl lacks.  A payload
 * is one static program, so there is one object.  Its unwind table is
 * PT_GNU_EH_FRAME.  glibc manual, "Dynamic Linker Introspection".
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* glibc's struct dl_find_object of 64-bit machines. */
struct dl_find_object {
	unsigned long long dlfo_flags;
	void *dlfo_map_start, *dlfo_map_end;
	struct link_map *dlfo_link_map;
	void *dlfo_eh_frame;
	unsigned long long dlfo_reserved[7];
};
int _dl_find_object(void *pc, struct dl_find_object *found);

struct search {
	uintptr_t pc;
	struct dl_find_object *found;
};

static int
look_in(struct dl_phdr_info *info, size_t, void *arg)
{
	const struct search *s = arg;
	uintptr_t start = UINTPTR_MAX, end = 0, table = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_GNU_EH_FRAME)
			table = at;
		if (ph->p_type != PT_LOAD)
			continue;
		start = at < start ? at : start;
		end = at + ph->p_memsz > end ? at + ph->p_memsz : end;
	}
	if (s->pc < start || s->pc >= end || table == 0)
		return 0;
	*s->found = (struct dl_find_object){
		.dlfo_map_start = (void *)start,
		.dlfo_map_end = (void *)end,
		.dlfo_eh_frame = (void *)table,
	};
	return 1;
}

/* Returns 0, or -1 if no object has an unwind table for pc. */
int
_dl_find_object(void *pc, struct dl_find_object *found)
{
	struct search s = { (uintptr_t)pc, found };

	return dl_iterate_phdr(look_in, &s) == 1 ? 0 : -1;
}
