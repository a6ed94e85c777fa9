/*
 * engine.h: the interface between PostgreSQL and the engines, and between the CPU and the CUDA
 * engine.
 *
 * Plain C11 for both gcc and nvcc. Nothing here or below depends on PostgreSQL. A function reports
 * errors by an EmogiStatus and an EmogiError, never by longjmp, exit or a message on stderr; it
 * writes only to memory provided by its caller, and frees everything it allocates on every path.
 *
 * Terms: a vertex *number* is an index 0 .. nvertices-1 (uint32); a vertex *key* is the value in
 * the user's table (int64). ids[] maps numbers to keys. Numbers ascend as keys do.
 */
#ifndef EMOGI_ENGINE_H
#define EMOGI_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "algorithms.h"
#include "papers.h"
#include "summary.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Changes with every struct below and with the number of algorithms; an emogi_cuda.so of another
 * build is rejected.
 */
#define EMOGI_ENGINE_ABI (UINT32_C(8009) + EMOGI_NALGORITHMS)

/* Qualifiers of a function in a header for both compilers, also usable on the device. */
#ifdef __CUDACC__
#define EMOGI_INLINE static __host__ __device__ __forceinline__
#else
#define EMOGI_INLINE static inline
#endif

/* Size of a request on the link, and alignment of every array that a GPU may read in place. */
#define EMOGI_LINE_BYTES 128

/* Vertex numbers are uint32; the maximum is reserved as EMOGI_NO_VERTEX. */
#define EMOGI_MAX_VERTICES UINT64_C(0xFFFFFFFE)

typedef enum EmogiStatus
{
	EMOGI_OK = 0,
	EMOGI_CANCELED,				/* canceled by control->cancel; outputs are undefined */
	EMOGI_NO_MEMORY,			/* host or device memory; nothing remains allocated */
	EMOGI_DEVICE_ERROR,			/* the device or its driver failed; the process should be
								 * replaced */
	EMOGI_BAD_INPUT,			/* the request is invalid */
	EMOGI_UNSUPPORTED			/* not supported by this engine, perhaps by another; the message
								 * says what */
} EmogiStatus;

/*
 * Description of an error for users. Set if a function returns anything but EMOGI_OK and
 * EMOGI_CANCELED.
 */
typedef struct EmogiError
{
	char		message[256];	/* one line, lower case, no period */
	char		detail[256];	/* facts: figures, or CUDA's error text; may be empty */
} EmogiError;

typedef enum EmogiPhase
{
	EMOGI_PHASE_IDLE = 0,
	EMOGI_PHASE_SCAN,
	EMOGI_PHASE_KEYS,
	EMOGI_PHASE_CSR,
	EMOGI_PHASE_TRANSFER,
	EMOGI_PHASE_RUN,
	EMOGI_PHASE_ROWS,
	EMOGI_PHASE_REFRESH,		/* reading the changes of the tables */
	EMOGI_PHASE_MERGE,			/* merging the changes into an existing graph */
	EMOGI_NPHASES
} EmogiPhase;

/*
 * Communication with a running engine, in shared memory. Any process may set `cancel` to 1 at any
 * time; the engine polls it at every level or iteration, and at least every 50 ms of work, from any
 * of its threads. The engine writes the other fields and any process reads them; a torn or stale
 * value is harmless.
 */
typedef struct EmogiControl
{
	volatile uint32_t cancel;
	volatile uint32_t phase;	/* EmogiPhase */
	volatile uint32_t level;	/* level or iteration, from 0 */
	volatile uint64_t done;		/* out of `total`, in the unit of the phase: edges or vertices */
	volatile uint64_t total;	/* 0 = unknown */

	uint64_t	spare_bytes;	/* set before the run: optional memory that the CPU engine may
								 * allocate to run faster */

	/* Fault injection: the n-th allocation or driver call of the request fails; 0 = none. */
	uint32_t	fail_allocation;	/* host memory, by an engine */
	uint32_t	fail_device_allocation;
	uint32_t	fail_device_call;	/* by the thread of the run's GPU; with EMOGI_FAULT_OF_HELPER:
									 * by each GPU that participates in the run */
} EmogiControl;

#define EMOGI_FAULT_OF_HELPER UINT32_C(0x80000000)

