/*
 * job.h: what the threads of one long step share: may they go on, and how far are they.
 *
 * A job fails once: the first status that is not EMOGI_OK stays, and every thread that asks emogi_job_stopped leaves
 * its loop. The main thread turns the status into a message when the step is over.
 */
#ifndef EMOGI_JOB_H
#define EMOGI_JOB_H

#include "pool.h"

typedef struct EmogiJob
{
	EmogiControl *control;
	uint32_t	status;			/* EmogiStatus; written by any thread, first failure wins */
	uint32_t	nallocations;	/* counted by any thread, when a test wants one to fail */
} EmogiJob;

/* End the job with status unless it has failed already. */
static inline void
emogi_job_fail(EmogiJob *job, EmogiStatus status)
{
	uint32_t	ok = EMOGI_OK;

	__atomic_compare_exchange_n(&job->status, &ok, (uint32_t) status, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Say whether the threads must leave: canceled from outside or failed inside. */
static inline bool
emogi_job_stopped(EmogiJob *job)
{
	if (__atomic_load_n(&job->control->cancel, __ATOMIC_RELAXED) != 0)
		emogi_job_fail(job, EMOGI_CANCELED);
	return __atomic_load_n(&job->status, __ATOMIC_RELAXED) != EMOGI_OK;
}

/* Ask before taking memory: false when a test wants this allocation to fail. */
static inline bool
emogi_job_may_allocate(EmogiJob *job)
{
	const uint32_t which = job->control->fail_allocation;

	return which == 0 || __atomic_add_fetch(&job->nallocations, 1, __ATOMIC_RELAXED) != which;
}

/* Take the memory of pages that are mapped already, as emogi_pool_populate does; false when there is none. */
static inline bool
emogi_job_populate(EmogiJob *job, void *start, size_t bytes)
{
	return emogi_job_may_allocate(job) && emogi_pool_populate(start, bytes);
}

/* Add to what is done of control->total. */
static inline void
emogi_job_done(EmogiJob *job, uint64_t amount)
{
	__atomic_fetch_add(&job->control->done, amount, __ATOMIC_RELAXED);
}

/* Begin a phase of `total` units. */
static inline void
emogi_job_phase(EmogiJob *job, EmogiPhase phase, uint64_t total)
{
	__atomic_store_n(&job->control->phase, (uint32_t) phase, __ATOMIC_RELAXED);
	__atomic_store_n(&job->control->done, UINT64_C(0), __ATOMIC_RELAXED);
	__atomic_store_n(&job->control->total, total, __ATOMIC_RELAXED);
}

/* Take the next `step` units of a shared counter; the caller compares with its end. */
static inline uint64_t
emogi_job_take(uint64_t *counter, uint64_t step)
{
	return __atomic_fetch_add(counter, step, __ATOMIC_RELAXED);
}

#endif							/* EMOGI_JOB_H */
