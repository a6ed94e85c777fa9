/*
 * emogi.h: what the files of the PostgreSQL side share, grouped by the file that defines it.
 *
 * A call of a traversal function, from top to bottom:
 *   functions.c  reads the arguments
 *   source.c     resolves the graph argument to a Source;  access.c checks that the caller may read it
 *   client.c     takes a slot for the call;  everything the call allocates in the Region belongs to that slot
 *   build.c      turns the Source into edges in the Region (scan.c reads tables, sink.c takes rows from the
 *                executor), then has the engine worker make keys and CSR of them
 *   client.c     has the engine worker run the Query;  worker.c is that worker
 *   functions.c  reads the Result out into rows and gives the slot back
 */
#ifndef EMOGI_H
#define EMOGI_H

#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "portability/instr_time.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "compat.h"
#include "csr.h"
#include "engine.h"

/* ---- guc.c ---- */

typedef enum EmogiEngineChoice
{
	EMOGI_ENGINE_AUTO,
	EMOGI_ENGINE_CPU,
	EMOGI_ENGINE_CUDA
} EmogiEngineChoice;

extern int	emogi_engine;			/* EmogiEngineChoice */
extern int	emogi_placement;		/* EmogiPlacement */
extern int	emogi_max_memory_mb;	/* budget of the Region */
extern int	emogi_device_memory_mb; /* cap on each GPU, 0 = none */
extern int	emogi_cpu_threads;		/* of the CPU engine, >= 1 once the server is up */
extern int	emogi_build_workers;	/* parallel workers of a scan, -1 = max_parallel_workers_per_gather */

extern void emogi_define_gucs(void);

/* ---- region.c ---- */

/* The Region is given out in whole granules; an edge chunk is one granule. */
#define EMOGI_GRANULE_BYTES EMOGI_CHUNK_BYTES

/* Owner of a granule: a slot, and whether it holds that slot's edges. 0 = free. */
typedef uint32 EmogiOwner;
#define EMOGI_OWNER(slot_index)			((EmogiOwner) (slot_index) + 1)
#define EMOGI_OWNER_EDGES(slot_index)	(EMOGI_OWNER(slot_index) | UINT32_C(0x80000000))

extern void emogi_region_reserve(void);
extern Size emogi_region_shmem_size(void);
extern void emogi_region_shmem_startup(bool found);
extern void *emogi_region_alloc(EmogiOwner owner, Size bytes);
extern void emogi_region_free(void *start, Size bytes);
extern void emogi_region_free_owner(EmogiOwner owner);
extern bool emogi_region_edges(EmogiOwner owner, EmogiEdges *edges, void *(*allocate) (Size));
extern uint64 emogi_region_used_bytes(void);
extern uint64 emogi_region_budget_bytes(void);
extern void emogi_region_check_budget(uint64 bytes);

/* ---- emogi.c: shared state ---- */

#define EMOGI_NSLOTS		128		/* calls in flight in the whole cluster */
#define EMOGI_MAX_DEVICES	16

/* Life of a slot: FREE -> HELD (a backend's) -> QUEUED -> RUNNING -> DONE or FAILED -> HELD or FREE. */
typedef enum EmogiSlotState
{
	EMOGI_SLOT_FREE = 0,
	EMOGI_SLOT_HELD,			/* its backend fills it; the worker leaves it alone */
	EMOGI_SLOT_QUEUED,			/* a request waits for the worker */
	EMOGI_SLOT_RUNNING,			/* the worker has it; nobody else touches request, reply or the Region behind it */
	EMOGI_SLOT_DONE,			/* reply is there */
	EMOGI_SLOT_FAILED,			/* the worker ended before there was a reply */
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
	EMOGI_REQUEST_KEYS,
	EMOGI_REQUEST_CSR,
	EMOGI_REQUEST_RUN
} EmogiRequestKind;

/* What a backend asks of the worker. Pointers lead into the Region, which every process maps at one address. */
typedef struct EmogiRequest
{
	EmogiRequestKind kind;

	/* KEYS and CSR; the edges are the slot's chunks */
	EmogiKeyPlan plan;
	EmogiKeys	keys;			/* in for CSR, out of KEYS through the reply */
	EmogiDirection direction;
	bool		with_backward;
	void	   *memory;			/* CSR: the Graph's block */
	void	   *scratch;

	/* RUN */
	EmogiEngineChoice engine;
	EmogiGraph	graph;
	EmogiQuery	query;
	EmogiResult result;			/* arrays in; counters out through the reply */
} EmogiRequest;

