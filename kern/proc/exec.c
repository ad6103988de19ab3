/*
 * Builds the address space of a program.  From the lowest address: the program,
 * the heap after it, mmap(2)'s mappings from the top down, the vDSO, a guard
 * page, and the stack.
 */
#include "kern/arch.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "kern/proc/vdso/vdso.h"
#include "lib/printf.h"
#include "lib/string.h"

/*
 * Linux's default stack limit, or less on a machine with little memory.  The
 * whole stack is populated.
 */
#define STACK_BYTES       (8UL << 20)
#define STACK_BYTES_SMALL (256UL << 10)
#define STACK_FRACTION    8 /* of free memory, at most */

#define ARGS_MAX (128UL << 10) /* strings and pointers, in bytes */

/* System V ABI, "Process Initialization"; Linux's numbers, <elf.h>. */
#define AT_NULL         0
#define AT_PHDR         3
#define AT_PHENT        4
#define AT_PHNUM        5
#define AT_PAGESZ       6
#define AT_BASE         7
#define AT_FLAGS        8
#define AT_ENTRY        9
#define AT_UID          11
#define AT_EUID         12
#define AT_GID          13
#define AT_EGID         14
#define AT_PLATFORM     15
#define AT_HWCAP        16
#define AT_CLKTCK       17
#define AT_SECURE       23
#define AT_RANDOM       25
#define AT_HWCAP2       26
#define AT_EXECFN       31
#define AT_SYSINFO_EHDR 33
#define AT_MINSIGSTKSZ  51

#define ELF_PHENT 56

/*
 * Constant, so that runs are repeatable: a hash seed or stack canary must not
 * change a program's counts.
 */
static const unsigned char at_random[16] = "barecpc-constant";

static int
load_segment(struct proc *p, const struct elf *e, const struct elf_segment *s)
{
	uintptr_t va = s->seg_vaddr + e->e_bias;
	uintptr_t from = va & -PAGE_SIZE;
	uintptr_t to = (va + s->seg_memsz + PAGE_SIZE - 1) & -PAGE_SIZE;
	unsigned prot = (s->seg_prot & ELF_R ? PROT_READ : 0) |
	                (s->seg_prot & ELF_W ? PROT_WRITE : 0) |
	                (s->seg_prot & ELF_X ? PROT_EXEC : 0);
	int err;

	/* Make a segment without access readable: it has content. */
	err = as_map(
	    p->p_as, from, to - from, prot != 0 ? prot : PROT_READ, false);
	if (err != 0)
		return err;
	as_write(p->p_as, va, e->e_data + s->seg_offset, s->seg_filesz);
	if (prot & PROT_EXEC)
		as_sync_code(p->p_as, va, s->seg_memsz);
	/* Pages after the file's part are anonymous, as on Linux. */
	to = (va + s->seg_filesz + PAGE_SIZE - 1) & -PAGE_SIZE;
	if (s->seg_offset < va - from || s->seg_filesz == 0)
		return 0;
	return as_note_file(p->p_as, from, to - from, e->e_data,
	    s->seg_offset + s->seg_filesz, s->seg_offset - (va - from), false);
}

static int
load_stack(struct proc *p, uintptr_t *top)
{
	size_t bytes = STACK_BYTES;
	size_t spare = page_nfree() / STACK_FRACTION * PAGE_SIZE;

	if (spare > p->p_limit[LIMIT_STACK].li_soft)
		spare = p->p_limit[LIMIT_STACK].li_soft;
	while (bytes > STACK_BYTES_SMALL && bytes > spare)
		bytes /= 2;
	*top = REGION_TOP;
	if (p->p_limit[LIMIT_STACK].li_hard == UINT64_MAX) /* by the launcher */
		p->p_limit[LIMIT_STACK] = (struct limit){ bytes, bytes };
	if (p->p_elf.e_stack - 1 < STACK_BYTES_SMALL)
		bytes = STACK_BYTES_SMALL;
	p->p_stack_bytes = bytes;
	/* Reserve the page below the stack, so that an overflow faults. */
	if (as_map(p->p_as, *top - bytes - PAGE_SIZE, PAGE_SIZE, 0, false) != 0)
		return ENOMEM;
	return as_map(
	    p->p_as, *top - bytes, bytes, PROT_READ | PROT_WRITE, false);
}

/*
 * The initial stack, built in a buffer and later copied to `base`: first the
 * words, then the strings.
 */
struct stack {
	char *buf;
	uintptr_t base;
	uint64_t *word; /* the next one */
	size_t string;  /* offset of the next string */
};

static void
push_word(struct stack *s, uint64_t v)
{
	*s->word++ = v;
}

static void
push_aux(struct stack *s, uint64_t type, uint64_t v)
{
	push_word(s, type);
	push_word(s, v);
}

/* Copy bytes to the string part.  Returns their address in the process. */
static uintptr_t
push_bytes(struct stack *s, const void *p, size_t n)
{
	uintptr_t at = s->base + s->string;

	memcpy(s->buf + s->string, p, n);
	s->string += n;
	return at;
}

static uintptr_t
push_string(struct stack *s, const char *str)
{
	return push_bytes(s, str, strlen(str) + 1);
}

