/*
 * call.h: a call of a SQL function, as seen by its backend.
 *
 * emogi_call_begin (call.c) takes a slot (slot.c), subject to the limits in limits.c; everything
 * that the call allocates in the arena belongs to that slot. emogi_call_request (request.c) sends
 * the slot's request to the engine worker. While its rows are read, the call may exchange the slot
 * for held results (held_results.c), and take a slot again to continue. When it ends, successfully
 * or not, its resources are released, its record (call_record.c) is kept for emogi_runs (run_log.c)
 * and counted for emogi_stat_graphs (call_statistics.c).
 */
#ifndef EMOGI_CALL_H
#define EMOGI_CALL_H

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "base/limits.h"
#include "source/source.h"

/* ---- call.c: the life of a call ---- */

/* Where the graph of a call comes from. */
typedef enum EmogiGraphOrigin
{
	EMOGI_GRAPH_NONE,			/* the call ended before, or it needs none */
	EMOGI_GRAPH_FOUND,			/* in the cache */
	EMOGI_GRAPH_STALE,			/* in the cache, as of an earlier time */
	EMOGI_GRAPH_BUILT,			/* and published */
	EMOGI_GRAPH_MERGED,			/* from an older graph and the changes since, and published */
	EMOGI_GRAPH_OVERLAID,		/* an older graph, with an overlay of the changes since */
	EMOGI_GRAPH_PRIVATE,		/* built for this call only */
	EMOGI_GRAPH_INDEX			/* no graph: an index search (index_search.h) */
} EmogiGraphOrigin;

/* Why the cache did not have the graph that a call built; texts in call_record.c. */
typedef enum EmogiCacheMiss
{
	EMOGI_MISS_NONE,			/* no graph was built and published, or no reason is known */
	EMOGI_MISS_NOT_CACHED,
	EMOGI_MISS_EVICTED,
	/* other graphs of the source were cached, from the least to the most similar */
	EMOGI_MISS_COLUMNS,
	EMOGI_MISS_WEIGHTS,
	EMOGI_MISS_SERVER_ROWS,
	EMOGI_MISS_LISTS,
	/* a graph with other rows was cached */
	EMOGI_MISS_TABLES,
	EMOGI_MISS_REWRITTEN,
	EMOGI_MISS_OLD_SNAPSHOT,
	EMOGI_MISS_OUTDATED,
	/* the same, and it was not refreshed */
	EMOGI_MISS_INCREMENTAL_OFF,
	EMOGI_MISS_SERVERS,
	EMOGI_MISS_QUERY,
	EMOGI_MISS_UNLOGGED,
	EMOGI_MISS_KEY_TYPE,
	EMOGI_MISS_SMALL,
	EMOGI_MISS_FIRST_BUILD,
	EMOGI_MISS_INDEX,
	EMOGI_MISS_NO_TRACKER,
	EMOGI_MISS_MANY_PAGES,
	EMOGI_MISS_MANY_CHANGES,
	EMOGI_MISS_NO_CODES,
	EMOGI_MISS_WIDE_VALUE,
	EMOGI_MISS_CONDITION,
	EMOGI_MISS_PROMOTED,
	EMOGI_MISS_THRESHOLD,
	EMOGI_MISS_LOG
} EmogiCacheMiss;

/* One row of emogi_runs. Times in ms; 0 = did not happen. */
typedef struct EmogiCallRecord
{
	uint64		id;				/* 0 until recorded */
	Oid			relid;			/* relation of the graph argument; 0 = a query */
	uint64		query;			/* hash of the query's text without constants */
	bool		failed;			/* ended by an error or a cancel */
	EmogiGraphOrigin origin;	/* set by acquire.c */
	EmogiCacheMiss why_built;	/* if origin = BUILT */
	char		engine[24];		/* cpu, cuda, backend (local_search_call.c), hierarchy
								 * (hierarchy_search.c), or "backend, " and another
								 * (task_pairs.c) */
	int			device;			/* GPU number; -1 = none */
	char		placement[8];	/* of a run on a GPU */
	char		mapping[16];	/* requested for a run on a GPU */
	double		wait_ms;		/* waiting for a slot, other calls' builds, memory, and a free
								 * worker, in all requests */
	double		scan_ms;
	double		keys_ms;
	double		csr_ms;
	double		transfer_ms;
	double		run_ms;			/* the engine's own time */
	double		rows_ms;
	double		total_ms;
	uint64		nvertices;
	uint64		nedges;			/* entries of the adjacency lists */
	uint64		nreached;
	uint32		nlevels;
	uint64		edges_traversed;
	uint64		link_bytes;
	int			nlinks;
	int			nservers;		/* servers that foreign tables were read from */
	int			nconnections;	/* connections to them */
	uint64		nranges;		/* ranges of their tables */
	uint64		network_bytes;	/* bytes of rows received from them */
	uint64		nrows;
	double		refresh_ms;		/* time to find the changes */
	double		merge_ms;		/* time to merge the changes into a graph */
	uint64		nrescanned;		/* pages rescanned */
	uint64		nskipped_by_map;	/* pages skipped by the visibility map */
	uint64		nskipped_by_lsn;	/* pages skipped by their LSN */
	uint64		nchanges;		/* changed edges found */
	bool		is_masked;		/* the graph is that of the whole table, with an edge mask */
	int			ncolumns;		/* property columns of that graph, and */
	uint64		columns_bytes;	/* bytes of these */
	double		columns_ms;		/* time to load columns */
	double		mask_share;		/* share of the edges on which the filter was evaluated */
	double		age_ms;			/* of a stale graph: time since it was known to be exact */
	/* texts, of which emogi_run_log_record copies only what is in use */
	EmogiCaller caller;
	char		text[256];		/* text of the query without constants, or the graph
								 * argument, truncated; for emogi_stat_graphs */
	char		indexes[2 * NAMEDATALEN + 2];	/* indexes of an index search */
	char		why_private[256];	/* why the graph of a query or view bypasses the cache */
	char		reason[256];	/* why the GPU was not used */
} EmogiCallRecord;

