/*
 * remote_cancel.c: statements at servers, cancelled in a time that is known.
 *
 * PQcancel waits for the network, and where that stands still for minutes. It may be called in a
 * thread, so threads of our own call it, which touch nothing of PostgreSQL, and take no signals.
 * The caller waits for them for a while; what is left then ends by itself, with the connection that
 * it is of long closed.
 */
#include "postgres.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "remote/remote_internal.h"

/* So long a caller waits, and so many threads there are at most. */
#define MOST_MS 500
#define MOST_THREADS 16

/* Cancels that are under way; allocated by malloc, and freed by the last who has it. */
typedef struct Cancels
{
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	int			nholders;		/* under the mutex, as all below: threads, and the caller */
	int			next;			/* that no thread has taken yet */
	int			ndone;
	int			count;
	PGcancel   *cancels[FLEXIBLE_ARRAY_MEMBER];	/* [count] */
} Cancels;

/* Let go of cancels, whose mutex is held. */
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

/* Start a thread that takes no signals; false when there can be none. */
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

/* Wait until all are done, or for as long as a caller waits; the mutex is held. */
static void
wait_for_all(Cancels *cancels)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += MOST_MS * INT64CONST(1000000);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (cancels->ndone < cancels->count &&
		   pthread_cond_timedwait(&cancels->ended, &cancels->mutex, &until) == 0)
		;
}

/* Cancel what servers are at for these connections, which stay open. Raises nothing. */
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
	for (int i = 0; i < Min(cancels->count, MOST_THREADS); i++)
		cancels->nholders += start_thread(cancels);
	if (cancels->nholders > 1)
		wait_for_all(cancels);
	leave(cancels);
}
