/*
 * emogi.h: what the files of the PostgreSQL side share, grouped by the file that defines it.
 *
 * A call of a traversal function, from top to bottom:
 *   functions.c  reads the arguments
 *   source.c     resolves the graph argument to a Source;  access.c checks that the caller may read it
 *   client.c     takes a slot for the call, if limits.c has nothing against it;  everything the call allocates in the
 *                Region belongs to that slot
 *   snapshot.c   sees to it that the call's snapshot is not older than what the graph argument names
 *   obtain.c      looks in the cache for a Graph that holds exactly what the call's snapshot sees, and pins it (cache.c
 *                keeps the entries, ring.c knows who has changed which table);  else
 *   build.c      turns the Source into edges in the Region (heap_scan.c and pages.c read tables, sink.c takes rows from the
 *                executor), then has the engine worker make keys and CSR of them;  obtain.c publishes the Graph
 *   request.c    has the engine worker run the Query;  worker.c is that worker
 *   functions.c  reads the Result out into rows and gives the slot back
 *
 * As an item of FROM the function is replaced by a scan: plan.c puts it into the plan, stream.c carries it out.
 */
#ifndef EMOGI_H
#define EMOGI_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/extensible.h"
#include "nodes/primnodes.h"
#include "portability/instr_time.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/rel.h"
#include "utils/snapshot.h"
#include "utils/timestamp.h"

#include "cpu/msbfs.h"
#include "compat.h"
#include "graph/csr.h"
#include "contract/engine.h"
#include "cpu/path_search.h"

/* ---- guc.c ---- */

typedef enum EmogiEngineChoice
{
	EMOGI_ENGINE_AUTO,
	EMOGI_ENGINE_CPU,
	EMOGI_ENGINE_CUDA
} EmogiEngineChoice;

extern int	emogi_engine;			/* EmogiEngineChoice */
extern int	emogi_placement;		/* EmogiPlacement */
extern int	emogi_mapping;			/* EmogiMapping */
extern bool emogi_prefetch;		/* placement managed: all edges go to the GPU before the run */
extern bool emogi_asynchronous;	/* placement staged: what was brought is used until nothing there changes */
extern int	emogi_max_memory_mb;	/* budget of the Region */
extern int	emogi_device_memory_mb; /* cap on each GPU, 0 = none */
extern int	emogi_cpu_threads;		/* of the CPU engine, >= 1 once the server is up */
extern int	emogi_build_workers;	/* parallel workers of a scan, -1 = max_parallel_workers_per_gather */
extern int	emogi_session_calls;	/* limits of those who are no superusers: see limits.c. 0 = none */
extern int	emogi_role_calls;
extern int	emogi_role_slots;
extern int	emogi_session_memory_mb;	/* -1 = three quarters of emogi.max_memory */
extern int	emogi_role_memory_mb;
extern bool emogi_cache;			/* Graphs of tables are shared between calls and sessions */
extern bool emogi_enable_scan;		/* rows of functions in FROM are streamed */
extern bool emogi_enable_batch;		/* ... and in a LATERAL join searched from many outer rows at once */
extern bool emogi_notice_missing_source;	/* a source that the graph does not have is told of */

extern void emogi_define_gucs(void);
extern const char *emogi_placement_name(EmogiPlacement placement);
extern const char *emogi_mapping_name(EmogiMapping mapping);
extern uint64 emogi_machine_bytes(void);

/* ---- fault.c: trouble on demand, for tests (emogi.fault, superusers only) ---- */

/* Places where a process can be made to sleep. */
typedef enum EmogiFaultPoint
{
	EMOGI_AT_PRE_COMMIT,		/* a writer has been noted and is about to commit */
	EMOGI_AT_COMMITTED,			/* a writer has left the running transactions */
	EMOGI_AT_REGISTERED,		/* a table is tracked, the build has not begun */
	EMOGI_AT_BUILT,				/* a Graph stands and is not yet published */
	EMOGI_AT_PUBLISHED,
	EMOGI_AT_FOUND,				/* a cached Graph is pinned and the run has not begun */
	EMOGI_FAULT_POINTS
} EmogiFaultPoint;

/* How the worker is to end when it comes to a request of a certain kind. */
typedef enum EmogiWorkerFault
{
	EMOGI_WORKER_LIVES = 0,
	EMOGI_WORKER_EXITS,			/* proc_exit(1) */
	EMOGI_WORKER_CRASHES		/* SIGKILL: the server restarts */
} EmogiWorkerFault;

