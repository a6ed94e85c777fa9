/*
 * cancel.c: a thread that cancels a run after a delay.
 */
#include "cancel.h"

#include "threads/pool.h"

#include <time.h>

/* Wait until the delay has passed or the run has returned. */
static void *
wait_and_cancel(void *arg)
{
	EmogiCancel *cancel = arg;
	struct timespec until;
	int64_t		ns;
	bool		late = false;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns = until.tv_nsec + (int64_t) (cancel->after_ms * 1e6);
	until.tv_sec += ns / 1000000000;
	until.tv_nsec = ns % 1000000000;
	pthread_mutex_lock(&cancel->lock);
	while (!cancel->over && !late)
		late = pthread_cond_timedwait(&cancel->wake, &cancel->lock, &until) != 0;
	if (!cancel->over)
	{
		cancel->set_at_ms = emogi_pool_now_ms();
		cancel->control->cancel = 1;
	}
	pthread_mutex_unlock(&cancel->lock);
	return NULL;
}

bool
emogi_cancel_start(EmogiCancel *cancel, EmogiControl *control, double after_ms)
{
	pthread_condattr_t monotonic;

	*cancel = (EmogiCancel) {.control = control, .after_ms = after_ms};
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&cancel->lock, NULL);
	pthread_cond_init(&cancel->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return pthread_create(&cancel->thread, NULL, wait_and_cancel, cancel) == 0;
}

double
emogi_cancel_stop(EmogiCancel *cancel)
{
	pthread_mutex_lock(&cancel->lock);
	cancel->over = true;
	pthread_cond_signal(&cancel->wake);
	pthread_mutex_unlock(&cancel->lock);
	pthread_join(cancel->thread, NULL);
	pthread_cond_destroy(&cancel->wake);
	pthread_mutex_destroy(&cancel->lock);
	return cancel->set_at_ms;
}
