/*
 * The init of a Linux that starts /image by kexec, with the archive /archive.
 * Its words are those of Linux's own command line after "kexec:".
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int
main(void)
{
	static char line[4096];
	int image, archive, fd;
	char *words;

	mkdir("/proc", 0555);
	mount("proc", "/proc", "proc", 0, NULL);
	fd = open("/proc/cmdline", O_RDONLY);
	if (fd < 0 || read(fd, line, sizeof line - 1) < 0)
		perror("/proc/cmdline");
	line[strcspn(line, "\n")] = '\0';
	words = strstr(line, "kexec:");
	words = words != NULL ? words + strlen("kexec:") : line;
	image = open("/image", O_RDONLY);
	archive = open("/archive", O_RDONLY);
	if (syscall(SYS_kexec_file_load, image, archive, strlen(words) + 1,
		words, 0L) != 0)
		perror("kexec_file_load");
	sync();
	syscall(SYS_reboot, 0xfee1deadL, 672274793L, 0x45584543L, 0L);
	perror("reboot");
	reboot(RB_POWER_OFF);
}