/* Storage type of weights: the narrowest type that holds all of them exactly. */
typedef enum EmogiWeightType
{
	EMOGI_WEIGHT_NONE = 0,		/* no weights: every edge has weight 1 */
	EMOGI_WEIGHT_U8,
	EMOGI_WEIGHT_U16,
	EMOGI_WEIGHT_U32,
	EMOGI_WEIGHT_F32,
	EMOGI_WEIGHT_F64
} EmogiWeightType;

/*
 * One orientation of a graph in compressed sparse rows (CSR). The adjacency list of vertex v is
 * targets[offsets[v] .. offsets[v+1]-1], ascending by target, then by weight. targets and weights
 * are aligned to EMOGI_LINE_BYTES and readable up to the end of their last line.
 */
typedef struct EmogiAdjacency
{
	uint64_t	nedges;
	const uint64_t *offsets;	/* [nvertices + 1], edges, offsets[0] = 0; NULL = orientation not
								 * built */
	const uint32_t *targets;	/* [nedges], vertex numbers */
	const void *weights;		/* [nedges] of the graph's weight_type; NULL for
								 * EMOGI_WEIGHT_NONE */
} EmogiAdjacency;

/*
 * A graph as seen by a query. forward leads to the vertices that a traversal reaches next. backward
 * is its transpose (equal pointers if the graph is symmetric), which direction-optimizing
 * algorithms use if it exists.
 */
typedef struct EmogiGraph
{
	uint64_t	nvertices;
	const int64_t *ids;			/* [nvertices], keys, strictly ascending; NULL = numbers are the
								 * keys */
	const struct EmogiDictionary *dictionary;	/* dictionary of the codes in ids if keys are not
												 * integers, otherwise NULL; not used by engines */
	EmogiWeightType weight_type;
	EmogiAdjacency forward;
	EmogiAdjacency backward;
	const void *memory;			/* page-aligned block that contains all arrays above, for
								 * cudaHostRegister */
	uint64_t	memory_bytes;
	uint64_t	id;				/* unique during the life of an engine, which may cache data derived
								 * from this graph until forget(); 0 = the block is freed after the
								 * run */
} EmogiGraph;

/* Memory from which a GPU reads edges. The CPU engine ignores it. */
typedef enum EmogiPlacement
{
	EMOGI_PLACEMENT_AUTO = 0,	/* device if the edges fit in the free device memory, otherwise
								 * hybrid or host */
	EMOGI_PLACEMENT_HOST,		/* zero-copy from registered host memory */
	EMOGI_PLACEMENT_DEVICE,		/* copied to device memory first; NO_MEMORY if they do not fit */
	EMOGI_PLACEMENT_HYBRID,		/* like host, but the most frequently read parts are in device
								 * memory as far as they fit: some neighbors of each vertex, all
								 * weights, or whole segments of the lists; host if that is not
								 * useful */
	EMOGI_PLACEMENT_PEER,		/* like device, but edges beyond the memory of this GPU are in
								 * the memory of helper GPUs; NO_MEMORY if these do not suffice,
								 * either */
	EMOGI_PAPERS_PLACEMENTS		/* MANAGED, STAGED: papers.h */
	EMOGI_NPLACEMENTS
} EmogiPlacement;

