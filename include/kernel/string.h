/* For libfdt's headers, which ask for the C library's by this name. */
#include "lib/string.h"
