/*
 * watchdog.c: a thread that ends the engine worker if it outlives the postmaster.
 *
 * When the postmaster dies, the main thread exits by itself (sleep_main in worker.c), unless it
 * waits for a lock of a process that was killed after the postmaster. Nobody releases such a lock,
 * and waiting for a LWLock cannot be interrupted.
 */
#include "postgres.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "postmaster/postmaster.h"

#include "worker/watchdog.h"

/* How long the worker may outlive the postmaster; an ordinary exit takes milliseconds. */
#define EMOGI_ORPHAN_SECONDS 5

/* Main function of the thread: wait for the end of the postmaster, then end the process. */
static void *
watchdog_main(void *arg)
{
	struct pollfd postmaster = {.fd = postmaster_alive_fds[POSTMASTER_FD_WATCH], .events = POLLIN};

	/* the pipe has nothing to read, but ends when the postmaster does */
	while (poll(&postmaster, 1, -1) <= 0)
		;
	sleep(EMOGI_ORPHAN_SECONDS);
	_exit(1);
}

/* Start the thread; returns 0, or why it cannot be started. */
int
emogi_watchdog_start(void)
{
	sigset_t	all;
	sigset_t	before;
	pthread_t	thread;
	int			rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);	/* signals are for the main thread */
	rc = pthread_create(&thread, NULL, watchdog_main, NULL);
	if (rc == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}
