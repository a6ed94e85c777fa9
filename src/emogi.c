/*
 * emogi.c: loading.
 *
 * Everything needs shared_preload_libraries: the Region must be mapped and the engine worker registered before the
 * postmaster forks. _PG_init neither touches CUDA nor starts a thread: both would be lost, or worse, in its children.
 *
 * The folders beside this file are rooms. A room may use those below it, and none above; its header tells what lives there:
 *
 *   scan_node/   calls in FROM, as nodes of a plan             worker/  the engine worker, on the other side of a slot
 *   prewarm/     graphs that are loaded ahead of calls
 *   function/    the SQL functions                             views/   the views, and what administers the cache
 *   acquire/       from a Source to a Graph
 *   changes/        what has changed in the tables since a Graph was made
 *   remote/     from foreign tables on other servers, and shards of Citus, to edges
 *   edges/       from a Source to edges in the Region
 *   index_search/        searches over indexes of the tables, without a Graph
 *   call/        a call and its slot
 *   analysis/        a query or view: what its rows depend on
 *   source/      what the graph argument names                 cache/   the Graphs that calls and sessions share
 *   citus/       what the catalogs of Citus say
 *   base/      what all stand on: settings, faults, shared state, the Region, limits, versions of PostgreSQL
 *
 * A call of a traversal function, from top to bottom:
 *
 *   function/arguments.c   reads the arguments
 *   source/source.c        resolves the graph argument to a Source;  access.c checks that the caller may read it
 *   call/call.c            takes a slot for the call, if base/limits.c has nothing against it;  everything the call allocates
 *                          in the Region belongs to that slot
 *   source/snapshot.c      sees to it that the call's snapshot is not older than what the graph argument names
 *   analysis/analysis.c            of a query or view, makes its tree, and says why its Graph may not be shared, if so
 *   acquire/acquire.c         has cache_lookup.c look in the cache for a Graph that holds exactly what the call's snapshot sees, and pin it
 *                          (cache/cache.c keeps the entries, cache/recent_writers.c knows who has changed which table);  else
 *   acquire/index_search_cost.c         says whether a search that reaches little walks over indexes instead (index_search/index_search_bfs.c);  else
 *   acquire/apply_delta.c         has changes/tracker_refresh.c find what has changed, and an older Graph spliced;  else
 *   acquire/build.c          has the Source turned into edges in the Region (edges/heap_scan.c and pages.c read tables, remote/remote_read.c
 *                          those of other servers, sink.c takes rows from the executor), then has the engine worker make keys and CSR of them;  cache_lookup.c publishes the
 *                          Graph
 *   call/request.c         has the engine worker run the Query;  worker/worker.c is that worker
 *   function/course.c         reads the Result out into rows and gives the slot back
 *
 * As an item of FROM the function is replaced by a scan: scan_node/plan.c puts it into the plan, scan.c and stream.c carry it out.
 */
#include "postgres.h"

#include "storage/shmem.h"

#include "cache/change_tracker.h"
#include "prewarm/prewarm.h"
#include "scan_node/scan_node.h"
#include "base/compat.h"
#include "base/fault.h"
#include "base/extents.h"
#include "base/papers_settings.h"
#include "worker/worker.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static shmem_startup_hook_type previous_shmem_startup_hook = NULL;
#if EMOGI_HAS_SHMEM_REQUEST_HOOK
static shmem_request_hook_type previous_shmem_request_hook = NULL;
#endif

/* Ask for the shared memory and the locks. */
static void
request_shmem(void)
{
#if EMOGI_HAS_SHMEM_REQUEST_HOOK
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
#endif
	emogi_shared_request();
	RequestAddinShmemSpace(emogi_extents_shmem_size());
	RequestAddinShmemSpace(emogi_tables_shmem_size());
	RequestAddinShmemSpace(emogi_cache_shmem_size());
	RequestAddinShmemSpace(emogi_dictionaries_shmem_size());
	RequestAddinShmemSpace(emogi_change_tracker_shmem_size());
	RequestAddinShmemSpace(emogi_vacuums_shmem_size());
	RequestAddinShmemSpace(emogi_walk_cost_shmem_size());
	RequestAddinShmemSpace(emogi_asked_queries_shmem_size());
	RequestAddinShmemSpace(emogi_run_log_shmem_size());
	RequestAddinShmemSpace(emogi_call_statistics_shmem_size());
}

/* Attach to the shared state, and make it where it is not there. */
static void
startup_shmem(void)
{
	bool		found;

	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	found = emogi_shared_startup();
	emogi_extents_shmem_startup(found);
	emogi_tables_shmem_startup(found);
	emogi_cache_shmem_startup(found);
	emogi_dictionaries_shmem_startup();
	emogi_change_tracker_shmem_startup(&emogi_cache_shared->used, found);
	emogi_vacuums_shmem_startup(found);
	emogi_walk_cost_shmem_startup(found);
	emogi_asked_queries_shmem_startup(found);
	emogi_run_log_shmem_startup(found);
	emogi_call_statistics_shmem_startup(found);
	LWLockRelease(AddinShmemInitLock);
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	emogi_settings_define();
	emogi_papers_define();
	emogi_limits_define();
	emogi_prewarm_define();
	emogi_fault_define();
	emogi_compat_reserve_prefix("emogi");
	emogi_recent_writers_init();
	emogi_vacuums_init();
	emogi_cache_init();
	emogi_ddl_invalidation_init();
	emogi_snapshot_init();
	emogi_plan_init();
	emogi_lateral_init();
	emogi_join_lookup_init();
	emogi_upper_init();
	emogi_call_init();
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
