/* For libfdt's headers: gcc's own one asks for a C library's behind it. */
#define INT_MAX __INT_MAX__
