/* For libfdt's headers: gcc's own <limits.h> includes the C library's. */
#ifndef KERNEL_LIMITS_H
#define KERNEL_LIMITS_H

#define INT_MAX __INT_MAX__

#endif /* KERNEL_LIMITS_H */
