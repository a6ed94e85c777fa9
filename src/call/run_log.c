/*
 * run_log.c: the latest runs in shared memory, for emogi_runs
 *
 * A ring buffer of the last emogi.runs_max runs. A call writes an entry when it ends,
 * successfully or not; readers get a copy. Runs are numbered from 1; numbering continues when the
 * log is cleared.
 */
#include "postgres.h"


#include "call/call.h"
#include "base/papers_settings.h"

/* Entries copied at a time, to limit the wait of calls that end meanwhile. */
#define EMOGI_COPIED_RUNS 256

typedef struct EmogiRunLog
{
	/* under EmogiShared.run_log_lock */
	uint64		first_id;		/* the oldest run in the log */
	uint64		next_id;
	/* run id is at [id % emogi_runs_entries] */
	EmogiCallRecord entries[FLEXIBLE_ARRAY_MEMBER];
} EmogiRunLog;

static EmogiRunLog *run_log;

Size
emogi_run_log_shmem_size(void)
{
	return add_size(offsetof(EmogiRunLog, entries),
					mul_size(emogi_runs_entries, sizeof(EmogiCallRecord)));
}

/*
 * Set up an empty log, at server start and after every crash restart. Caller holds
 * AddinShmemInitLock.
 */
void
emogi_run_log_shmem_startup(bool found)
{
	bool		found_run_log;

	run_log = emogi_shared_struct("emogi run log", emogi_run_log_shmem_size(), &found_run_log);
	if (found)
		return;
	memset(run_log, 0, emogi_run_log_shmem_size());
	run_log->first_id = run_log->next_id = 1;
}

/*
 * Note the outcome of a run in the entry of its call; counts and times of several runs of a call
 * add up.
 */
void
emogi_run_log_fill_record(EmogiCallRecord *run, const EmogiRequest *request,
						  const EmogiReply *reply)
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

/* Copy a record, without the bytes behind its texts: most of it. */
static void
copy_record(EmogiCallRecord *to, const EmogiCallRecord *from)
{
	memcpy(to, from, offsetof(EmogiCallRecord, caller));
	emogi_caller_copy(&to->caller, &from->caller);
	emogi_text_copy(to->text, from->text, sizeof to->text);
	emogi_text_copy(to->indexes, from->indexes, sizeof to->indexes);
	emogi_text_copy(to->why_private, from->why_private, sizeof to->why_private);
	emogi_text_copy(to->reason, from->reason, sizeof to->reason);
}

/*
 * Add a run to the log, in place of the oldest. Raises nothing, so it can run during a
 * transaction's abort.
 */
void
emogi_run_log_record(const EmogiCallRecord *run)
{
	EmogiCallRecord *entry;

	LWLockAcquire(emogi_shared->run_log_lock, LW_EXCLUSIVE);
	entry = &run_log->entries[run_log->next_id % emogi_runs_entries];
	copy_record(entry, run);
	entry->id = run_log->next_id++;
	if (run_log->next_id - run_log->first_id > (uint64) emogi_runs_entries)
		run_log->first_id++;
	LWLockRelease(emogi_shared->run_log_lock);
}

/*
 * Copy all runs into entries[emogi_runs_entries], oldest first; return their number. Runs that
 * are overwritten meanwhile are skipped.
 */
int
emogi_run_log_copy(EmogiCallRecord *entries)
{
	uint64		id = 0;
	int			count = 0;
	bool		more = true;

	while (more)
	{
		LWLockAcquire(emogi_shared->run_log_lock, LW_SHARED);
		id = Max(id, run_log->first_id);
		for (int i = 0; i < EMOGI_COPIED_RUNS && id < run_log->next_id &&
			 count < emogi_runs_entries; i++, id++)
			entries[count++] = run_log->entries[id % emogi_runs_entries];
		more = id < run_log->next_id && count < emogi_runs_entries;
		LWLockRelease(emogi_shared->run_log_lock);
	}
	return count;
}

/* Clear the log. */
void
emogi_run_log_clear(void)
{
	LWLockAcquire(emogi_shared->run_log_lock, LW_EXCLUSIVE);
	run_log->first_id = run_log->next_id;
	LWLockRelease(emogi_shared->run_log_lock);
}
