/*
 * The built-in archive: the default suite and its programs.  ARCHIVE is its
 * path; the Makefile makes it before this file is assembled.
 */
	.section .rodata
	.balign	4096		/* its files at page boundaries can be mapped */
	.globl	archive_builtin, archive_builtin_end
archive_builtin:
	.incbin	ARCHIVE
archive_builtin_end:
	.balign	8

	.section .note.GNU-stack, "", %progbits
