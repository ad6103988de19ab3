/* A CPU that never comes back, at system privilege, for tests/cli/kernel/deadline.sh. */
	.globl main
main:	cli
	jmp .
	.section .note.GNU-stack, "", @progbits