typedef struct EmogiFaults
{
	int			allocation;		/* the n-th allocation in the Region by this process fails; counts down; 0 = none */
	int			engine_allocation;	/* see EmogiControl */
	int			device_allocation;
	int			device_call;
	EmogiWorkerFault worker;
	int			worker_at;		/* EmogiRequestKind at whose start, or EMOGI_REQUEST_KINDS: at the end of any */
	int			sleep_us[EMOGI_FAULT_POINTS];
	bool		random_sleeps;	/* sleep between 0 and sleep_us */
	bool		no_registration_rule;	/* the negative control of the cache's tests */
	bool		no_snapshot_rule;	/* ... and of those of snapshot.c */
} EmogiFaults;

extern EmogiFaults emogi_faults;

extern void emogi_define_faults(void);
extern void emogi_fault_sleep(EmogiFaultPoint point);
extern bool emogi_fault_allocation(void);

/* ---- region.c ---- */

/* The Region is given out in whole granules, but for small blocks; an edge chunk is one granule. */
#define EMOGI_GRANULE_BYTES EMOGI_CHUNK_BYTES

/* Owner of a granule: a slot, and whether it holds that slot's edges, a cached Graph, or a held Result. 0 = free. */
typedef uint32 EmogiOwner;
#define EMOGI_OWNER(slot_index)			((EmogiOwner) (slot_index) + 1)
#define EMOGI_OWNER_EDGES(slot_index)	(EMOGI_OWNER(slot_index) | UINT32_C(0x80000000))
#define EMOGI_OWNER_GRAPH(graph_index)	(((EmogiOwner) (graph_index) + 1) | UINT32_C(0x40000000))
#define EMOGI_OWNER_HOLDING(index)		(((EmogiOwner) (index) + 1) | UINT32_C(0x20000000))
#define EMOGI_OWNER_INDEX				UINT32_C(0x1FFFFFFF)	/* index + 1, of whatever kind */

/* Blocks of at most this size can be small blocks, which share granules. */
#define EMOGI_SMALL_BYTES ((Size) 512 * 1024)

extern void emogi_region_reserve(void);
extern Size emogi_region_shmem_size(void);
extern void emogi_region_shmem_startup(bool found);
extern void *emogi_region_alloc(EmogiOwner owner, Size bytes);
extern void *emogi_region_alloc_any(EmogiOwner owner, Size bytes);
extern void emogi_region_cool(void);
extern uint64 emogi_region_give(void *start, Size bytes, EmogiOwner owner);
extern void emogi_region_give_all(EmogiOwner from, EmogiOwner to);
extern void emogi_region_free(void *start, Size bytes);
extern void emogi_region_free_owner(EmogiOwner owner);
extern void *emogi_region_alloc_small(Size bytes);
extern void emogi_region_free_small(void *start, Size bytes);
extern uint64 emogi_region_small_bytes(Size bytes);
extern void *emogi_region_pack(void *start, Size bytes);
extern bool emogi_region_edges(EmogiOwner owner, EmogiEdges *edges, void *(*allocate) (Size));
extern uint64 emogi_region_used_bytes(void);
extern uint64 emogi_region_budget_bytes(void);
extern void emogi_region_check_budget(uint64 bytes);

/* ---- emogi.c: shared state ---- */

#define EMOGI_NSLOTS		128		/* calls in flight in the whole cluster */
#define EMOGI_MAX_DEVICES	16
#define EMOGI_SOURCE_LENGTH 256

/* Life of a slot: FREE -> HELD (a backend's) -> QUEUED -> RUNNING -> DONE or FAILED -> HELD or FREE. */
typedef enum EmogiSlotState
{
	EMOGI_SLOT_FREE = 0,
	EMOGI_SLOT_HELD,			/* its backend fills it; the worker leaves it alone */
	EMOGI_SLOT_QUEUED,			/* a request waits for the worker */
	EMOGI_SLOT_RUNNING,			/* the worker has it; nobody else touches request, reply or the Region behind it */
	EMOGI_SLOT_DONE,			/* reply is there */
	EMOGI_SLOT_FAILED,			/* the worker ended while it ran */
	EMOGI_SLOT_ORPHAN			/* RUNNING, but its backend has gone: the worker frees it when it has finished */
} EmogiSlotState;

