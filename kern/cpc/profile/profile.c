/*
 * Profiles: where a program is each time so many events have passed.
 *
 * An LWP that is about to execute a program makes its context a profile's.
 * The context then waits for execve(2), counts for the program and for every
 * LWP of it, and instead of a signal each overflow leaves a sample: the
 * program is not changed, and between the overflow and its next instruction
 * nothing is counted at user privilege.  A period is therefore the same
 * number of user events each time.  It goes with the program to whatever that
 * forks and executes.
 *
 * Of depth 0 it takes no samples: it is the sums, over all LWPs, of what a
 * set of any size counted, each LWP's from when it begins to when it ends.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/profile/program.h"
#include "kern/cpc/witness.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "lib/string.h"

/* Samples as read(2) gives them, one behind the other. */
struct chunk {
	struct chunk *ch_next;
	size_t ch_read, ch_bytes; /* taken; there */
	char ch_data[];
};
#define CHUNK_BYTES (PAGE_SIZE - sizeof(struct chunk))

struct kcpc_profile {
	unsigned kp_refs; /* the file, and each context */
	unsigned kp_depth;
	unsigned kp_nreqs;
	bool kp_begun;
	uint64_t kp_count[PCBE_MAXPIC]; /* by request */
	struct chunk *kp_first, *kp_last;
	struct kcpc_image *kp_images;
	struct cpc_profile_stat kp_stat;
};

_Static_assert(
    sizeof(struct cpc_profile_sample) + CPC_PROFILE_DEPTH * sizeof(uint64_t) <
	CHUNK_BYTES,
    "a sample fits in a chunk");

struct kcpc_profile *
kcpc_profile_new(void)
{
	struct kcpc_profile *kp = kmalloc(sizeof *kp);

	if (kp != NULL)
		kp->kp_refs = 1;
	return kp;
}

void
kcpc_profile_release(struct kcpc_profile *kp)
{
	struct chunk *ch;

	if (--kp->kp_refs > 0)
		return;
	while ((ch = kp->kp_first) != NULL) {
		kp->kp_first = ch->ch_next;
		page_free(ch, 0);
	}
	kcpc_image_free_all(kp->kp_images);
	kfree(kp);
}

/* Room for a sample, or NULL. */
static void *
sample_room(struct kcpc_profile *kp, size_t bytes)
{
	struct chunk *ch = kp->kp_last;

	if (ch == NULL || CHUNK_BYTES - ch->ch_bytes < bytes) {
		if ((ch = page_alloc(0)) == NULL)
			return NULL;
		ch->ch_next = NULL;
		ch->ch_read = ch->ch_bytes = 0;
		if (kp->kp_first == NULL)
			kp->kp_first = ch;
		else
			kp->kp_last->ch_next = ch;
		kp->kp_last = ch;
	}
	ch->ch_bytes += bytes;
	return ch->ch_data + ch->ch_bytes - bytes;
}

/*
 * Who called whom, by the records frame pointers lead to: the caller's frame
 * pointer and the address to return to, on both architectures.  Frames lie
 * ever higher in a stack; whatever else is met is not one.
 */
static unsigned
walk(const struct trapframe *tf, uint64_t *pc, unsigned max)
{
	uintptr_t fp = tf_fp(tf), record[2];
	unsigned n = 0;

	pc[n++] = tf_pc(tf);
	while (n < max && fp % sizeof(uintptr_t) == 0 &&
	       arch_copyin(record, fp, sizeof record) == 0 && record[1] != 0) {
		pc[n++] = record[1];
		if (record[0] <= fp)
			break;
		fp = record[0];
	}
	return n;
}

/* In the kernel, unless that is 0, and by tf on the way back from there. */
static void
add_sample(struct kcpc_profile *kp, const struct kcpc_ctx *ctx, uint64_t kernel,
    const struct trapframe *tf)
{
	struct cpc_profile_sample head;
	uint64_t pc[CPC_PROFILE_DEPTH];
	unsigned n = 0;
	char *at;

	if (kernel != 0)
		pc[n++] = kernel;
	if (n < kp->kp_depth)
		n += walk(tf, pc + n, kp->kp_depth - n);
	head.cm_lwp = (uint32_t)ctx->kc_lwp->l_id;
	head.cm_image = (uint16_t)ctx->kc_image;
	head.cm_nframes = (uint16_t)n;
	at = sample_room(kp, sizeof head + n * sizeof pc[0]);
	kp->kp_stat.ct_samples++;
	if (at == NULL) {
		kp->kp_stat.ct_lost++;
		return;
	}
	memcpy(at, &head, sizeof head);
	memcpy(at + sizeof head, pc, n * sizeof pc[0]);
}

static void
preset_all(struct kcpc_ctx *ctx)
{
	unsigned i;

	for (i = 0; i < ctx->kc_nreqs; i++)
		*kcpc_count(ctx, i) = ctx->kc_reqs[i].kr_preset;
}

