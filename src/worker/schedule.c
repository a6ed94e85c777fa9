/*
 * schedule.c: which request is next.
 *
 * Scheduling is start-time fair queueing, after Goyal, Vin and Cheng, "Start-time Fair Queuing",
 * SIGCOMM 1996, section 2. Each backend has a clock of the engine time it has used, in ms, and
 * stamps its requests with it. The lowest stamp is served first; ties are broken by the lowest
 * ticket. Short calls thus overtake the long runs of others, and all waiting backends get the same
 * share. vclock_ms is the highest stamp served so far. New clocks start there, and a clock that
 * lags by more than EMOGI_CREDIT_MS is advanced, so that idle backends do not accumulate credit.
 *
 * Because running requests are not interrupted, two kinds of requests may have to wait while others
 * pass them: requests for a GPU while all GPUs are busy, and requests expected to be long while
 * EMOGI_LONG_THREADS such requests are running. A thread is therefore soon available for a short
 * request, and the operating system gives it its share of the processors. gpu_schedule.c assigns
 * the GPUs.
 *
 * A request expected to be short may still run for hours. The requests of one role, unless it is a
 * superuser, therefore never occupy all threads or all places for long requests: one of each is
 * reserved for other roles.
 */
#include "postgres.h"

#include "contract/sample.h"
#include "base/compat.h"
#include "worker/schedule.h"

/*
 * A run on the CPU that may examine more edges than this (about a second on two processors) is
 * long.
 */
#define EMOGI_LONG_EDGES 500e6
#define EMOGI_LONG_THREADS 3	/* one role gets at most all but one */

static int	nlong = 0;			/* running long requests */
static int	nprocessing = 0;	/* running requests, except for those on a GPU */

/* Check whether slot `a` comes before slot `b`. */
static bool
is_before(const EmogiSlot *a, const EmogiSlot *b)
{
	if (b == NULL)
		return true;
	return a->vtime_ms < b->vtime_ms || (a->vtime_ms == b->vtime_ms && a->ticket < b->ticket);
}

/*
 * Get the maximum number of times that a run reads all edges. For iterations this is the limit set
 * by the caller.
 */
static double
count_passes(const EmogiRequest *request)
{
	const EmogiQuery *query = &request->query;

	if (emogi_algorithm_takes(emogi_algorithm_row(query->algorithm), EMOGI_SAMPLES) >= 0)
		return (double) emogi_sample_count(request->graph.nvertices, query);
	if (emogi_algorithm_row(query->algorithm)->shape == EMOGI_SHAPE_AGGREGATES)
		return (double) query->nsources / EMOGI_MSBFS_SOURCES;
	return (double) Max(query->max_iterations, 1);
}

/* Check whether a request is expected to be long. */
bool
emogi_schedule_is_long(const EmogiRequest *request)
{
	return request->kind >= EMOGI_REQUEST_RUN && request->kind != EMOGI_REQUEST_PATH &&
		!emogi_threads_uses_gpu(request) &&
		(double) request->graph.forward.nedges * count_passes(request) > EMOGI_LONG_EDGES;
}

/*
 * Check whether the role of a slot may run one more request on the CPU. Caller holds
 * EmogiShared.lock.
 */
static bool
role_may_start(const EmogiSlot *slot)
{
	const EmogiAccount *account = &emogi_shared->accounts[slot - emogi_shared->slots];
	int			nrequests = 0;
	int			nlong_requests = 0;

	for (int i = 0; i < EMOGI_NSLOTS && account->limited; i++)
	{
		const EmogiSlot *other = &emogi_shared->slots[i];

		if ((other->state != EMOGI_SLOT_RUNNING && other->state != EMOGI_SLOT_ORPHAN) ||
			!emogi_shared->accounts[i].limited ||
			emogi_shared->accounts[i].userid != account->userid ||
			emogi_threads_uses_gpu(&other->request))
			continue;
		nrequests++;
		nlong_requests += emogi_schedule_is_long(&other->request);
	}
	return nrequests < EMOGI_WORKER_REQUESTS - 1 &&
		(nlong_requests < EMOGI_LONG_THREADS - 1 || !emogi_schedule_is_long(&slot->request));
}

/* Check whether a request can be started now. Caller holds EmogiShared.lock. */
static bool
can_start(const EmogiSlot *slot, uint32 free_gpus)
{
	if (emogi_threads_uses_gpu(&slot->request))
		return free_gpus != 0;
	return nprocessing < EMOGI_WORKER_REQUESTS &&
		(nlong < EMOGI_LONG_THREADS || !emogi_schedule_is_long(&slot->request)) &&
		role_may_start(slot);
}

/* Pick the next QUEUED slot that can be started, and make it RUNNING; NULL if there is none. */
EmogiSlot *
emogi_schedule_pick(void)
{
	const uint32 free_gpus = emogi_gpus_free();
	EmogiSlot  *first = NULL;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
	{
		EmogiSlot  *slot = &emogi_shared->slots[i];

		if (slot->state == EMOGI_SLOT_QUEUED && is_before(slot, first) &&
			can_start(slot, free_gpus))
			first = slot;
	}
	if (first != NULL)
	{
		first->state = EMOGI_SLOT_RUNNING;
		first->reply.started_ms = emogi_pool_now_ms();
		emogi_shared->vclock_ms = Max(emogi_shared->vclock_ms, first->vtime_ms);
	}
	LWLockRelease(emogi_shared->lock);
	return first;
}

/* Count a request that starts (change = 1) or has ended (-1). */
void
emogi_schedule_count(const EmogiWork *work, int change)
{
	if (work->gpu == EMOGI_NO_GPU)
		nprocessing += change;
	if (emogi_schedule_is_long(&work->request))
		nlong += change;
}