/* What weights a call reads, and which it refuses. NaN and NULL are refused always. */
typedef enum EmogiWeights
{
	EMOGI_WEIGHTS_UNUSED = 0,	/* every edge weighs 1, and no weight column is read */
	EMOGI_WEIGHTS_LENGTHS,		/* 0 .. +infinity: negative ones are refused */
	EMOGI_WEIGHTS_CONDUCTANCES, /* 0 and more, finite */
	EMOGI_WEIGHTS_FACTORS		/* any finite number */
} EmogiWeights;

typedef enum EmogiRequestKind
{
	EMOGI_REQUEST_KEYS,			/* the vertices of the slot's edges */
	EMOGI_REQUEST_CSR,			/* the Graph of the slot's edges */
	EMOGI_REQUEST_EXPAND,		/* the edges of a Graph, into the slot's chunks */
	EMOGI_REQUEST_RUN,			/* from here on: a Query on a Graph */
	EMOGI_REQUEST_BATCH,		/* BFS from each of query.sources by itself, on the CPU */
	EMOGI_REQUEST_PATH,			/* one path between two vertices, on the CPU */
	EMOGI_REQUEST_KINDS
} EmogiRequestKind;

/* What a backend asks of the worker. Pointers lead into the Region, which every process maps at one address. */
typedef struct EmogiRequest
{
	EmogiRequestKind kind;
	EmogiWorkerFault fault;		/* for tests; filled in by emogi_call_request */
	int			fault_at;

	/* KEYS and CSR; the edges are the slot's chunks. EXPAND: the chunks are there and empty, `graph` is the donor */
	EmogiKeyPlan plan;
	EmogiKeys	keys;			/* in for CSR, out of KEYS through the reply */
	EmogiDirection direction;
	bool		with_backward;
	void	   *memory;			/* CSR: the Graph's block */
	void	   *scratch;

	/* RUN */
	EmogiEngineChoice engine;
	EmogiGraph	graph;			/* its id is that of the cached Graph, or 0 */
	EmogiQuery	query;
	EmogiResult result;			/* arrays in; counters out through the reply */

	/* BATCH: RUN's graph and query, and */
	EmogiBatchResult batch;		/* memory in */

	/* PATH: RUN's graph, query.sources[0] and query.targets[0], and */
	uint64		max_edges;		/* give up after so many list entries */
	uint32	   *path;			/* [nvertices] */
	double	   *path_distance;	/* [nvertices] */
} EmogiRequest;

typedef struct EmogiReply
{
	EmogiStatus status;
	EmogiError	error;
	EmogiKeys	keys;			/* KEYS */
	EmogiGraph	graph;			/* CSR */
	EmogiResult result;			/* RUN; the counters also of BATCH and PATH */
	EmogiBatchResult batch;		/* BATCH */
	EmogiPathOutcome path_outcome;	/* PATH */
	uint64		path_length;	/* PATH: vertices */
	char		engine[8];		/* RUN, BATCH, PATH: which one answered */
	char		reason[256];	/* RUN: why `auto` took the CPU; else empty */
	double		started_ms;		/* by emogi_now_ms; 0 = not started; set under EmogiShared.lock, with RUNNING */
	double		wait_ms;		/* between request and start; the owner's */
	double		busy_ms;		/* of a runner's time */
	bool		no_device;		/* RUN: engine = cuda was asked for and there is none; error says why */
} EmogiReply;

typedef struct EmogiSlot
{
	/* under EmogiShared.lock */
	EmogiSlotState state;
	int			owner_pid;		/* the backend */
	uint64		token;			/* random; proves to emogi_sink and parallel workers whose edges they add */
	uint64		ticket;			/* order of service among QUEUED of equal vtime_ms */
	double		vtime_ms;		/* fair share: see worker.c */
	EmogiWeights weights;		/* of the edges being gathered; UNUSED where the Source has none */
	int			graph;			/* index of the cached Graph that the call has pinned, or builds; -1 = none */
	int			donor;			/* ... of that whose edges it builds from; -1 = none */
	int			awaited_graph;	/* ... of that whose build by another call it waits for; -1 = none */
	bool		waits_for_room; /* until Graphs that are evicted have given their memory back */

	/* who and what, for emogi_progress; under lock */
	Oid			userid;
	Oid			database;
	TimestampTz started;
	char		function[32];
	char		source[EMOGI_SOURCE_LENGTH];	/* the graph argument, cut off */

	pg_atomic_uint64 nskipped;	/* rows with a NULL end, so far */

	ConditionVariable answered; /* broadcast when state becomes DONE or FAILED */

	/* written by the owner while HELD, read by the worker while RUNNING; reply the other way round */
	EmogiRequest request;
	EmogiReply	reply;

	/* no lock: see engine.h */
	EmogiControl control;
} EmogiSlot;

