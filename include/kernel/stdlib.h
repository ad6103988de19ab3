/* For libfdt's headers, which include this and use nothing of it. */
#ifndef KERNEL_STDLIB_H
#define KERNEL_STDLIB_H

#endif /* KERNEL_STDLIB_H */
