/*
 * emogi.c: module entry point
 *
 * emogi belongs in shared_preload_libraries: the arena is then mapped and the engine worker
 * registered before the postmaster forks. _PG_init does not initialize CUDA and starts no thread,
 * because neither survives a fork. From PostgreSQL 17 on emogi also runs without, for a trial
 * (base/trial.c).
 *
 * Folders, each of which may use those below it and none above or beside it. Its header says what
 * it contains. Of the engine, all of them use engine/contract/ alone. tools/callgraph checks both.
 *
 *   scan_node/     plan nodes for calls in FROM         worker/  the engine worker, which serves
 *   prewarm/       graphs loaded ahead of calls                  requests of slots
 *   views/         views and cache administration
 *   function/      the SQL functions
 *   acquire/       from a graph source to a graph: cache lookup, index or build, build
 *   graph_source/  the kinds of sources: tables, foreign tables, Citus tables, queries
 *   changes/       changes of the tables since a graph was built
 *   remote/        edges of foreign tables on other servers and of Citus shards
 *   index_search/  searches over indexes of the tables, without a graph
 *   edges/         edges of heap tables and queries, in the arena
 *   call/          a call and its slot
 *   analysis/      queries and views: cacheability, fingerprint, base tables, conditions
 *   cache/         shared graphs, change trackers
 *   source/        the graph argument
 *   answer/        who answers a call, at what cost
 *   keys/          vertex keys of any type              citus/   catalogs of Citus
 *   base/          settings, faults, shared state, arena, limits, versions of PostgreSQL
 *
 * A call of a traversal function:
 *
 *   function/arguments.c          read the arguments
 *   source/known_sources.c        know the graph argument from an earlier call, or resolve it by
 *                                 source.c; access.c checks rights
 *   call/call.c                   take a slot, within base/limits.c; it owns all that the call
 *                                 allocates in the arena. Local searches need none
 *   acquire/acquire.c             get the graph that an EmogiGraphRequest describes:
 *     graph_source/graph_source.c   find the kind of the source, and open it: source/snapshot.c
 *                                   ensures that the snapshot is not older than the relations,
 *                                   analysis/analysis.c analyzes a query or view, and decides
 *                                   whether its graph is cacheable
 *     acquire/cache_lookup.c        one cache lookup: pin a graph that is exact for the
 *                                   snapshot, or tell what else there is
 *                                   (cache/recent_writers.c knows who has changed which table)
 *     acquire/index_or_build.c      otherwise decide whether index_search/ replaces it, or
 *     acquire/neighborhood_graph.c  collects the few edges that the call needs
 *     acquire/apply_delta.c         otherwise bring an older graph up to date, by
 *                                   changes/tracker_refresh.c
 *     acquire/build.c               otherwise build it: edges/heap_scan.c and pages.c read tables,
 *                                   remote/remote_read.c other servers, edges/sink.c takes rows of
 *                                   the executor; the engine worker makes keys and CSR in one
 *                                   request
 *   answer/answerers.c            choose who answers: a search of the backend (local_search_call.c,
 *                                 components.c, hierarchy_search.c), or
 *   call/request.c                the engine worker, which runs the query (worker/worker.c)
 *   function/entries.c            read the result into rows, and release the slot
 *
 * For calls in FROM, scan_node/plan.c replaces the function scan; scan.c and stream.c execute it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"

#include "cache/change_tracker.h"
#include "changes/changes.h"
#include "prewarm/prewarm.h"
#include "scan_node/scan_node.h"
#include "base/compat.h"
#include "base/fault.h"
#include "base/extents.h"
#include "base/papers_settings.h"
#include "base/trial.h"
#include "worker/worker.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static shmem_startup_hook_type previous_shmem_startup_hook = NULL;
#if EMOGI_HAS_SHMEM_REQUEST_HOOK
static shmem_request_hook_type previous_shmem_request_hook = NULL;
#endif

/* Get the size of the shared state. */
static Size
state_bytes(void)
{
	Size		bytes = MAXALIGN(sizeof(EmogiShared));

	bytes = add_size(bytes, emogi_extents_shmem_size());
	bytes = add_size(bytes, emogi_tables_shmem_size());
	bytes = add_size(bytes, emogi_cache_shmem_size());
	bytes = add_size(bytes, emogi_dictionaries_shmem_size());
	bytes = add_size(bytes, emogi_change_tracker_shmem_size());
	bytes = add_size(bytes, emogi_vacuums_shmem_size());
	bytes = add_size(bytes, emogi_index_cost_shmem_size());
	bytes = add_size(bytes, emogi_asked_queries_shmem_size());
	bytes = add_size(bytes, emogi_run_log_shmem_size());
	return add_size(bytes, emogi_call_statistics_shmem_size());
}

/* Ask for the shared memory and the locks. */
static void
request_shmem(void)
{
#if EMOGI_HAS_SHMEM_REQUEST_HOOK
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
#endif
	emogi_shared_request();
	RequestAddinShmemSpace(state_bytes());
}

/* Attach to the shared state, and make it where it is not there. Caller holds a lock. */
static void
startup_state(void)
{
	bool		found = emogi_shared_startup();

	emogi_extents_shmem_startup(found);
	emogi_tables_shmem_startup(found);
	emogi_cache_shmem_startup(found);
	emogi_dictionaries_shmem_startup();
	emogi_change_tracker_shmem_startup(&emogi_cache_shared->used, found);
	emogi_vacuums_shmem_startup(found);
	emogi_index_cost_shmem_startup(found);
	emogi_asked_queries_shmem_startup(found);
	emogi_run_log_shmem_startup(found);
	emogi_call_statistics_shmem_startup(found);
}

/* The same in PostgreSQL's shared memory. */
static void
startup_shmem(void)
{
	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	startup_state();
	LWLockRelease(AddinShmemInitLock);
}

/* Have the postmaster request shared memory, and start the engine worker. */
static void
preload(void)
{
#if EMOGI_HAS_SHMEM_REQUEST_HOOK
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_shmem;
#else
	request_shmem();
#endif
	previous_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_shmem;
	emogi_worker_register();
}

void
_PG_init(void)
{
	static const EmogiTrialHooks hooks = {state_bytes, startup_state, emogi_worker_start};

	if (!process_shared_preload_libraries_in_progress)
	{
		if (!EMOGI_HAS_DSM_REGISTRY || !IsUnderPostmaster)
			return;
		emogi_trial_define(&hooks);
	}
	emogi_settings_define();
	emogi_papers_define();
	emogi_limits_define();
	emogi_prewarm_define();
	emogi_fault_define();
	emogi_compat_reserve_prefix("emogi");
	emogi_carried_changes_init();
	emogi_recent_writers_init();
	emogi_vacuums_init();
	emogi_cache_init();
	emogi_ddl_invalidation_init();
	emogi_snapshot_init();
	emogi_parser_hints_init();
	emogi_plan_init();
	emogi_lateral_init();
	emogi_join_lookup_init();
	emogi_upper_paths_init();
	emogi_explain_option_init();
	emogi_call_init();
	if (!emogi_trial_is_on)
		preload();
}