/*
 * What a call keeps that asks the worker for nothing any more, while its rows are read: memory of the Region, and a pin on
 * its Graph. It has given its slot back: whoever leaves a cursor open keeps nobody else waiting.
 */
typedef struct EmogiHolding
{
	int			nusers;			/* the call's owner and the parallel workers that read its rows; 0 = free */
	uint64		token;			/* the call's, by which a worker knows it; 0 = nobody may join any more */
	int			owner_pid;
	int			graph;			/* index of the cached Graph; -1 = the Graph is among what is held */
	bool		finished;		/* its last row has been read */
	bool		waits;			/* for a slot, to go on */

	/* for emogi_progress */
	Oid			userid;
	Oid			database;
	TimestampTz started;
	char		function[32];
	char		source[EMOGI_SOURCE_LENGTH];
} EmogiHolding;

#define EMOGI_NHOLDINGS		4096

/* A call that has nothing yet and waits for a slot, for emogi_progress. */
typedef struct EmogiWaiter
{
	int			pid;			/* 0 = nobody */
	Oid			userid;
	Oid			database;
	TimestampTz started;
	char		function[32];
	char		source[EMOGI_SOURCE_LENGTH];
} EmogiWaiter;

#define EMOGI_NWAITERS		512 /* that are shown; more may wait */

/* Who has a slot or a holding, and how much of the Region it has. That of a holding comes after those of all slots. */
typedef struct EmogiAccount
{
	int			pid;			/* of the session; 0 = free */
	Oid			userid;
	bool		limited;		/* no superuser */
	uint32		nchunks;		/* granules with edges */
	uint32		nothers;		/* other granules */
	uint64		first;			/* they lie in [first, end) */
	uint64		end;
} EmogiAccount;

#define EMOGI_NACCOUNTS		(EMOGI_NSLOTS + EMOGI_NHOLDINGS)

/* One line of emogi_devices, written by the worker when it has opened its engines. */
typedef struct EmogiDeviceEntry
{
	EmogiDevice device;
	char		state[16];
	char		reason[512];
} EmogiDeviceEntry;

typedef struct EmogiShared
{
	LWLock	   *lock;			/* slots, worker_*, devices; also the Region's allocator */
	LWLock	   *cache_lock;		/* ring.c, cache.c; taken before `lock` where both are */
	LWLock	   *runs_lock;		/* history.c; taken last */

	/* the worker's, under lock */
	Latch	   *worker_latch;	/* NULL = no worker */
	int			worker_pid;
	uint64		worker_epoch;	/* counts incarnations; 0 = there was none yet */
	bool		worker_ready;	/* its engines are open */

	int			ncuda;			/* GPUs in cuda[] */
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];	/* when ncuda = 0, cuda[0] says why */

	ConditionVariable slot_freed;
	uint64		next_ticket;
	double		vclock_ms;		/* highest vtime_ms that was started yet */
	EmogiSlot	slots[EMOGI_NSLOTS];
	EmogiHolding holdings[EMOGI_NHOLDINGS]; /* under lock, as what follows */
	EmogiWaiter waiters[EMOGI_NWAITERS];
	int			accounts_end;	/* all from here on are free */
	EmogiAccount accounts[EMOGI_NACCOUNTS];
} EmogiShared;

extern EmogiShared *emogi_shared;	/* NULL = not preloaded */

extern void emogi_require_preload(void);

/* What a process waits for. */
typedef enum EmogiWait
{
	EMOGI_WAIT_MAIN,			/* the engine worker, for something to do */
	EMOGI_WAIT_ENGINE,			/* a call, for the engine worker's answer */
	EMOGI_WAIT_SLOT,			/* a call, for a slot */
	EMOGI_WAIT_BUILD,			/* a call, for another's build of the same Graph */
	EMOGI_WAIT_ROOM,			/* whoever evicts, for Graphs to give their memory back */
	EMOGI_WAITS
} EmogiWait;