static void
push_strings(struct stack *s, char *const v[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		push_word(s, push_string(s, v[i]));
	push_word(s, 0);
}

static size_t
strings_bytes(char *const v[], unsigned n)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		bytes += strlen(v[i]) + 1;
	return bytes;
}

#define NAUX 21

static void
push_auxv(struct stack *s, const struct proc *p, const char *path)
{
	const struct elf *e = &p->p_elf;

	if (e->e_phdr != 0)
		push_aux(s, AT_PHDR, e->e_phdr);
	push_aux(s, AT_PHENT, ELF_PHENT);
	push_aux(s, AT_PHNUM, e->e_phnum);
	push_aux(s, AT_PAGESZ, PAGE_SIZE);
	push_aux(s, AT_BASE, e->e_interp != NULL ? p->p_loader.e_bias : 0);
	push_aux(s, AT_FLAGS, 0);
	push_aux(s, AT_SYSINFO_EHDR, p->p_vdso);
	push_aux(s, AT_ENTRY, e->e_entry);
	push_aux(s, AT_UID, 0);
	push_aux(s, AT_EUID, 0);
	push_aux(s, AT_GID, 0);
	push_aux(s, AT_EGID, 0);
	push_aux(s, AT_PLATFORM, push_string(s, arch_uname));
	push_aux(s, AT_HWCAP, arch_hwcap(0));
	push_aux(s, AT_HWCAP2, arch_hwcap(1));
	push_aux(s, AT_MINSIGSTKSZ, arch_hwcap(2));
	push_aux(s, AT_CLKTCK, 100);
	push_aux(s, AT_SECURE, 0);
	push_aux(s, AT_RANDOM, push_bytes(s, at_random, sizeof at_random));
	push_aux(s, AT_EXECFN, push_string(s, path));
	push_aux(s, AT_NULL, 0);
}

static int
load_args(struct proc *p, const char *path, char *const argv[], unsigned argc,
    char *const envv[], unsigned envc, uintptr_t top, uintptr_t *sp)
{
	size_t words = 1 + argc + 1 + envc + 1 + 2 * NAUX;
	size_t bytes = words * 8 + strings_bytes(argv, argc) +
	               strings_bytes(envv, envc) + strlen(arch_uname) + 1 +
	               sizeof at_random + strlen(path) + 1;
	struct stack s;

	bytes = (bytes + 15) & ~15UL; /* the ABIs align sp to 16 */
	if (bytes > ARGS_MAX || bytes > p->p_stack_bytes / 2)
		return E2BIG;
	if ((s.buf = kmalloc(bytes)) == NULL)
		return ENOMEM;
	s.base = top - bytes;
	s.word = (uint64_t *)s.buf;
	s.string = words * 8;
	push_word(&s, argc);
	push_strings(&s, argv, argc);
	push_strings(&s, envv, envc);
	push_auxv(&s, p, path);
	as_write(p->p_as, s.base, s.buf, bytes);
	kfree(s.buf);
	*sp = s.base;
	return 0;
}

/* Keep the arguments as one line, for the process's controller. */
static void
join_args(struct proc *p, char *const argv[], unsigned argc)
{
	size_t n = 0;

	p->p_args[0] = '\0';
	for (unsigned i = 0; i < argc && n < sizeof p->p_args; i++)
		n += (size_t)snprintf(p->p_args + n, sizeof p->p_args - n,
		    i == 0 ? "%s" : " %s", argv[i]);
}

int
exec_load(struct proc *p, const char *path, char *const argv[], unsigned argc,
    char *const envv[], unsigned envc, uintptr_t *pc, uintptr_t *sp,
    const char **why, char *buf, size_t buflen)
{
	const struct elf *e = &p->p_elf, *loader = &p->p_loader;
	size_t free = page_nfree();
	uintptr_t top;
	int err = 0;

	for (unsigned i = 0; i < e->e_nseg && err == 0; i++)
		err = load_segment(p, e, &e->e_seg[i]);
	for (unsigned i = 0; i < loader->e_nseg && err == 0; i++)
		err = load_segment(p, loader, &loader->e_seg[i]);
	if (err != 0) {
		snprintf(buf, buflen,
		    "does not fit in memory: %zu MiB, %zu MiB are free",
		    (size_t)((e->e_end - e->e_bias - e->e_seg[0].seg_vaddr) >>
			     20),
		    free >> 8);
		*why = buf;
		return err;
	}
	p->p_as->as_brk_base = p->p_as->as_brk =
	    (e->e_end + PAGE_SIZE - 1) & -PAGE_SIZE;
	/* The guard page below the stack ends the vDSO's range. */
	if ((err = load_stack(p, &top)) != 0 ||
	    (err = vdso_map(p, top - p->p_stack_bytes - PAGE_SIZE)) != 0) {
		*why = "no memory for its stack";
		return err;
	}
	join_args(p, argv, argc);
	err = load_args(p, path, argv, argc, envv, envc, top, sp);
	if (err == E2BIG)
		*why = "arguments and environment exceed 128 KiB";
	*pc = e->e_interp != NULL ? loader->e_entry : e->e_entry;
	return err;
}
