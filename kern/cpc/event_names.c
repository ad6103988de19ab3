/*
 * Operations that describe the PMU to programs.  The library resolves event
 * names itself; it needs the description to know for which PMU.
 */
#include "kern/cpc/kcpc.h"

#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/platform/ksym.h"
#include "lib/string.h"

/*
 * Copy a name to the buffer at a[1] of a[2] bytes.  Returns the bytes that the
 * name has, or -errno.
 */
static intptr_t
name_copyout(const uintptr_t *a, const char *name)
{
	size_t bytes = strlen(name) + 1;
	size_t fits = bytes < a[2] ? bytes : a[2];
	int err = fits > 0 ? copyout(a[1], name, fits) : 0;

	return err != 0 ? -err : (intptr_t)bytes;
}

intptr_t
kcpc_pmu(const uintptr_t *a)
{
	struct cpc_pmu pm = { .pm_kind = 0 };
	uintptr_t type = a[1];

	if (type > kcpc_ops->pcbe_ntypes)
		return -EINVAL;
	kcpc_ops->describe(&pm, (unsigned)type);
	pm.pm_attrs = kcpc_offer[type].ko_attrs;
	pm.pm_pics = (uint32_t)kcpc_offer[type].ko_pics;
	pm.pm_npic = kcpc_offer[type].ko_npic;
	pm.pm_ntypes = kcpc_ops->pcbe_ntypes;
	if (type != 0) {
		const struct pcbe_type *py = &kcpc_ops->pcbe_types[type - 1];

		pm.pm_type = (uint32_t)type;
		strlcpy(pm.pm_name, py->py_name, sizeof pm.pm_name);
		memcpy(pm.pm_cpus, &py->py_cpus, sizeof pm.pm_cpus);
	}
	return -copyout(a[0], &pm, sizeof pm);
}

intptr_t
kcpc_unresolved(const uintptr_t *a)
{
	(void)a;
	kcpc_asked(true);
	return 0;
}

intptr_t
kcpc_impl_name(const uintptr_t *a)
{
	return name_copyout(a, kcpc_ops->impl_name());
}

intptr_t
kcpc_cpuref(const uintptr_t *a)
{
	return name_copyout(a, kcpc_ops->cpuref());
}

intptr_t
kcpc_kernel_symbol(const uintptr_t *a)
{
	uintptr_t offset;
	const char *name = ksym_lookup(a[0], &offset);

	return name[0] == '?' ? -EINVAL : name_copyout(a, name);
}
