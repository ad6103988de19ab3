#include <libcpc.h> /* Solaris's programs find in this header what libcpc.h has */
