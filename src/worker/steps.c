/*
 * steps.c: the steps of a request that the worker continues without its backend.
 *
 * The lists follow the keys of a build, and the chained run follows the lists
 * (docs/design/calls.md, "One request"). A GPU derives its copies of a graph after a merge.
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "storage/ipc.h"

#include "base/arena.h"
#include "base/compat.h"
#include "call/call.h"
#include "worker/activity.h"
#include "worker/csr_memory.h"
#include "worker/gpu_schedule.h"
#include "worker/schedule.h"
#include "worker/steps.h"

/* Exit or crash at a point of a request if a test requests it. */
void
emogi_steps_inject_fault(const EmogiRequest *request, int at)
{
	if (request->fault_at != at)
		return;
	if (request->fault == EMOGI_WORKER_CRASHES)
		kill(getpid(), SIGKILL);
	if (request->fault == EMOGI_WORKER_EXITS)
		proc_exit(1);
}

/* Pass some work to its thread. */
void
emogi_steps_dispatch(EmogiWork *work)
{
	emogi_activity_begin(work);
	emogi_threads_start_work(work);
}

/*
 * After a merge, let a free GPU that may have copies of the old graph derive its copies of the new
 * graph: before any request for the new graph, and while the changes still exist. False if there is
 * nothing to do, or it cannot be done. Small graphs are excluded, because they are moved when
 * published, and their copies would not be found.
 */
static bool
start_derive(const EmogiWork *work)
{
	EmogiWork  *next;
	int			gpu;

	if (work->derives || work->request.derived_id == 0 ||
		work->reply.graph.memory_bytes <= EMOGI_SMALL_BYTES ||
		(gpu = emogi_gpu_schedule_choose_deriving(work)) == EMOGI_NO_GPU)
		return false;
	next = emogi_threads_idle_job();	/* at least the one of the thread that has just finished */
	emogi_schedule_count(work, -1);
	*next = *work;
	next->derives = true;
	next->gpu = gpu;
	emogi_schedule_count(next, 1);
	emogi_steps_dispatch(next);
	return true;
}

/*
 * After the vertices of a graph, start to make its CSR. Return false if the request has ended, or
 * if the backend must make room in the arena first.
 */
static bool
start_lists(const EmogiWork *work)
{
	EmogiWork  *next;

	if (work->request.only_keys || work->slot->control.cancel)
		return false;
	next = emogi_threads_idle_job();	/* at least the one of the thread that has just finished */
	*next = *work;
	if (next->request.makes_dictionary)
		emogi_arena_free_owner(EMOGI_OWNER_KEYS(next->slot - emogi_shared->slots));
	if (!emogi_csr_memory_alloc(next))
		return false;
	emogi_schedule_count(work, -1);
	next->request.kind = EMOGI_REQUEST_CSR;
	next->request.keys = next->reply.keys;
	next->slot->control.phase = EMOGI_PHASE_CSR;
	emogi_schedule_count(next, 1);
	emogi_steps_inject_fault(&next->request, EMOGI_REQUEST_CSR);
	emogi_steps_dispatch(next);
	return true;
}

/* Let the backend go on with a graph that is complete, while its query runs. */
static void
answer_build(EmogiSlot *slot, const EmogiReply *reply)
{
	slot->built = *reply;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	slot->is_built = true;
	LWLockRelease(emogi_shared->lock);
	ConditionVariableBroadcast(&slot->answered);
}

/*
 * After the CSR of a graph, start the query that is chained to its build. Return false if there is
 * none, or if the backend must request it: because a GPU runs it, because its turn has not come, or
 * because its memory is not at hand. The scratch memory of the CSR is freed first, for its result.
 */
static bool
start_chained(EmogiWork *work)
{
	EmogiWork  *next;

	if (!work->request.chains || work->slot->control.cancel)
		return false;
	next = emogi_threads_idle_job();	/* at least the one of the thread that has just finished */
	*next = *work;
	next->request.kind = EMOGI_REQUEST_RUN;
	next->request.graph = next->reply.graph;
	if (emogi_threads_uses_gpu(&next->request) || emogi_schedule_is_long(&next->request))
		return false;
	if (work->reply.scratch != NULL)
		emogi_arena_free(work->reply.scratch, work->reply.scratch_bytes);
	work->reply.scratch = next->reply.scratch = NULL;
	if (!emogi_csr_memory_alloc_result(next))
		return false;
	next->reply.result = next->request.result;
	next->slot->control.phase = EMOGI_PHASE_RUN;
	answer_build(next->slot, &next->reply);
	emogi_steps_inject_fault(&next->request, EMOGI_REQUEST_RUN);
	emogi_steps_dispatch(next);
	return true;
}

/* Start the next step of a request that has finished one; false if there is none. */
bool
emogi_steps_next(EmogiWork *work)
{
	if (work->kind != EMOGI_WORK_REQUEST || work->reply.status != EMOGI_OK)
		return false;
	if (work->request.kind == EMOGI_REQUEST_BUILD)
		return start_lists(work);
	if (work->request.kind == EMOGI_REQUEST_CSR)
		return start_chained(work);
	return work->request.kind == EMOGI_REQUEST_MERGE && start_derive(work);
}
