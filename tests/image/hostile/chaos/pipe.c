/* Acts on pipes and descriptors. */
#define _GNU_SOURCE
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writers of one pipe: each record arrives whole, in its writer's order. */
#define RECORD_MAX 1500
#define WRITERS    3
#define RECORDS    12

struct record {
	uint16_t bytes; /* with this header */
	uint8_t writer, number;
};

struct writer {
	int fd;
	uint8_t name;
	uint64_t random;
};

static int
new_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC) == 0)
		return 0;
	CHAOS_EXPECT(errno == ENOMEM || errno == EMFILE);
	return -1;
}

/* Write a record, from one piece of memory or from two. */
static void
write_record(const struct writer *w, const struct record *r)
{
	struct iovec iov[2] = { { (void *)(uintptr_t)r, sizeof *r },
		{ (void *)(uintptr_t)(r + 1), r->bytes - sizeof *r } };
	ssize_t got;

	do {
		got = chaos_one_in(2) ? write(w->fd, r, r->bytes)
		                      : writev(w->fd, iov, 2);
	} while (got == -1 && (errno == EINTR || errno == ENOMEM));
	CHAOS_EXPECT(got == r->bytes || (got == -1 && errno == EPIPE));
}

static void
write_records(const struct writer *w)
{
	unsigned char buf[RECORD_MAX];
	struct record *r = (struct record *)buf;

	memset(buf, w->name, sizeof buf);
	r->writer = w->name;
	for (r->number = 0; r->number < RECORDS; r->number++) {
		r->bytes =
		    (uint16_t)(sizeof *r + chaos_below(RECORD_MAX - sizeof *r));
		write_record(w, r);
	}
}

static void *
run_writer(void *arg)
{
	const struct writer *w = arg;

	chaos_self.chl_doing = "writing to a pipe";
	chaos_self.chl_random = w->random;
	write_records(w);
	close(w->fd);
	return NULL;
}

/* Read exactly so many bytes.  Returns false at the end of the stream. */
static bool
read_bytes(int fd, void *to, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t got = read(fd, (char *)to + done, bytes - done);

		if (got == -1 && errno == EINTR)
			continue;
		if (got == 0 && done == 0)
			return false;
		if (!CHAOS_EXPECT(got > 0))
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Read to the end, and count the records of each writer. */
static void
read_records(int fd, unsigned seen[WRITERS])
{
	unsigned char buf[RECORD_MAX];
	struct record r;

	while (read_bytes(fd, &r, sizeof r)) {
		if (!CHAOS_EXPECT(r.writer < WRITERS && r.bytes <= RECORD_MAX &&
				  r.bytes >= sizeof r))
			return;
		CHAOS_EXPECT(r.number == seen[r.writer]);
		seen[r.writer]++;
		if (!read_bytes(fd, buf, r.bytes - sizeof r))
			CHAOS_EXPECT(r.bytes == sizeof r);
		for (size_t i = 0; i < r.bytes - sizeof r; i++) {
			if (!CHAOS_EXPECT(buf[i] == r.writer))
				return;
		}
	}
}

/* The writer is a copy, which a SIGKILL may end, and the stream with it. */
static void
from_a_copy(int fd[2])
{
	struct writer w = { fd[1], 0, 0 };
	unsigned seen[WRITERS] = { 0 };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		close(fd[0]);
		write_records(&w);
		_exit(0);
	}
	close(fd[1]);
	if (pid < 0)
		CHAOS_EXPECT(errno == ENOMEM || errno == EAGAIN);
	read_records(fd[0], seen);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		CHAOS_EXPECT(seen[0] == RECORDS);
	close(fd[0]);
}

void
chaos_act_pipe(void)
{
	struct writer w[WRITERS];
	unsigned seen[WRITERS] = { 0 }, n;
	pthread_t t[WRITERS];
	int fd[2];

	if (new_pipe(fd) != 0)
		return;
	if (chaos_self.chl_alone || chaos_one_in(2)) {
		from_a_copy(fd);
		return;
	}
	for (n = 0; n < WRITERS; n++) {
		w[n] = (struct writer){ fcntl(fd[1], F_DUPFD_CLOEXEC, 0),
			(uint8_t)n, chaos_below(UINT64_MAX) };
		if (w[n].fd == -1)
			break;
		if (pthread_create(&t[n], NULL, run_writer, &w[n]) != 0) {
			close(w[n].fd);
			break;
		}
	}
	close(fd[1]);
	read_records(fd[0], seen);
	close(fd[0]); /* after an error, no writer waits */
	for (unsigned i = 0; i < n; i++) {
		CHAOS_EXPECT(pthread_join(t[i], NULL) == 0);
		CHAOS_EXPECT(seen[i] == RECORDS);
	}
}

/* Descriptors that all LWPs open, close and use at once. */
#define SHARED  48
#define NSHARED 6

static int
shared_descriptor(void)
{
	return SHARED + (int)chaos_below(NSHARED);
}

void
chaos_act_descriptors(void)
{
	char buf[64] = { 0 };
	struct iovec iov[2] = { { buf, 10 }, { buf, 20 } };
	int fd[2], at;

	for (uint64_t n = chaos_below(16); n > 0; n--) {
		switch (chaos_below(8)) {
		case 0:
			if (new_pipe(fd) != 0)
				break;
			at = shared_descriptor();
			fcntl(fd[0], F_SETFL, O_NONBLOCK);
			fcntl(fd[1], F_SETFL, O_NONBLOCK);
			dup2(fd[0], at);
			dup3(fd[1], shared_descriptor(), O_CLOEXEC);
			close(fd[0]);
			close(fd[1]);
			break;
		case 1:
			close(shared_descriptor());
			break;
		case 2:
			dup2(shared_descriptor(), shared_descriptor());
			break;
		case 3:
			(void)!read(shared_descriptor(), buf, sizeof buf);
			break;
		case 4:
			(void)!write(
			    shared_descriptor(), buf, chaos_below(sizeof buf));
			break;
		case 5:
			readv(shared_descriptor(), iov, 2);
			break;
		case 6:
			writev(shared_descriptor(), iov, 2);
			break;
		default:
			fcntl(
			    shared_descriptor(), F_SETFD, (int)chaos_below(2));
			break;
		}
	}
}

/* poll(2) of a pipe without data, and of one that can be written. */
void
chaos_act_poll(void)
{
	struct pollfd p[2];
	int fd[2], got;

	if (new_pipe(fd) != 0)
		return;
	p[0] = (struct pollfd){ fd[0], POLLIN, -1 };
	p[1] = (struct pollfd){ fd[1], POLLOUT, -1 };
	got = poll(p, 1, chaos_one_in(4) ? 1 : 0);
	CHAOS_EXPECT(got == 0 || (got == -1 && errno == EINTR));
	got = poll(p, 2, 1000);
	CHAOS_EXPECT(got == 1 && p[0].revents == 0 && p[1].revents == POLLOUT);
	close(fd[1]);
	got = poll(p, 1, 1000);
	/* A copy that another LWP made may keep this end open. */
	CHAOS_EXPECT(got <= 1);
	close(fd[0]);
}
