/* cpc_shared_open(3CPC): counters of the CPU that the thread is bound to. */
#include "../common.h"

#include <sys/processor.h>
#include <sys/procset.h>
#include <sys/types.h>
#include <unistd.h>

const char program[] = "v1_shared";

static void
bind_to(processorid_t cpu)
{
	if (processor_bind(P_LWPID, P_MYID, cpu, NULL) == -1)
		error("cannot bind to processor %d", (int)cpu);
}

static uint64_t
count(int fd, uint64_t turns)
{
	cpc_event_t before, after;

	CHECK(cpc_shared_take_sample(fd, &before) == 0);
	loop(turns);
	CHECK(cpc_shared_take_sample(fd, &after) == 0);
	return after.ce_pic[0] - before.ce_pic[0];
}

int
main(void)
{
	int cpuver = cpc_getcpuver(), cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int cpu, fd, fd2;
	cpc_event_t event, sample;
	uint64_t once;

	CHECK(cpc_access() == 0);
	CHECK(
	    cpc_strtoevent(cpuver, "pic0=" EVENT ",pic1=" EVENT, &event) == 0);
	FAILS(cpc_shared_open(), EINVAL); /* not bound to a CPU */
	for (cpu = 0; cpu < cpus; cpu++) {
		CHECK(cpc_bind_event(&event, 0) == 0);
		bind_to(cpu);
		CHECK((fd = cpc_shared_open()) != -1);
		/* The contexts of LWPs are invalid now, everywhere. */
		FAILS(cpc_take_sample(&sample), EAGAIN);
		CHECK(cpc_rele() == 0);
		FAILS(cpc_bind_event(&event, 0), EAGAIN);
		FAILS(cpc_access(), EAGAIN);
		FAILS(cpc_shared_open(), EAGAIN);
		FAILS(cpc_shared_take_sample(fd, &sample), EINVAL);
		CHECK(cpc_shared_bind_event(fd, &event, CPC_BIND_LWP_INHERIT) ==
		      -1);
		CHECK(
		    cpc_shared_bind_event(fd, &event, CPC_BIND_EMT_OVF) == -1);
		CHECK(cpc_shared_bind_event(fd, &event, 0) == 0);
		once = count(fd, 1000);
		EQUAL(count(fd, 2000) - once, 2 * 1000);
		CHECK(cpc_shared_rele(fd) == 0);
		FAILS(cpc_shared_take_sample(fd, &sample), EINVAL);
		CHECK(cpc_shared_bind_event(fd, &event, 0) == 0);
		EQUAL(count(fd, 1000), once);
		/* Unbound, the thread cannot sample. */
		bind_to(PBIND_NONE);
		FAILS(cpc_shared_take_sample(fd, &sample), EAGAIN);
		cpc_shared_close(fd);
		CHECK(cpc_bind_event(&event, 0) == 0);
		CHECK(cpc_take_sample(&sample) == 0);
		CHECK(cpc_rele() == 0);
	}
	if (cpus > 1) {
		bind_to(0);
		CHECK((fd = cpc_shared_open()) != -1);
		bind_to(1);
		CHECK((fd2 = cpc_shared_open()) != -1);
		CHECK(cpc_shared_bind_event(fd2, &event, 0) == 0);
		cpc_shared_close(fd2);
		/* "until the last caller invokes cpc_shared_close()" */
		FAILS(cpc_bind_event(&event, 0), EAGAIN);
		cpc_shared_close(fd);
		CHECK(cpc_bind_event(&event, 0) == 0);
		CHECK(cpc_rele() == 0);
	}
	return finish();
}