/* What was counted since the last time, and from the presets again. */
static void
begin_period(struct kcpc_profile *kp, struct kcpc_ctx *ctx)
{
	unsigned i;

	for (i = 0; i < ctx->kc_nreqs; i++)
		kp->kp_count[i] +=
		    *kcpc_count(ctx, i) - ctx->kc_reqs[i].kr_preset;
	kp->kp_stat.ct_events = kp->kp_count[0];
	preset_all(ctx);
}

void
kcpc_profile_sample(struct kcpc_ctx *ctx, const struct trapframe *tf)
{
	add_sample(ctx->kc_profile, ctx, ctx->kc_nmi_pc, tf);
	begin_period(ctx->kc_profile, ctx);
	ctx->kc_flags &= ~KCPC_CTX_FREEZE;
	kcpc_start(ctx);
}

/*
 * Each time it counted on a period had ended.  What its PIC counted since
 * program() is then less than a period, but its fold took it for a whole
 * round.
 */
void
kcpc_profile_nmi_samples(struct kcpc_ctx *ctx)
{
	struct kcpc_profile *kp = ctx->kc_profile;
	struct pcbe_nmi_log *pk;
	uint64_t preset, periods;

	if (kcpc_ops->nmi_log == NULL)
		return;
	pk = kcpc_ops->nmi_log();
	ctx->kc_nmi_pc = pk->pk_last;
	pk->pk_last = 0;
	if ((periods = pk->pk_n + pk->pk_lost) == 0)
		return;
	for (unsigned i = 0; i < pk->pk_n; i++)
		add_sample(kp, ctx, pk->pk_pc[i], ctx->kc_lwp->l_tf);
	kp->kp_stat.ct_samples += pk->pk_lost;
	kp->kp_stat.ct_lost += pk->pk_lost;
	pk->pk_n = pk->pk_lost = 0;
	preset = ctx->kc_reqs[0].kr_preset;
	kp->kp_count[0] -= periods * preset; /* so many times its distance */
	*kcpc_count(ctx, 0) = preset + ((*kcpc_count(ctx, 0) - preset) &
					   ctx->kc_pcbe.ps_cfg[0].pc_mask);
}

static void
begin(struct kcpc_ctx *ctx)
{
	struct kcpc_profile *kp = ctx->kc_profile;

	kp->kp_begun = true;
	kp->kp_stat.ct_lwps++;
	preset_all(ctx);
	ctx->kc_flags &= ~KCPC_CTX_SIGOVF;
	if ((ctx->kc_flags & KCPC_CTX_INVALID) == 0)
		ctx->kc_flags &= ~KCPC_CTX_FREEZE;
}

void
kcpc_profile_inherit(struct kcpc_ctx *ctx)
{
	ctx->kc_profile->kp_refs++;
	begin(ctx);
}

bool
kcpc_profiled(const struct lwp *l)
{
	const struct kcpc_ctx *ctx = l->l_cpc;

	return ctx != NULL && ctx->kc_profile != NULL &&
	       ctx->kc_profile->kp_begun;
}

int
kcpc_profile_fork(const struct lwp *parent, struct lwp *child)
{
	return kcpc_profiled(parent) ? kcpc_inherit(parent, child) : 0;
}

/* Samples until now are of the program that called, and of where it did. */
static void
flush(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx->kc_profile->kp_depth == 0)
		return;
	if (kcpc_running(ctx)) {
		kcpc_stop(ctx);
		if (kcpc_running(ctx)) /* not if that found its overflow */
			kcpc_start(ctx);
	}
	kcpc_sigemt_take(l, l->l_tf);
}

void
kcpc_exec_leave(struct lwp *l)
{
	const struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || ctx->kc_profile == NULL) {
		kcpc_lwp_exit(l);
		return;
	}
	if (kcpc_profiled(l))
		flush(l);
	kcpc_cpu_lwp_exit(l);
	kcpc_page_free(l);
}

void
kcpc_exec_enter(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL)
		return;
	ctx->kc_image =
	    kcpc_image_of(&ctx->kc_profile->kp_images, ctx->kc_proc);
	if (kcpc_profiled(l))
		return;
	begin(ctx);
	if (kcpc_running(ctx))
		kcpc_start(ctx);
}

void
kcpc_profile_end(struct kcpc_ctx *ctx)
{
	struct kcpc_profile *kp = ctx->kc_profile;

	if (kp == NULL)
		return;
	if (kp->kp_begun) {
		begin_period(kp, ctx);
		kp->kp_stat.ct_revoked +=
		    (ctx->kc_flags & KCPC_CTX_INVALID) != 0;
	}
	kcpc_profile_release(kp);
}

