/*
 * remote_cancel.c: cancellation of statements on servers within a bounded time
 *
 * PQcancel blocks on the network, for minutes if the network hangs. It is thread-safe, so separate
 * threads call it, which touch no state of PostgreSQL and receive no signals. The caller waits for
 * them for a limited time; threads still running then finish by themselves, long after their
 * connection has been closed.
 */
#include "postgres.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "remote/remote_internal.h"

/* Maximum time that a caller waits, and maximum number of threads. */
#define MAX_WAIT_MS 500
#define MAX_THREADS 16

/* Cancels in progress; allocated with malloc, and freed by the last holder. */
typedef struct Cancels
{
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	int			nholders;		/* threads and the caller; protected by the mutex, like all below */
	int			next;			/* the next cancel to take */
	int			ndone;
	int			count;
	PGcancel   *cancels[FLEXIBLE_ARRAY_MEMBER];	/* [count] */
} Cancels;

/* Release a reference to cancels, whose mutex is held. */
static void
leave(Cancels *cancels)
{
	const bool	is_last = --cancels->nholders == 0;

	pthread_mutex_unlock(&cancels->mutex);
	if (!is_last)
		return;
	for (int i = 0; i < cancels->count; i++)
		PQfreeCancel(cancels->cancels[i]);
	pthread_cond_destroy(&cancels->ended);
	pthread_mutex_destroy(&cancels->mutex);
	free(cancels);
}

/* Main function of a thread. */
static void *
send_cancels(void *arg)
{
	Cancels    *cancels = arg;

	pthread_mutex_lock(&cancels->mutex);
	while (cancels->next < cancels->count)
	{
		PGcancel   *cancel = cancels->cancels[cancels->next++];
		char		error[256];

		pthread_mutex_unlock(&cancels->mutex);
		(void) PQcancel(cancel, error, sizeof error);
		pthread_mutex_lock(&cancels->mutex);
		cancels->ndone++;
	}
	pthread_cond_signal(&cancels->ended);
	leave(cancels);
	return NULL;
}

/* Start a thread that receives no signals; return false on failure. */
static bool
start_thread(Cancels *cancels)
{
	sigset_t	all;
	sigset_t	old;
	pthread_t	thread;
	bool		started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	started = pthread_create(&thread, NULL, send_cancels, cancels) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

/* Wait until all are done, or until the timeout; the mutex is held. */
static void
wait_for_all(Cancels *cancels)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += MAX_WAIT_MS * INT64CONST(1000000);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (cancels->ndone < cancels->count &&
		   pthread_cond_timedwait(&cancels->ended, &cancels->mutex, &until) == 0)
		;
}

/* Cancel the running statements of these connections, which stay open. Raises nothing. */
void
emogi_remote_cancel(List *connections)
{
	Cancels    *cancels =
		calloc(1, offsetof(Cancels, cancels) + list_length(connections) * sizeof(PGcancel *));
	ListCell   *cell;

	if (cancels == NULL)
		return;
	foreach(cell, connections)
	{
		PGconn	   *conn = ((EmogiRemoteConnection *) lfirst(cell))->conn;
		PGcancel   *cancel = NULL;

		if (conn != NULL && PQstatus(conn) == CONNECTION_OK &&
			PQtransactionStatus(conn) == PQTRANS_ACTIVE)
			cancel = PQgetCancel(conn);
		if (cancel != NULL)
			cancels->cancels[cancels->count++] = cancel;
	}
	pthread_mutex_init(&cancels->mutex, NULL);
	pthread_cond_init(&cancels->ended, NULL);
	pthread_mutex_lock(&cancels->mutex);
	cancels->nholders = 1;
	for (int i = 0; i < Min(cancels->count, MAX_THREADS); i++)
		cancels->nholders += start_thread(cancels);
	if (cancels->nholders > 1)
		wait_for_all(cancels);
	leave(cancels);
}
