# lib/: strings, text and printf.  It knows no machine, and is built for the host tests, too.
LIB_OBJS := $(addprefix lib/,string.o printf.o text.o font.o popcount.o)
