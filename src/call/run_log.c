/*
 * run_log.c: what has been run: the last runs, in shared memory, for emogi_runs.
 *
 * A ring of the latest entries, emogi.run_entries of them. A call writes an entry when it ends,
 * well or not; whoever asks gets a copy. Runs are numbered from 1; numbers go on when the ring is
 * emptied.
 */
#include "postgres.h"

#include "storage/shmem.h"

#include "call/call.h"
#include "base/papers_settings.h"

/* So many entries are copied at a time: calls that end meanwhile wait for no more. */
#define EMOGI_COPIED_RUNS 256

typedef struct EmogiRunLog
{
	/* under EmogiShared.history_lock */
	uint64		first_id;		/* the oldest run that is kept */
	uint64		next_id;
	/* that of run id at [id % emogi_course_entries] */
	EmogiCallRecord entries[FLEXIBLE_ARRAY_MEMBER];
} EmogiRunLog;

static EmogiRunLog *history;

Size
emogi_run_log_shmem_size(void)
{
	return add_size(offsetof(EmogiRunLog, entries),
					mul_size(emogi_course_entries, sizeof(EmogiCallRecord)));
}

/*
 * Set up an empty ring, at server start and after every crash restart. Caller holds
 * AddinShmemInitLock.
 */
void
emogi_run_log_shmem_startup(bool found)
{
	bool		found_history;

	history = ShmemInitStruct("emogi history", emogi_run_log_shmem_size(), &found_history);
	if (found)
		return;
	memset(history, 0, emogi_run_log_shmem_size());
	history->first_id = history->next_id = 1;
}

/*
 * Note in an entry in the making what came of a run; counts and times add up where a call has
 * several.
 */
void
emogi_run_log_note(EmogiCallRecord *run, const EmogiRequest *request, const EmogiReply *reply)
{
	const EmogiResult *result = &reply->result;
	bool		on_gpu;

	strlcpy(run->engine, reply->engine, sizeof run->engine);
	run->device = reply->device;
	strlcpy(run->reason, reply->reason, sizeof run->reason);
	run->nvertices = request->graph.nvertices;
	run->nedges = request->graph.forward.nedges;
	if (reply->status != EMOGI_OK)
		return;
	on_gpu = result->placement != EMOGI_PLACEMENT_AUTO;
	strlcpy(run->placement, on_gpu ? emogi_settings_placement_name(result->placement) : "",
			sizeof run->placement);
	strlcpy(run->mapping, on_gpu ? emogi_papers_mapping_name(request->query.papers.mapping) : "",
			sizeof run->mapping);
	run->transfer_ms += result->transfer_ms;
	run->run_ms += result->run_ms;
	run->nreached += result->nreached;
	run->nlevels = Max(run->nlevels, result->nlevels);
	run->edges_traversed += result->edges_traversed;
	run->link_bytes += result->link_bytes;
	run->nlinks = on_gpu ? result->nlinks : 0;
}

/*
 * Add a run to the ring, in place of the oldest. Raises nothing, so it may run while a transaction
 * aborts.
 */
void
emogi_run_log_record(const EmogiCallRecord *run)
{
	EmogiCallRecord *entry;

	LWLockAcquire(emogi_shared->history_lock, LW_EXCLUSIVE);
	entry = &history->entries[history->next_id % emogi_course_entries];
	*entry = *run;
	entry->id = history->next_id++;
	if (history->next_id - history->first_id > (uint64) emogi_course_entries)
		history->first_id++;
	LWLockRelease(emogi_shared->history_lock);
}

/*
 * Copy all runs into entries[emogi_course_entries], oldest first; get their number. Those that are
 * overwritten meanwhile are left out.
 */
int
emogi_run_log_copy(EmogiCallRecord *entries)
{
	uint64		id = 0;
	int			count = 0;
	bool		more = true;

	while (more)
	{
		LWLockAcquire(emogi_shared->history_lock, LW_SHARED);
		id = Max(id, history->first_id);
		for (int i = 0; i < EMOGI_COPIED_RUNS && id < history->next_id &&
			 count < emogi_course_entries; i++, id++)
			entries[count++] = history->entries[id % emogi_course_entries];
		more = id < history->next_id && count < emogi_course_entries;
		LWLockRelease(emogi_shared->history_lock);
	}
	return count;
}

/* Empty the ring. */
void
emogi_run_log_clear(void)
{
	LWLockAcquire(emogi_shared->history_lock, LW_EXCLUSIVE);
	history->first_id = history->next_id;
	LWLockRelease(emogi_shared->history_lock);
}