extern uint32 emogi_wait_event(EmogiWait wait);

/* ---- client.c: a backend's side of a slot ---- */

/* One line of emogi_runs. Times in ms; 0 = did not happen. */
typedef struct EmogiRunEntry
{
	TimestampTz started;
	int			pid;
	Oid			userid;
	Oid			database;
	char		function[32];
	char		source[EMOGI_SOURCE_LENGTH];
	bool		failed;			/* ended by an error or a cancel */
	char		cache[8];		/* hit, built (and published), private; empty = did not come so far */
	char		engine[8];
	char		placement[8];	/* of a run on a GPU */
	char		mapping[16];	/* that a run on a GPU was asked for */
	char		reason[256];	/* why not the GPU */
	double		wait_ms;		/* for a free worker, in all requests */
	double		scan_ms;
	double		keys_ms;
	double		csr_ms;
	double		transfer_ms;
	double		run_ms;			/* the engine's own time */
	double		rows_ms;
	double		total_ms;
	uint64		nvertices;
	uint64		nedges;			/* list entries */
	uint64		nreached;
	uint32		nlevels;
	uint64		edges_traversed;
	uint64		link_bytes;
	uint64		nrows;
} EmogiRunEntry;

typedef struct EmogiCall
{
	EmogiSlot  *slot;			/* NULL = given back, see emogi_call_hold */
	int			slot_index;
	int			holding;		/* index; -1 = none: with no slot either, it has nothing that others could want */
	int			waiter;			/* index, while it waits for its first slot; -1 = none */
	bool		limited;		/* no superuser's */
	uint64		token;
	void		(*rest) (void *arg);	/* gives back what is not needed until more rows are asked for; NULL = nothing is */
	void	   *rest_arg;
	bool		is_recorded;	/* in emogi_runs */
	struct EmogiCall **holder;	/* of a call that may be ended at any time: who may come back for its result */
	Oid			function;		/* the SQL function that was called: its schema is the extension's */
	void	   *owner;			/* the ResourceOwner whose end frees the slot on any error */
	EmogiPhase	phase;			/* what the call is doing now, since `since` */
	instr_time	since;
	double		phase_ms[EMOGI_PHASE_ROWS + 1];
	EmogiRunEntry run;			/* filled in on the way; recorded when the call ends, well or not */
	struct EmogiCall *next;
} EmogiCall;

/* Every wait is ended by a signal; this is how long a lost one would go unnoticed. */
#define EMOGI_WAKEUP_MS 5000

extern EmogiCall *emogi_call_begin(Oid function, const char *name, const char *source);
extern void emogi_call_end(EmogiCall *call);
extern bool emogi_call_hold(EmogiCall *call);
extern void emogi_call_take_slot(EmogiCall *call);
extern void emogi_call_leave(EmogiCall *call);
extern void emogi_calls_init(void);
extern bool emogi_calls_end_finished(void);
extern void emogi_calls_wait_for_room(bool waits);
extern void emogi_call_finish(EmogiCall *call, EmogiCall **holder);
extern void emogi_call_resume(EmogiCall *call);
extern void emogi_call_phase(EmogiCall *call, EmogiPhase phase);
extern void *emogi_call_alloc(EmogiCall *call, Size bytes);
extern void *emogi_call_alloc_any(EmogiCall *call, Size bytes);
extern void emogi_slot_free(EmogiSlot *slot);
extern bool emogi_slot_edges(const EmogiSlot *slot, EmogiEdges *edges, void *(*allocate) (Size));
extern void emogi_sleep_on(ConditionVariable *variable, long timeout_ms, uint32 wait_event);

/*
 * What calls keep in memory of their own, while nothing is asked of the engine, and not in the Region: so many bytes at most.
 * Copying them takes less than a tenth of the run before it.
 */
#define EMOGI_COPIED_BYTES (256 * 1024)

/* ---- limits.c: what a session and a role may have at once ---- */

typedef enum EmogiLimit
{
	EMOGI_WITHIN_LIMITS = 0,
	EMOGI_AT_SLOTS,				/* of the server: all are taken */
	EMOGI_AT_ROLE_SLOTS,
	EMOGI_AT_SESSION_CALLS,
	EMOGI_AT_ROLE_CALLS,
	EMOGI_AT_SESSION_MEMORY,
	EMOGI_AT_ROLE_MEMORY
} EmogiLimit;