typedef struct EmogiCall
{
	EmogiSlot  *slot;			/* NULL = released, see emogi_call_release_slot */
	int			slot_index;
	int			held_result;	/* index of held results; -1 = none. Without a slot either, it
								 * has nothing in shared memory. */
	int			graph;			/* index of the cached graph that it has pinned without a slot,
								 * which takes it over if the call takes one; -1 = none */
	uint64		nskipped;		/* of that graph, as for a slot */
	int			waiter;			/* index in waiters[] while it waits for its first slot; -1 =
								 * none */
	bool		limited;		/* not a superuser's call */
	void		(*rest) (void *arg);	/* callback: release what is not needed until more rows
										 * are requested; NULL = none */
	void	   *rest_arg;
	bool		chains;			/* the worker runs, or has run, its query after the build of its
								 * graph: emogi_call_await_chained */
	void	   *chained_memory; /* sources of that run; NULL = none */
	Size		chained_bytes;
	void	   *moved_memory;	/* original of a graph that was moved when it was published, and is
								 * read by that run; NULL = none */
	Size		moved_bytes;
	bool		is_recorded;	/* recorded in emogi_runs */
	bool		rows_are_local; /* its rows are in backend-local memory */
	struct EmogiCall **holder;	/* of a finished call, which may be ended at any time: the
								 * pointer to clear then */
	Oid			function;		/* the SQL function that was called: its schema is the
								 * extension's */
	void	   *owner;			/* the ResourceOwner whose release frees the slot on any error */
	EmogiPhase	phase;			/* current phase, since `since` */
	instr_time	since;
	double		waited_since_ms;	/* emogi_shared_waited_ms() at `since` */
	double		phase_ms[EMOGI_NPHASES];
	EmogiCallRecord record;		/* filled in as the call proceeds; recorded when it ends */
	struct EmogiCall *next;
} EmogiCall;

/* Get the index of the cached graph that a call has pinned, with or without a slot; -1 = none. */
static inline int
emogi_call_graph(const EmogiCall *call)
{
	return call->slot != NULL ? call->slot->graph : call->graph;
}

extern EmogiCall *emogi_call_enter(Oid function, const char *name, const EmogiSource *source);
extern EmogiCall *emogi_call_begin(Oid function, const char *name, const EmogiSource *source);
extern EmogiCall *emogi_call_watch(EmogiCall *copy);
extern void emogi_call_end(EmogiCall *call);
extern bool emogi_call_is_active(const EmogiCall *call);
extern bool emogi_call_release_slot(EmogiCall *call);
extern void emogi_call_take_slot(EmogiCall *call);
extern bool emogi_call_try_take_slot(EmogiCall *call);
extern void emogi_call_pin(EmogiCall *call, int graph, uint64 nskipped);
extern void emogi_call_release_shared(EmogiCall *call);
extern void emogi_call_init(void);
extern bool emogi_call_make_room(uint64 bytes);
extern void emogi_call_finish(EmogiCall *call, EmogiCall **holder);
extern void emogi_call_resume(EmogiCall *call);
extern void *emogi_call_alloc(EmogiCall *call, Size bytes);
extern void *emogi_call_alloc_any(EmogiCall *call, Size bytes);

/* ---- call_record.c: the record of a call ---- */

extern void emogi_call_describe_caller(EmogiCallRecord *run, const char *name,
									   const EmogiSource *source);