typedef struct EmogiReply
{
	EmogiStatus status;
	EmogiError	error;
	EmogiKeys	keys;			/* KEYS */
	EmogiGraph	graph;			/* CSR */
	EmogiResult result;			/* RUN */
	char		engine[8];		/* RUN: which one answered */
	bool		no_device;		/* RUN: engine = cuda was asked for and there is none; error says why */
} EmogiReply;

typedef struct EmogiSlot
{
	/* under EmogiShared.lock */
	EmogiSlotState state;
	int			owner_pid;		/* the backend */
	uint64		token;			/* random; proves to emogi_sink and parallel workers whose edges they add */
	uint64		ticket;			/* order of service among QUEUED */
	EmogiWeights weights;		/* of the edges being gathered; UNUSED where the Source has none */

	ConditionVariable answered; /* broadcast when state becomes DONE or FAILED */

	/* written by the owner while HELD, read by the worker while RUNNING; reply the other way round */
	EmogiRequest request;
	EmogiReply	reply;

	/* no lock: see engine.h */
	EmogiControl control;
} EmogiSlot;

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

	/* the worker's, under lock */
	Latch	   *worker_latch;	/* NULL = no worker */
	int			worker_pid;
	uint64		worker_epoch;	/* counts incarnations; 0 = there was none yet */
	bool		worker_ready;	/* its engines are open */
	ConditionVariable worker_changed;

	int			ncuda;			/* GPUs in cuda[] */
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];	/* when ncuda = 0, cuda[0] says why */

	ConditionVariable slot_freed;
	uint64		next_ticket;
	EmogiSlot	slots[EMOGI_NSLOTS];
} EmogiShared;

extern EmogiShared *emogi_shared;	/* NULL = not preloaded */

extern void emogi_require_preload(void);
extern uint32 emogi_wait_engine(void);
extern uint32 emogi_wait_slot(void);

/* ---- client.c: a backend's side of a slot ---- */

typedef struct EmogiCall
{
	EmogiSlot  *slot;
	int			slot_index;
	Oid			function;		/* the SQL function that was called: its schema is the extension's */
	void	   *owner;			/* the ResourceOwner whose end frees the slot on any error */
	EmogiPhase	phase;			/* what the call is doing now, since `since` */
	instr_time	since;
	double		phase_ms[EMOGI_PHASE_ROWS + 1];
	struct EmogiCall *next;
} EmogiCall;

extern void emogi_require_engine(void);
extern EmogiCall *emogi_call_begin(Oid function);
extern void emogi_call_end(EmogiCall *call);
extern void emogi_call_phase(EmogiCall *call, EmogiPhase phase);
extern const EmogiReply *emogi_call_request(EmogiCall *call);
extern void *emogi_call_alloc(EmogiCall *call, Size bytes);
extern void emogi_slot_free(EmogiSlot *slot);
extern bool emogi_slot_edges(const EmogiSlot *slot, EmogiEdges *edges, void *(*allocate) (Size));

/* ---- source.c ---- */

/* What the graph argument names. */
typedef struct EmogiSource
{
	bool		is_query;

	/* a relation: held with AccessShareLock to the end of the transaction */
	Oid			relid;
	AttrNumber	src;
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none, or not wanted */

	char	   *query;			/* a query: its text */
	bool		wants_weight;	/* a query: its third column, if it has one, is the weight */
} EmogiSource;

extern void emogi_source_resolve(const char *graph, bool wants_weight, EmogiSource *source);
extern char *emogi_source_select(const EmogiSource *source);
extern bool emogi_is_weight_type(Oid type);

/* ---- query.c: query text as an argument ---- */

#define EMOGI_GRAPH_QUERY "graph query"
#define EMOGI_START_QUERY "query of start values"

extern int	emogi_query_describe(const char *query, const char *what, TupleDesc *desc);
extern void emogi_query_check_key(TupleDesc desc, int column);
extern void emogi_query_check_number(TupleDesc desc, int column, const char *what);

/* ---- access.c ---- */

extern bool emogi_access_check(Relation rel, const EmogiSource *source);

/* ---- sink.c: where edges enter the Region ---- */

typedef struct EmogiSink
{
	EmogiSlot  *slot;
	EmogiWeights weights;		/* the slot's */
	EmogiEdgeChunk *chunk;		/* NULL before the first edge */
	uint64		nedges;
	uint64		nskipped;		/* rows with a NULL end */
} EmogiSink;

