/* Solaris's programs find in this header what <libcpc.h> has. */
#ifndef LIBCPC_IMPL_H
#define LIBCPC_IMPL_H
#include <libcpc.h>
#endif /* LIBCPC_IMPL_H */