extern void emogi_call_phase(EmogiCall *call, EmogiPhase phase);
extern void emogi_call_phase_since(EmogiCall *call, EmogiPhase phase, double since_ms);
extern void emogi_call_record_private(EmogiCall *call, const char *why);
extern const char *emogi_call_origin_name(EmogiGraphOrigin origin);
extern const char *emogi_call_why_built(const EmogiCallRecord *run);
extern void emogi_call_record(EmogiCall *call, bool failed);
extern void emogi_call_report(EmogiCall *call);

/*
 * Results up to this size are copied to backend-local memory while nothing is requested of the
 * engine. Copying takes less than a tenth of the run before it.
 */
#define EMOGI_COPIED_BYTES (256 * 1024)

/* ---- token.c: random numbers that identify a session's objects ---- */

extern uint64 emogi_call_make_token(void);
extern void emogi_call_set_token(uint64 *token);

/* ---- slot.c: slots ---- */

extern EmogiLimit emogi_slot_take(EmogiCall *call);
extern void emogi_slot_release(EmogiSlot *slot);
extern uint64 emogi_slot_token(EmogiSlot *slot);
extern void emogi_slot_free(EmogiSlot *slot);
extern bool emogi_slot_edges(const EmogiSlot *slot, EmogiEdges *edges, void *(*allocate) (Size));

/* ---- request.c ---- */

extern void emogi_request_check_engine(void);

/* Raise 55000 early if the requested engine is known not to exist: no GPU, or no worker at all. */
static inline void
emogi_request_require_engine(void)
{
	if (!IsUnderPostmaster || emogi_engine == EMOGI_ENGINE_CUDA)
		emogi_request_check_engine();
}

extern const EmogiReply *emogi_call_request(EmogiCall *call);
extern const EmogiReply *emogi_call_await_chained(EmogiCall *call);
extern void emogi_call_free_chained(EmogiCall *call);
extern const EmogiReply *emogi_call_cancel_chained(EmogiCall *call);
extern const EmogiReply *emogi_call_check_answer(EmogiCall *call);
extern void emogi_request_abandon(const EmogiSlot *slot);

/* ---- held_results.c ---- */

extern int	emogi_held_results_take(EmogiSlot *slot);
extern void emogi_held_results_return(int index, EmogiSlot *slot);
extern void emogi_held_results_wait(int index, bool waits);
extern uint64 emogi_held_results_token(int index);
extern bool emogi_held_results_attach(int index, uint64 token);
extern void emogi_held_results_detach(int index);
extern void emogi_held_results_finish(int index, bool finished);

/* ---- run_log.c: log of runs ---- */

extern Size emogi_run_log_shmem_size(void);
extern void emogi_run_log_shmem_startup(bool found);
extern void emogi_run_log_fill_record(EmogiCallRecord *run, const EmogiRequest *request,
									  const EmogiReply *reply);
extern void emogi_run_log_record(const EmogiCallRecord *run);
extern int	emogi_run_log_copy(EmogiCallRecord *entries);
extern void emogi_run_log_clear(void);

/* ---- call_statistics.c: statistics of calls ---- */

/*
 * Key of a statistics entry. Padding must be zero, because keys are hashed and compared as bytes.
 */
typedef struct EmogiStatisticKey
{
	Oid			database;
	Oid			userid;
	Oid			relid;			/* 0 = a query */
	uint32		unused;
	uint64		query;			/* 0 = a relation */
	char		function[32];
} EmogiStatisticKey;

/* One row of emogi_stat_graphs. Times in ms. */
typedef struct EmogiStatistic
{
	EmogiStatisticKey key;
	char		source[256];	/* text of the query, or the first graph argument that named the
								 * relation; truncated */
	uint64		ncalls;
	uint64		nerrors;
	uint64		nhits;			/* the graph was cached */
	uint64		nsteps;			/* the graph was merged from an older one, or that was used with
								 * an overlay */
	uint64		nbuilds;
	uint64		nprivate;		/* the graph was built for this call only */
	uint64		nindex_searches;	/* index searches, without a graph */
	uint64		nrows;
	uint64		edges_traversed;
	double		total_ms;
	double		min_ms;
	double		max_ms;
	double		build_ms;		/* time to build the graph from the table or from an older one */
	double		run_ms;
	double		wait_ms;
	double		use;			/* decayed number of calls: the least used entry is evicted */
	TimestampTz since;			/* start of the first counted call */
	TimestampTz last_call;		/* start of the call that ended last */
} EmogiStatistic;

extern Size emogi_call_statistics_shmem_size(void);
extern void emogi_call_statistics_shmem_startup(bool found);
extern void emogi_call_statistics_count(const EmogiCallRecord *run);
extern int	emogi_call_statistics_copy(EmogiStatistic *statistics, uint64 *ngone,
									   TimestampTz *reset_at);
extern void emogi_call_statistics_reset(void);

#endif							/* EMOGI_CALL_H */