/* An algorithm and its arguments, as specified by its row. */
typedef struct EmogiQuery
{
	EmogiAlgorithm algorithm;
	EmogiPlacement placement;
	uint32_t	devices;		/* GPUs whose links may also transfer edges, a bit mask by number;
								 * they may be busy with other runs */
	EmogiPapersQuery papers;	/* all zeros = emogi's own kernels */
	uint64_t	nsources;
	const uint32_t *sources;	/* [nsources], vertex numbers < nvertices, may repeat */
	uint64_t	ntargets;
	/*
	 * [ntargets], vertex numbers; 0 = all vertices. BFS and additive paths may stop when these are
	 * settled, and the result is then valid only for them; an engine may ignore them. SIMILARITY
	 * without pairs: the elements belong to these, and no engine may ignore them. DISTANCE_MATRIX:
	 * its columns
	 */
	const uint32_t *targets;
	int64_t		max_depth;		/* hops; higher levels are not entered; -1 = unlimited */
	uint32_t	first_level;	/* BFS_SUMS: lower levels are entered but not counted */
	double		max_distance;	/* vertices farther away are not reached; INFINITY = unlimited */
	double		damping;		/* 0 .. 1 */
	double		alpha;			/* >= 0, finite */
	double		beta;			/* finite */
	int64_t		max_iterations; /* >= 1 */
	double		tolerance;		/* >= 0; stop after a smaller change; 0 = exactly max_iterations */
	int64_t		samples;		/* number of vertices for an estimate (sample.h); 0 or >= nvertices:
								 * exact */
	double		resolution;		/* >= 0, finite */
	double		theta;			/* >= 0: degree of randomness; 0 = none */
	int64_t		max_cluster_size;	/* vertices per community; 0 = unlimited */
	int64_t		max_levels;		/* 0 = unlimited */
	uint64_t	seed;			/* for random choices: which vertices are samples, in which order
								 * nodes are moved */
	bool		normalized;
	int64_t		length;			/* steps per walk */
	int64_t		walks;			/* >= 1, walks per source */
	double		return_parameter;	/* > 0, finite: p */
	double		in_out_parameter;	/* > 0, finite: q */
	EmogiMeasure measure;
	int64_t		top_k;			/* >= 1 */
	double		cutoff;			/* 0 .. 1 */
	uint64_t	npairs;
	const uint32_t *pairs;		/* SIMILARITY: [npairs][2], vertex numbers; NULL = all pairs */
	bool		maximum;		/* SPANNING_FOREST: prefer the heaviest edges instead of the
								 * lightest */
	const double *values;		/* [nvertices], start values, or communities */
	const double *teleport;			/* PAGERANK: [nvertices], teleport probabilities that sum to 1;
								 * NULL = 1 / nvertices each */
	bool		is_weighted;	/* algorithms with EMOGI_WEIGHTED: use the weights, which are >= 0
								 * and finite */
	const EmogiSummary *summary;	/* NULL = the whole result is requested */
	struct EmogiEdgeMask *mask; /* edges that may be used (edge_mask.h), of which the run evaluates
								 * what it reads; NULL = all. Others than BFS return UNSUPPORTED */
} EmogiQuery;

/* A column of a result: [nvertices] or [emogi_query_length], of the type in the algorithm's row. */
typedef union EmogiArray
{
	int32_t    *int32;
	int64_t    *int64;
	double	   *float64;
	uint32_t   *vertex;
	void	   *any;
} EmogiArray;

/* Get an element of a column as a number. */
static inline double
emogi_algorithm_column_number(const EmogiResultColumn *column, EmogiArray array, uint64_t v)
{
	switch (column->type)
	{
		case EMOGI_INT32:
			return array.int32[v];
		case EMOGI_INT64:
			return (double) array.int64[v];
		case EMOGI_FLOAT64:
			return array.float64[v];
		case EMOGI_VERTEX:
			return array.vertex[v];
		case EMOGI_EDGE:
			break;
	}
	return 0.0;
}

/*
 * Reason why a graph has no result for a query in any engine. The status is BAD_INPUT, and the
 * caller reports the error in terms of keys.
 */
typedef enum EmogiRefusalKind
{
	EMOGI_NOT_REFUSED = 0,
	EMOGI_HAS_CYCLE,			/* TOPOLOGICAL_ORDER, LONGEST_PATH, ROLLUP */
	EMOGI_ENDS_MEET,			/* a vertex, cycle[0], is a source and a target */
	EMOGI_DIVERGES,				/* KATZ: the increase of iterations grows without bound */
	EMOGI_WEIGHTS_OUT_OF_RANGE, /* sums of weights that cannot be used as divisors; the message says
								 * which */
	EMOGI_HAS_NOT_CONVERGED		/* KATZ: within max_iterations; whether it would converge may be
								 * unknown */
} EmogiRefusalKind;

#define EMOGI_CYCLE_NAMED 10

typedef struct EmogiRefusal
{
	EmogiRefusalKind kind;
	uint64_t	cycle_length;	/* number of edges of the shortest cycle through its smallest
								 * vertex */
	uint32_t	cycle[EMOGI_CYCLE_NAMED];	/* the first vertices of the cycle in order, beginning
											 * with the smallest one */
	double		rate;			/* proven bound of the ratio of the increases of successive
								 * iterations in the long run */
} EmogiRefusal;