extern void emogi_sink_open(EmogiSink *sink, uint64 token);
extern void emogi_sink_next_chunk(EmogiSink *sink);
extern void emogi_sink_refuse_weight(const EmogiSink *sink, int64 src, int64 dst, double weight);
extern void emogi_sink_refuse_null_weight(int64 src, int64 dst);
extern void emogi_sink_check_query(const char *query, bool wants_weight);
extern void emogi_sink_query(EmogiCall *call, const char *query, bool wants_weight, EmogiWeights weights);

/* Count one more edge in a chunk. */
static inline void
emogi_sink_count(EmogiSink *sink, EmogiEdgeChunk *chunk, int64 src, int64 dst)
{
	chunk->nedges++;
	if (unlikely(Min(src, dst) < chunk->min_key))
		chunk->min_key = Min(src, dst);
	if (unlikely(Max(src, dst) > chunk->max_key))
		chunk->max_key = Max(src, dst);
	sink->nedges++;
}

/* Append one edge to a sink without weights. */
static inline void
emogi_sink_put(EmogiSink *sink, int64 src, int64 dst)
{
	EmogiEdge  *edge;

	if (unlikely(sink->chunk == NULL || sink->chunk->nedges == EMOGI_CHUNK_EDGES))
		emogi_sink_next_chunk(sink);
	edge = &sink->chunk->edges[sink->chunk->nedges];
	edge->src = src;
	edge->dst = dst;
	emogi_sink_count(sink, sink->chunk, src, dst);
}

/* Does a call that reads such weights take this one? */
static inline bool
emogi_weight_fits(EmogiWeights weights, double weight)
{
	if (weights == EMOGI_WEIGHTS_LENGTHS)
		return weight >= 0;
	return isfinite(weight) && (weights == EMOGI_WEIGHTS_FACTORS || weight >= 0);
}

/* Append one edge to a sink with weights. Raises 22023 for a weight that the call refuses. */
static inline void
emogi_sink_put_weighted(EmogiSink *sink, int64 src, int64 dst, double weight)
{
	EmogiWeightedEdge *edge;

	if (unlikely(!emogi_weight_fits(sink->weights, weight)))
		emogi_sink_refuse_weight(sink, src, dst, weight);
	if (unlikely(sink->chunk == NULL || sink->chunk->nedges == EMOGI_CHUNK_WEIGHTED_EDGES))
		emogi_sink_next_chunk(sink);
	edge = &emogi_weighted_edges(sink->chunk)[sink->chunk->nedges];
	edge->src = src;
	edge->dst = dst;
	edge->weight = weight;
	sink->chunk->weight_misfits |= emogi_weight_misfits(weight);
	emogi_sink_count(sink, sink->chunk, src, dst);
}

/* ---- scan.c: tables to edges ---- */

extern bool emogi_scan_possible(const EmogiSource *source, List **leaves);
extern void emogi_scan_tables(EmogiCall *call, const EmogiSource *source, List *leaves, EmogiWeights weights);

/* ---- build.c ---- */

extern void emogi_source_check(const EmogiSource *source);
extern void emogi_build(EmogiCall *call, const EmogiSource *source, EmogiWeights weights, EmogiDirection direction,
						bool with_backward, EmogiGraph *graph);

/* ---- values.c ---- */

extern void emogi_values_check(const char *query);
extern void emogi_values_query(const EmogiGraph *graph, const char *query, double otherwise, double *values,
							   bool *given);

/* ---- run.c ---- */

/* What a SQL function asks for. */
typedef struct EmogiTask
{
	char	   *graph;			/* the argument's text */
	EmogiDirection direction;	/* which way a stored edge leads */
	EmogiQuery	query;			/* algorithm and numbers; sources and values are filled in when the Graph stands */
	bool		has_sources;
	int64	   *keys;			/* [nkeys], sources */
	uint64		nkeys;
	char	   *start;			/* text of the query of start values; NULL = none */
	bool		with_backward;
} EmogiTask;

extern EmogiCall *emogi_run(FunctionCallInfo fcinfo, const EmogiTask *task, EmogiGraph *graph, EmogiResult *result);
extern void emogi_run_to_rows(FunctionCallInfo fcinfo, const EmogiTask *task);

/* ---- worker.c ---- */

extern void emogi_worker_register(void);

#endif							/* EMOGI_H */
