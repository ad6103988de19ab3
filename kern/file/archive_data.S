/*
 * The built-in archive: the default suite and its programs.  The Makefile
 * builds it at path ARCHIVE before it assembles this file.
 */
	.section .rodata
	.balign	4096		/* files at page boundaries can be mapped */
	.globl	archive_builtin, archive_builtin_end
archive_builtin:
	.incbin	ARCHIVE
archive_builtin_end:
	.balign	8

	.section .note.GNU-stack, "", %progbits