extern void emogi_account_open(int index, int pid, Oid userid, bool limited);
extern void emogi_account_close(int index);
extern EmogiLimit emogi_limits_of_calls(int pid, Oid userid);
extern EmogiLimit emogi_limits_of_slots(Oid userid);
extern EmogiLimit emogi_limits_of_memory(const EmogiAccount *account, uint64 ngranules);
extern void emogi_limits_report(EmogiLimit limit);
extern uint64 emogi_limits_allowed_bytes(void);
extern uint64 emogi_limits_own_bytes(void);

/* ---- request.c ---- */

extern void emogi_require_engine(void);
extern const EmogiReply *emogi_call_request(EmogiCall *call);
extern void emogi_request_abandon(const EmogiSlot *slot);

/* ---- holding.c ---- */

extern int	emogi_holding_take(EmogiSlot *slot);
extern void emogi_holding_return(int index, EmogiSlot *slot);
extern void emogi_holding_wait(int index, bool waits);
extern bool emogi_holding_join(int index, uint64 token);
extern void emogi_holding_leave(int index);
extern void emogi_holding_finish(int index, bool finished);

/* ---- source.c ---- */

/* The graph argument as it was given: text, or a relation (regclass) with a list of columns beside it. */
typedef struct EmogiGraphArgument
{
	char	   *text;			/* what was given; for a relation, text that names it and the columns */
	bool		is_relation;
	Oid			relid;			/* of a relation; may be any number, also 0 */
	char	   *columns;		/* of a relation; NULL = not named */
} EmogiGraphArgument;

/* What the graph argument names. */
typedef struct EmogiSource
{
	bool		is_query;
	const EmogiGraphArgument *graph;
	bool		wants_weight;	/* weights, if it has any, are read */

	/* a relation: held with AccessShareLock to the end of the transaction */
	List	   *name;			/* strings, qualified or not; NIL = it was not given by its name */
	Oid			relid;
	bool		was_locked;		/* before: the statement may read it otherwise, too */
	AttrNumber	src;
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none, or not wanted */

	char	   *query;			/* a query: its text */
} EmogiSource;

extern void emogi_source_resolve(const EmogiGraphArgument *graph, bool wants_weight, EmogiSource *source);
extern bool emogi_source_is_query(const EmogiGraphArgument *graph);
extern bool emogi_source_peek(const EmogiGraphArgument *graph, bool wants_weight, EmogiSource *source);
extern bool emogi_source_is_missing(const EmogiGraphArgument *graph);
extern Oid	emogi_source_relation(const EmogiGraphArgument *graph);
extern char *emogi_source_select(const EmogiSource *source);
extern bool emogi_is_weight_type(Oid type);

#define EMOGI_FORMS_HINT \
	"Name a table ('edges'), a table with its columns ('edges(src, dst)'), or give a query ('SELECT src, dst FROM edges')."

/* ---- missing.c ---- */

extern bool emogi_has_rows(char relkind);
extern void emogi_report_form(const char *graph);
extern void emogi_report_missing(const char *graph, List *name);

/* ---- query.c: query text as an argument ---- */

#define EMOGI_GRAPH_QUERY "graph query"
#define EMOGI_START_QUERY "query of start values"

/* Which columns of a query's result make an edge: from 1. */
typedef struct EmogiEdgeColumns
{
	int			ncolumns;
	int			src;
	int			dst;
	int			weight;			/* 0 = none, or not wanted */
} EmogiEdgeColumns;

extern const char *const emogi_end_names[2][2];

extern int	emogi_query_describe(const char *query, const char *what, TupleDesc *desc);
extern int	emogi_query_describe_edges(const char *query, bool wants_weight, TupleDesc *desc, EmogiEdgeColumns *columns);
extern void emogi_query_check_key(TupleDesc desc, int column);
extern void emogi_query_check_number(TupleDesc desc, int column, const char *what);

/* ---- access.c ---- */

extern bool emogi_access_check(Relation rel, const EmogiSource *source);
extern bool emogi_access_peek(const EmogiSource *source);

/* ---- snapshot.c: the snapshot that a call reads under ---- */

/* A query that is prepared to be read. */
typedef struct EmogiReading
{
	struct _SPI_plan *plan;
	int			generation;		/* of the plan that was looked at */
} EmogiReading;