/*
 * Result of a query. Arrays belong to the caller and need no initialization: an engine writes every
 * element, unless it makes a summary. The counters describe the run.
 */
typedef struct EmogiResult
{
	EmogiArray	columns[EMOGI_MAX_COLUMNS]; /* in the order of the algorithm's row */

	bool		is_summarized;	/* query->summary has the response; the columns are then filled as
								 * it specifies, otherwise completely */
	uint64_t	nsummarized;	/* number of groups or vertices */

	uint64_t	nreached;		/* vertices reached; all vertices if there are no sources */
	uint32_t	nlevels;		/* levels entered, including level 0; or iterations */
	double		change;			/* of the last iteration: L1 (PAGERANK, HITS) or maximum of a
								 * vertex */
	uint64_t	edges_traversed;	/* edges examined by the engine */
	/*
	 * bytes of edges transferred over the link in the run: lines read in place x 128, and copies; 0
	 * on the CPU. For the papers' mappings in HOST placement: the lines that contain the lists read
	 * or, if requests are counted, the lines requested; in MANAGED placement all edges
	 */
	uint64_t	link_bytes;
	EmogiRefusal refusal;		/* if the status is BAD_INPUT */
	EmogiPapersCounts papers;
	EmogiPlacement placement;	/* where the edges were read from; EMOGI_PLACEMENT_AUTO on the
								 * CPU */
	int32_t		nlinks;			/* number of GPUs whose links transferred edges during the run */
	char		left_out[200];	/* a GPU that could not help as intended, and why; empty = none */
	bool		helper_lost;	/* that GPU has failed: the process must be replaced, although the
								 * result is correct */
	double		transfer_ms;	/* copies from and to the device, registration of host memory */
	double		run_ms;			/* the traversal itself */
} EmogiResult;

/* Properties of a device, or of the processor for the CPU engine. */
typedef struct EmogiDevice
{
	int32_t		number;			/* driver's number among the visible devices; -1 for the CPU */
	char		name[128];
	char		driver[64];		/* driver and runtime versions; empty for the CPU */
	uint64_t	memory_bytes;	/* device memory; 0 for the CPU */
	uint64_t	free_bytes;
	uint64_t	used_bytes;		/* device memory now held by this engine, including cached graphs */
	uint64_t	ready_bytes;	/* additional memory kept for future runs: at most 1/64 of the
								 * total, or of the limit */
	int32_t		units;			/* number of multiprocessors or threads */
	double		link_gbps;		/* measured pinned host-to-device bandwidth, 1e9 bytes/s; 0 = not
								 * measured */
} EmogiDevice;

typedef struct EmogiEngineOptions
{
	int32_t		device;			/* number of the GPU; ignored by the CPU engine */
	int32_t		cpu_threads;	/* >= 1 */
	uint64_t	device_memory_bytes;	/* limit of the memory that an engine allocates on one GPU;
										 * 0 = all free memory */
	bool		plain_memory;	/* tests: keep no memory between runs, as on a GPU without memory
								 * pools */
	bool		always_help;	/* tests: let helpers participate in small steps, too */
	bool		always_bins;	/* tests: use propagation blocking for PageRank on small graphs, too
								 * (cuda/algorithms/propagation_blocking.cuh) */
} EmogiEngineOptions;

typedef struct EmogiEngineState EmogiEngineState;
typedef struct EmogiDerivation EmogiDerivation; /* derivation.h */
struct EmogiMsbfsResult;		/* msbfs.h */
struct EmogiPathAnswer;			/* path_search.h */
struct EmogiContraction;		/* contraction.h */

/*
 * An engine. open() may take some time (driver start) and is called after fork in the process that
 * uses the engine: once for the CPU, and once for each GPU, which has a state of its own. Each
 * state is used by one thread at a time, but several states may be in use at once; the thread may
 * change from run to run. After a DEVICE_ERROR, only close() may be called.
 */
