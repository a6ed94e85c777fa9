/*
 * history.c: what has been run: the last runs, in shared memory, for emogi_runs.
 *
 * A ring of the latest EMOGI_MAX_RUNS entries. The client writes an entry when its call ends, well or not; whoever asks
 * gets a copy. Runs are numbered from 1; numbers go on when the ring is emptied.
 */
#include "server/emogi.h"

#include "storage/shmem.h"

typedef struct EmogiRuns
{
	/* under EmogiShared.runs_lock */
	uint64		first_id;		/* the oldest run that is kept */
	uint64		next_id;
	EmogiRunEntry entries[EMOGI_MAX_RUNS];	/* that of run id at [id % EMOGI_MAX_RUNS] */
} EmogiRuns;

static EmogiRuns *runs;

Size
emogi_runs_shmem_size(void)
{
	return sizeof(EmogiRuns);
}

/* Set up an empty ring, at server start and after every crash restart. Caller holds AddinShmemInitLock. */
void
emogi_runs_shmem_startup(bool found)
{
	bool		found_runs;

	runs = ShmemInitStruct("emogi runs", emogi_runs_shmem_size(), &found_runs);
	if (found)
		return;
	memset(runs, 0, sizeof *runs);
	runs->first_id = runs->next_id = 1;
}

/* Note in an entry in the making what came of a run; counts and times add up where a call has several. */
void
emogi_runs_note(EmogiRunEntry *run, const EmogiRequest *request, const EmogiReply *reply)
{
	const EmogiResult *result = &reply->result;
	bool		on_gpu;

	strlcpy(run->engine, reply->engine, sizeof run->engine);
	strlcpy(run->reason, reply->reason, sizeof run->reason);
	run->nvertices = request->graph.nvertices;
	run->nedges = request->graph.forward.nedges;
	if (reply->status != EMOGI_OK)
		return;
	on_gpu = result->placement != EMOGI_PLACEMENT_AUTO;
	strlcpy(run->placement, on_gpu ? emogi_placement_name(result->placement) : "", sizeof run->placement);
	strlcpy(run->mapping, on_gpu ? emogi_mapping_name(request->query.mapping) : "", sizeof run->mapping);
	run->transfer_ms += result->transfer_ms;
	run->run_ms += result->run_ms;
	run->nreached += result->nreached;
	run->nlevels = Max(run->nlevels, result->nlevels);
	run->edges_traversed += result->edges_traversed;
	run->link_bytes += result->link_bytes;
}

/* Add a run to the ring, in place of the oldest. Raises nothing, so it may run while a transaction aborts. */
void
emogi_runs_record(const EmogiRunEntry *run)
{
	LWLockAcquire(emogi_shared->runs_lock, LW_EXCLUSIVE);
	runs->entries[runs->next_id % EMOGI_MAX_RUNS] = *run;
	runs->next_id++;
	if (runs->next_id - runs->first_id > EMOGI_MAX_RUNS)
		runs->first_id++;
	LWLockRelease(emogi_shared->runs_lock);
}

/* Copy all runs into entries[EMOGI_MAX_RUNS], oldest first; get their number, and the id of the first. */
int
emogi_runs_copy(EmogiRunEntry *entries, uint64 *first_id)
{
	int			count = 0;

	LWLockAcquire(emogi_shared->runs_lock, LW_SHARED);
	*first_id = runs->first_id;
	for (uint64 id = runs->first_id; id < runs->next_id; id++)
		entries[count++] = runs->entries[id % EMOGI_MAX_RUNS];
	LWLockRelease(emogi_shared->runs_lock);
	return count;
}

/* Empty the ring. */
void
emogi_runs_clear(void)
{
	LWLockAcquire(emogi_shared->runs_lock, LW_EXCLUSIVE);
	runs->first_id = runs->next_id;
	LWLockRelease(emogi_shared->runs_lock);
}