extern void emogi_snapshot_init(void);
extern void emogi_refuse_worker(void);
extern void emogi_snapshot_push(void);
extern void emogi_snapshot_answer(void);
extern void emogi_snapshot_renew(Oid relid);
extern bool emogi_snapshot_sees(const EmogiSource *source, List **relids);
extern EmogiReading emogi_snapshot_open(const char *query, int nargs, Oid *types, int cursor_options);
extern void emogi_snapshot_settle(const char *query);
extern void emogi_snapshot_check(const EmogiReading *reading);

/* ---- ring.c, cache.c, obtain.c ---- */

#include "cache/cache.h"

/* ---- history.c: what has been run ---- */

#define EMOGI_MAX_RUNS 256

extern Size emogi_runs_shmem_size(void);
extern void emogi_runs_shmem_startup(bool found);
extern void emogi_runs_note(EmogiRunEntry *run, const EmogiRequest *request, const EmogiReply *reply);
extern void emogi_runs_record(const EmogiRunEntry *run);
extern int	emogi_runs_copy(EmogiRunEntry *entries, uint64 *first_id);
extern void emogi_runs_clear(void);

/* ---- sink.c: queries to edges; sink.h has what fills a sink ---- */

extern void emogi_sink_check_query(const char *query, bool wants_weight);
extern void emogi_sink_query(EmogiCall *call, const EmogiSource *source, EmogiWeights weights);

/* ---- heap_scan.c: tables to edges ---- */

extern bool emogi_scan_heaps(const EmogiSource *source, List *relids, List **leaves);
extern bool emogi_scan_possible(const EmogiSource *source, List **leaves);
extern void emogi_scan_tables(EmogiCall *call, const EmogiSource *source, List *leaves, EmogiWeights weights);

/* ---- estimate.c: how large a Graph will be ---- */

extern double emogi_scan_estimate(const EmogiSource *source, List *leaves);
extern double emogi_estimate_next_degree(const EmogiSource *source, double nvertices, double nedges);
extern bool emogi_estimate_size(const EmogiSource *source, double *nvertices, double *nedges);

/* ---- foresight.c: what the planner can know of a query ---- */

typedef struct EmogiForesight
{
	double		nedges;			/* rows of its plan */
	double		nvertices;		/* distinct keys among them */
	double		cost;			/* of its plan, in the planner's unit */
} EmogiForesight;

extern bool emogi_foresee(const char *query, EmogiForesight *foresight);

/* ---- build.c ---- */

extern void emogi_source_check(const EmogiSource *source);
extern void emogi_build_edges(EmogiCall *call, const EmogiSource *source, List *leaves, EmogiWeights weights);
extern void emogi_build_edges_of(EmogiCall *call, const EmogiGraph *donor, EmogiDirection direction,
								 EmogiWeights weights);
extern void emogi_build_graph(EmogiCall *call, EmogiDirection direction, bool with_backward, EmogiGraph *graph,
							  uint32 *weight_misfits);

/* ---- values.c ---- */

extern void emogi_values_check(const char *query);
extern void emogi_values_query(const EmogiGraph *graph, const char *query, double otherwise, double *values,
							   bool *given);

/* ---- run.c ---- */

/* What a SQL function asks for. */
typedef struct EmogiTask
{
	EmogiGraphArgument graph;
	EmogiDirection direction;	/* which way a stored edge leads */
	EmogiQuery	query;			/* algorithm and numbers; sources and values are filled in when the Graph stands */
	bool		has_sources;
	int64	   *keys;			/* [nkeys], sources */
	uint64		nkeys;
	bool		no_rows;		/* none is wanted: for errors alone */
	bool		has_targets;	/* rows of these vertices alone are wanted */
	const int64 *targets;		/* [ntargets], keys */
	uint64		ntargets;
	char	   *start;			/* text of the query of start values; NULL = none */
	bool		with_backward;
	Oid		   *table;			/* where to note the relation that is read, InvalidOid for a query; NULL = nobody asks */
} EmogiTask;

/* What a row of an algorithm is: the key of a vertex, then its columns. */
typedef struct EmogiRowKind
{
	int			ncolumns;		/* after `vertex` */

	/* Get the first vertex of [v, end) that has a row; `end` when there is none. */
	uint64		(*next) (const EmogiResult *result, uint64 v, uint64 end);

	/* Get a column of vertex v's row, 0 = the first after `vertex`. */
	Datum		(*column) (const EmogiGraph *graph, const EmogiResult *result, uint64 v, int column);
} EmogiRowKind;

