/* For libfdt's headers: gcc's own one asks for a C library's behind it. */
#ifndef KERNEL_LIMITS_H
#define KERNEL_LIMITS_H

#define INT_MAX __INT_MAX__

#endif /* KERNEL_LIMITS_H */
