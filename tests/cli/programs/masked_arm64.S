/* A CPU that never comes back, at system privilege, for tests/cli/kernel/deadline.sh. */
	.globl main
main:	msr daifset, #2
	b .