/* The profile behind a descriptor, or NULL. */
static struct kcpc_profile *
find(uintptr_t fd)
{
	struct file *f = fd < NFD ? file_get((int)fd) : NULL;

	return f != NULL && f->f_kind == FILE_PROFILE ? f->f_profile : NULL;
}

/* Samples are of one request; sums are of any that tell of no overflow. */
static bool
can_serve(const struct kcpc_ctx *ctx, uintptr_t depth)
{
	if ((ctx->kc_flags & KCPC_CTX_LWPINHERIT) == 0 ||
	    depth > CPC_PROFILE_DEPTH)
		return false;
	return depth == 0 ? ctx->kc_notify == 0
	                  : ctx->kc_nreqs == 1 && ctx->kc_notify != 0;
}

int
kcpc_profile_attach(struct lwp *l, uintptr_t fd, uintptr_t depth)
{
	struct kcpc_profile *kp = find(fd);
	struct kcpc_ctx *ctx;
	int err;

	if (kp == NULL)
		return EBADF;
	if ((err = kcpc_find(l, 0, &ctx)) != 0)
		return err;
	if (kp->kp_refs > 1 || !can_serve(ctx, depth))
		return EINVAL;
	if (kcpc_running(ctx))
		kcpc_stop(ctx);
	ctx->kc_flags |= KCPC_CTX_FREEZE | KCPC_CTX_PROFILE;
	ctx->kc_flags &= ~KCPC_CTX_SIGOVF;
	/* No longer a set of the library's. */
	kcpc_instance_remove(ctx);
	ctx->kc_set = 0;
	kcpc_instance_add(ctx);
	/* The LWP's counter page goes with the program. */
	kcpc_page_shut(ctx);
	ctx->kc_pcbe.ps_page = ctx->kc_own;
	ctx->kc_pcbe.ps_user_read = false;
	ctx->kc_profile = kp;
	kp->kp_refs++;
	kp->kp_depth = (unsigned)depth;
	if (ctx->kc_pcbe.ps_urgent != 0) {
		ctx->kc_pcbe.ps_resume = ctx->kc_reqs[0].kr_preset;
		ctx->kc_pcbe.ps_selection = PCBE_UNSELECTED;
	}
	kp->kp_nreqs = ctx->kc_nreqs;
	return 0;
}

int
kcpc_profile_stat(uintptr_t fd, uintptr_t uva)
{
	struct kcpc_profile *kp = find(fd);

	if (kp == NULL)
		return EBADF;
	kp->kp_stat.ct_left = kp->kp_refs - 1; /* but for the file */
	kp->kp_stat.ct_kernel =
	    kcpc_ops->nmi_log != NULL && !witness_counts(CPC_COUNT_SYSTEM);
	return copyout(uva, &kp->kp_stat, sizeof kp->kp_stat);
}

int
kcpc_profile_image(uintptr_t fd, uintptr_t n, uintptr_t uva)
{
	struct kcpc_profile *kp = find(fd);

	return kp != NULL ? kcpc_image_get(kp->kp_images, n, uva) : EBADF;
}

/* The bytes at `at` that are whole samples, and no more than max. */
static size_t
whole(const char *at, size_t there, size_t max)
{
	size_t bytes = 0, n;

	for (; bytes < there; bytes += n) {
		const struct cpc_profile_sample *s =
		    (const struct cpc_profile_sample *)(at + bytes);

		n = sizeof *s + s->cm_nframes * sizeof s->cm_pc[0];
		if (bytes + n > max)
			break;
	}
	return bytes;
}

/* All sums, each time, as far as there is room for whole ones. */
static intptr_t
read_counts(const struct kcpc_profile *kp, uintptr_t uva, size_t len)
{
	size_t n = len / sizeof kp->kp_count[0];

	if (n > kp->kp_nreqs)
		n = kp->kp_nreqs;
	n *= sizeof kp->kp_count[0];
	return copyout(uva, kp->kp_count, n) != 0 ? -EFAULT : (intptr_t)n;
}

intptr_t
kcpc_profile_read(struct kcpc_profile *kp, uintptr_t uva, size_t len)
{
	struct chunk *ch;
	size_t done = 0, n;

	if (kp->kp_depth == 0)
		return read_counts(kp, uva, len);
	while ((ch = kp->kp_first) != NULL) {
		n = whole(ch->ch_data + ch->ch_read, ch->ch_bytes - ch->ch_read,
		    len - done);
		if (n == 0)
			return done > 0 ? (intptr_t)done : -EINVAL;
		if (copyout(uva + done, ch->ch_data + ch->ch_read, n) != 0)
			return done > 0 ? (intptr_t)done : -EFAULT;
		done += n;
		ch->ch_read += n;
		if (ch->ch_read < ch->ch_bytes)
			break;
		kp->kp_first = ch->ch_next;
		page_free(ch, 0);
	}
	if (kp->kp_first == NULL)
		kp->kp_last = NULL;
	return (intptr_t)done;
}
