/* For libfdt's headers, which ask for the C library's by this name. */
#ifndef KERNEL_STRING_H
#define KERNEL_STRING_H

#include "lib/string.h"

#endif /* KERNEL_STRING_H */