typedef struct EmogiEngine
{
	uint32_t	abi;			/* EMOGI_ENGINE_ABI */
	const char *name;			/* "cpu" or "cuda" */
	EmogiStatus (*open) (const EmogiEngineOptions *options, EmogiEngineState **state,
						 EmogiError *error);
	void		(*close) (EmogiEngineState *state);
	int32_t		(*ndevices) (void);	/* number of devices for open(); may be 0, and open() then
									 * returns the reason */
	EmogiStatus (*describe) (const EmogiEngineState *state, EmogiDevice *out, EmogiError *error);
	EmogiStatus (*run) (EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
						EmogiResult *result, EmogiControl *control, EmogiError *error);

	/*
	 * Check whether other GPUs would help a run, by reading a part of the lists or by lending
	 * memory. For an idle state, in any thread. And: let helpers participate in the next run of a
	 * state, which then uses their states, too. NULL = GPUs do not cooperate.
	 */
	bool		(*wants_help) (EmogiEngineState *state, const EmogiGraph *graph,
							   const EmogiQuery *query);
	void		(*help) (EmogiEngineState *state, EmogiEngineState *const *helpers, int nhelpers);

	/*
	 * Drop everything cached for the graph with this id, after which the memory of the graph may be
	 * freed. An unknown id is not an error. Called by one thread at a time, and never during run().
	 * Return the bytes of device memory that remain cached.
	 */
	uint64_t	(*forget) (EmogiEngineState *state, uint64_t graph_id);

	/*
	 * Derive copies of a graph's arrays, as run() would cache them, from cached copies of the old
	 * graph, by the derivation from the old graph. Both graphs have an id. Arrays without cached
	 * copies are left to run(), as is everything after any other status: UNSUPPORTED if nothing is
	 * cached, NO_MEMORY if both versions do not fit besides the other cached data. Called by one
	 * thread at a time, and never during run() or forget(). NULL = this engine caches nothing.
	 */
	EmogiStatus (*derive) (EmogiEngineState *state, const EmogiGraph *old, const EmogiGraph *graph,
						   const EmogiDerivation *derivation, EmogiControl *control,
						   EmogiError *error);

	/*
	 * Tests: get the cached copy of a whole array of a graph, including its last line; UNSUPPORTED
	 * if there is none.
	 */
	EmogiStatus (*fetch) (EmogiEngineState *state, uint64_t graph_id, const void *array, void *to,
						  uint64_t bytes, EmogiError *error);

	/*
	 * Searches that are not an EmogiQuery; NULL = this engine has none.
	 *
	 * msbfs: a BFS from each of the query's sources separately, 1 .. EMOGI_MSBFS_SOURCES vertex
	 * numbers, duplicates allowed, up to its max_depth. If graph->backward exists, it saves work.
	 * If result->too_deep is set (with status EMOGI_OK), search from the sources one by one.
	 *
	 * path: the path from the query's only source to its only target, as emogi_path_search_within
	 * finds it.
	 *
	 * contract: the contraction hierarchy of a graph, as emogi_contraction_make makes it; state may
	 * be NULL, because only the calling thread computes.
	 */
	EmogiStatus (*msbfs) (EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
						  struct EmogiMsbfsResult *result, EmogiControl *control,
						  EmogiError *error);
	EmogiStatus (*path) (EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
						 uint64_t max_edges, uint64_t max_vertices, struct EmogiPathAnswer *answer,
						 EmogiControl *control, EmogiError *error);
	EmogiStatus (*contract) (EmogiEngineState *state, const EmogiGraph *graph, uint64_t max_bytes,
							 bool (*poll) (void), struct EmogiContraction **made,
							 EmogiControl *control, EmogiError *error);
} EmogiEngine;

/* The engine of the host processor, linked statically. */
extern const EmogiEngine *emogi_cpu_engine(void);

/* Run a query as that engine does, in the calling thread alone: on small graphs, in any process. */
extern EmogiStatus emogi_cpu_engine_run_alone(const EmogiGraph *graph, const EmogiQuery *query,
											  EmogiResult *result, EmogiControl *control,
											  EmogiError *error);

/*
 * Make the CUDA driver load all kernels when a device is opened, so that no run pays for loading;
 * by default it loads each at its first launch. The user's own setting takes precedence. Call this
 * before the driver is used, while no other thread reads the environment.
 */
static inline void
emogi_cuda_load_eagerly(void)
{
	(void) setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

/*
 * Exported by emogi_cuda.so and looked up by dlsym. Returns without using the driver; open() does
 * that.
 */
#define EMOGI_CUDA_ENTRY "emogi_cuda_engine"
typedef const EmogiEngine *(*EmogiEngineEntry) (void);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_ENGINE_H */
