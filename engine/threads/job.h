/*
 * job.h: state shared by the threads of one long step: cancellation, failure and progress.
 *
 * A job fails once: the first status other than EMOGI_OK stays. Every thread polls
 * emogi_job_stopped and leaves its loop when it returns true. The main thread turns the status into
 * a message after the step.
 */
#ifndef EMOGI_JOB_H
#define EMOGI_JOB_H

#include "pool.h"

typedef struct EmogiJob
{
	EmogiControl *control;
	uint32_t	status;			/* EmogiStatus; written by any thread, first failure wins */
	uint32_t	nallocations;	/* allocations so far, counted by any thread during fault
								 * injection */
} EmogiJob;

/* Fail the job with this status, unless it has failed already. */
static inline void
emogi_job_fail(EmogiJob *job, EmogiStatus status)
{
	uint32_t	ok = EMOGI_OK;

	__atomic_compare_exchange_n(&job->status, &ok, (uint32_t) status, false, __ATOMIC_RELAXED,
								__ATOMIC_RELAXED);
}

/* Check whether the threads must stop because the job was canceled or has failed. */
static inline bool
emogi_job_stopped(EmogiJob *job)
{
	if (__atomic_load_n(&job->control->cancel, __ATOMIC_RELAXED) != 0)
		emogi_job_fail(job, EMOGI_CANCELED);
	return __atomic_load_n(&job->status, __ATOMIC_RELAXED) != EMOGI_OK;
}

/* Check whether an allocation may proceed; false if fault injection makes this one fail. */
static inline bool
emogi_job_may_allocate(EmogiJob *job)
{
	const uint32_t which = job->control->fail_allocation;

	return which == 0 || __atomic_add_fetch(&job->nallocations, 1, __ATOMIC_RELAXED) != which;
}

/* Populate pages that are mapped already, as emogi_pool_populate does; false if out of memory. */
static inline bool
emogi_job_populate(EmogiJob *job, void *start, size_t bytes)
{
	return emogi_job_may_allocate(job) && emogi_pool_populate(start, bytes);
}

/* Add an amount to control->done. */
static inline void
emogi_job_done(EmogiJob *job, uint64_t amount)
{
	__atomic_fetch_add(&job->control->done, amount, __ATOMIC_RELAXED);
}

/* Start a phase of `total` units of work. */
static inline void
emogi_job_phase(EmogiJob *job, EmogiPhase phase, uint64_t total)
{
	__atomic_store_n(&job->control->phase, (uint32_t) phase, __ATOMIC_RELAXED);
	__atomic_store_n(&job->control->done, UINT64_C(0), __ATOMIC_RELAXED);
	__atomic_store_n(&job->control->total, total, __ATOMIC_RELAXED);
}

/* Claim the next `step` units of a shared counter; the caller compares the result with the end. */
static inline uint64_t
emogi_job_claim(uint64_t *counter, uint64_t step)
{
	return __atomic_fetch_add(counter, step, __ATOMIC_RELAXED);
}

/* Claim the next of `count` units as *unit; false if none is left, or the threads must stop. */
static inline bool
emogi_job_take(EmogiJob *job, uint64_t *counter, uint64_t count, uint64_t *unit)
{
	return !emogi_job_stopped(job) && (*unit = emogi_job_claim(counter, 1)) < count;
}

/* Claim the next chunk, [*first, *end), of `count` units; false as emogi_job_take. */
static inline bool
emogi_job_take_chunk(EmogiJob *job, uint64_t *counter, uint64_t step, uint64_t count,
					 uint64_t *first, uint64_t *end)
{
	if (emogi_job_stopped(job) || (*first = emogi_job_claim(counter, step)) >= count)
		return false;
	*end = count - *first < step ? count : *first + step;
	return true;
}

#endif							/* EMOGI_JOB_H */