extern const EmogiRowKind *emogi_row_kind(EmogiAlgorithm algorithm);
extern void emogi_wish_of(const EmogiTask *task, EmogiGraphKey *key);
extern EmogiCall *emogi_run_open(Oid function, const EmogiTask *task, EmogiGraph *graph);
extern bool emogi_run_query(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result);
extern void emogi_run_batch(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const uint32 *sources,
							int nsources, EmogiBatchResult *result);
extern bool emogi_run_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint32 *path,
						   double *distance, uint64 *length);
extern EmogiCall *emogi_run(Oid function, const EmogiTask *task, EmogiGraph *graph, EmogiResult *result);
extern void emogi_run_to_rows(FunctionCallInfo fcinfo, const EmogiTask *task);
extern void emogi_notice_missing(const char *what, int64 key);

/* ---- views.c: rows of views ---- */

#define EMOGI_MAX_VIEW_COLUMNS 32

/* A row in the making, from its first column to its last. */
typedef struct EmogiRow
{
	int			ncolumns;
	Datum		values[EMOGI_MAX_VIEW_COLUMNS];
	bool		nulls[EMOGI_MAX_VIEW_COLUMNS];
} EmogiRow;

extern bool emogi_may_see_all(void);
extern void emogi_row_add(EmogiRow *row, Datum value);
extern void emogi_row_add_if(EmogiRow *row, bool known, Datum value);
extern void emogi_row_add_text(EmogiRow *row, const char *text);
extern void emogi_row_add_name(EmogiRow *row, const char *name);
extern void emogi_row_add_time(EmogiRow *row, TimestampTz when);
extern void emogi_row_put(EmogiRow *row, FunctionCallInfo fcinfo);

/* ---- functions.c ---- */

/* Reads the arguments of a SQL function; raises what is wrong with them. */
typedef void (*EmogiReader) (FunctionCallInfo fcinfo, EmogiTask *task);

/* A SQL function whose rows are vertices, one each, in ascending order of keys. */
typedef struct EmogiFunction
{
	const char *symbol;			/* of its C entry */
	EmogiAlgorithm algorithm;
	EmogiReader read;
	int			direction_argument; /* -1 = none */
	EmogiDirection direction;	/* otherwise */
	bool		has_start;		/* takes a query of start values */
} EmogiFunction;

extern const EmogiFunction *emogi_function(const char *symbol);
extern bool emogi_read_direction(const char *text, EmogiDirection *direction);
extern void emogi_graph_argument(FunctionCallInfo fcinfo, EmogiGraphArgument *graph);
extern EmogiDirection emogi_direction_argument(FunctionCallInfo fcinfo, int n, EmogiDirection otherwise);

/* ---- plan.c: the rows of a function in FROM as a scan, planned; stream.c: carried out ---- */

/* Conditions that a scan sees to itself. */
typedef enum EmogiPushdown
{
	EMOGI_VERTEX_IS,			/* vertex = x */
	EMOGI_VERTEX_IN,			/* vertex = ANY (x) */
	EMOGI_AT_MOST,				/* level or distance <= x */
	EMOGI_BELOW,				/* level or distance < x */
	EMOGI_EXACTLY				/* level or distance = x: bounds the traversal, and is checked for each row besides */
} EmogiPushdown;

/*
 * A scan's custom_exprs: the call (a FuncExpr), then the right sides of the conditions pushed down.
 * custom_private: a list of the columns it returns (integers, 0 = vertex, 1 .. = the others), in the order of
 * custom_scan_tlist; a list of EmogiPushdown; a list of the names of the columns that these are about (strings).
 */
extern const CustomScanMethods emogi_scan_methods;

/* A batch (lateral.c, batch.c): likewise, and last in custom_private the number of the outer plan's columns. */
extern const CustomScanMethods emogi_batch_methods;

extern const EmogiFunction *emogi_function_of(Oid function);
extern bool emogi_graph_constant(const FuncExpr *call, EmogiGraphArgument *graph);
extern void emogi_plan_init(void);

/* ---- worker.c ---- */

extern void emogi_worker_register(void);

#endif							/* EMOGI_H */
