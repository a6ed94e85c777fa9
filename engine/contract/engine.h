/*
 * engine.h: the contract between the two worlds (PostgreSQL and not) and between the engines (CPU and CUDA).
 *
 * Plain C11 that gcc and nvcc both take. Nothing here, and nothing below here, knows PostgreSQL: a function reports
 * by an EmogiStatus and an EmogiError, never by longjmp, exit or a message on stderr; it writes only into memory
 * that its caller gave it, and frees whatever it took for itself on every path.
 *
 * Words: a vertex *number* is an index 0 .. nvertices-1 (uint32); a vertex *key* is what the user's table holds
 * (int64). ids[] translates. Numbers are given in ascending order of keys.
 */
#ifndef EMOGI_ENGINE_H
#define EMOGI_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms.h"
#include "papers.h"
#include "summary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a struct below does, or the number of algorithms; emogi_cuda.so of another build is refused. */
#define EMOGI_ENGINE_ABI (UINT32_C(8007) + EMOGI_NALGORITHMS)

/* A function in a header that both compilers take, for the device, too. */
#ifdef __CUDACC__
#define EMOGI_INLINE static __host__ __device__ __forceinline__
#else
#define EMOGI_INLINE static inline
#endif

/* The unit of a request on the link, and of alignment of every array that a GPU may read in place. */
#define EMOGI_LINE_BYTES 128

/* Vertex numbers are uint32; the largest value is kept free: EMOGI_NO_VERTEX. */
#define EMOGI_MAX_VERTICES UINT64_C(0xFFFFFFFE)

typedef enum EmogiStatus
{
	EMOGI_OK = 0,
	EMOGI_CANCELED,				/* control->cancel was seen; outputs are undefined */
	EMOGI_NO_MEMORY,			/* host or device memory; nothing was left allocated */
	EMOGI_DEVICE_ERROR,			/* the device or its driver failed; the process should be replaced */
	EMOGI_BAD_INPUT,			/* the caller asked for something that cannot be done */
	EMOGI_UNSUPPORTED			/* this engine does not have it; another may. The error's message says what */
} EmogiStatus;

/* What went wrong, for a person. Set whenever a function returns anything but EMOGI_OK and EMOGI_CANCELED. */
typedef struct EmogiError
{
	char		message[256];	/* one line, lower case, no full stop */
	char		detail[256];	/* facts: figures, or the words of CUDA; may be empty */
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
	EMOGI_PHASE_REFRESH,		/* what has changed in the tables */
	EMOGI_PHASE_SPLICE,			/* a Graph of another and the changes */
	EMOGI_NPHASES
} EmogiPhase;

/*
 * What passes between a running engine and the outside while it runs. Lives in shared memory. `cancel` is set to 1
 * by anyone, at any time, and read by the engine at every level or iteration and at least every 50 ms of work (from
 * any of its threads). The rest is written by the engine and read by anyone; a torn or old value does no harm.
 */
typedef struct EmogiControl
{
	volatile uint32_t cancel;
	volatile uint32_t phase;	/* EmogiPhase */
	volatile uint32_t level;	/* level or iteration, from 0 */
	volatile uint64_t done;		/* of `total`, unit of the phase: edges or vertices */
	volatile uint64_t total;	/* 0 = unknown */

	uint64_t	spare_bytes;		/* set before the run: what the CPU engine may take of memory that a run can do without, to be faster */

	/* For tests: the n-th allocation, or call of the driver, of this request fails as if by itself. 0 = none does. */
	uint32_t	fail_allocation;	/* of host memory by an engine */
	uint32_t	fail_device_allocation;
	uint32_t	fail_device_call;	/* of the thread of the run's GPU; with EMOGI_FAULT_OF_HELPER: of each GPU that makes parts of the run */
} EmogiControl;

#define EMOGI_FAULT_OF_HELPER UINT32_C(0x80000000)

/* How a Graph stores its weights: the narrowest type that holds every one of them exactly. */
typedef enum EmogiWeightType
{
	EMOGI_WEIGHT_NONE = 0,		/* no weights: every edge weighs 1 */
	EMOGI_WEIGHT_U8,
	EMOGI_WEIGHT_U16,
	EMOGI_WEIGHT_U32,
	EMOGI_WEIGHT_F32,
	EMOGI_WEIGHT_F64
} EmogiWeightType;

/*
 * One orientation of a Graph in compressed sparse rows. The list of vertex v is targets[offsets[v] .. offsets[v+1]-1],
 * ascending (by target, then by weight). targets and weights are aligned to EMOGI_LINE_BYTES and may be read (not used)
 * up to the end of their last line.
 */
typedef struct EmogiAdjacency
{
	uint64_t	nedges;
	const uint64_t *offsets;	/* [nvertices + 1], edges, offsets[0] = 0; NULL = this orientation is not built */
	const uint32_t *targets;	/* [nedges], vertex numbers */
	const void *weights;		/* [nedges] of the Graph's weight_type; NULL when that is EMOGI_WEIGHT_NONE */
} EmogiAdjacency;

/*
 * A Graph as a Query sees it. forward leads from a vertex to those that a traversal reaches next; backward is its
 * transpose (equal pointers when the Graph is symmetric), which direction-optimising algorithms use when it is there.
 */
typedef struct EmogiGraph
{
	uint64_t	nvertices;
	const int64_t *ids;			/* [nvertices], keys, strictly ascending; NULL = numbers are the keys */
	const struct EmogiDictionary *dictionary;	/* what ids are codes of, where keys are no integers; else NULL. No engine reads it */
	EmogiWeightType weight_type;
	EmogiAdjacency forward;
	EmogiAdjacency backward;
	const void *memory;			/* the page-aligned block that holds all arrays above, for cudaHostRegister */
	uint64_t	memory_bytes;
	uint64_t	id;				/* never used twice in the life of an engine: it may keep what it made of this Graph's block,
								 * until forget(); 0 = the block is gone after the run */
} EmogiGraph;

/* Where a GPU reads edges from. The CPU engine ignores it. */
typedef enum EmogiPlacement
{
	EMOGI_PLACEMENT_AUTO = 0,	/* device when the edges fit in the free device memory, else hybrid or host */
	EMOGI_PLACEMENT_HOST,		/* zero-copy from registered host memory */
	EMOGI_PLACEMENT_DEVICE,		/* copied to device memory first; NO_MEMORY when they do not fit */
	EMOGI_PLACEMENT_HYBRID,		/* as host, with what is read most often in device memory as far as it fits: some neighbours of
								 * each vertex, all weights, or whole pieces of the lists; host where that is of no use */
	EMOGI_PLACEMENT_PEER,		/* as device; what this GPU's memory cannot hold lies in that of GPUs that help. NO_MEMORY when these cannot, either */
	EMOGI_PAPERS_PLACEMENTS		/* MANAGED, STAGED: papers.h */
	EMOGI_NPLACEMENTS
} EmogiPlacement;

/* One algorithm with its arguments: those that its row says. */
typedef struct EmogiQuery
{
	EmogiAlgorithm algorithm;
	EmogiPlacement placement;
	uint32_t	devices;		/* GPUs over whose links edges may come, too, bits by number; they may be at work for others */
	EmogiPapersQuery papers;	/* all 0 = by our own kernels */
	uint64_t	nsources;
	const uint32_t *sources;	/* [nsources], vertex numbers, each < nvertices, repeats allowed */
	uint64_t	ntargets;
	const uint32_t *targets;	/* [ntargets], vertex numbers: BFS, and paths whose values add up, may stop when these are
								 * settled; the result then holds for them alone, and an engine may ignore them; ntargets = 0: all
								 * are wanted. SIMILARITY without pairs: elements are of these, and no engine may ignore them.
								 * DISTANCE_MATRIX: its columns */
	int64_t		max_depth;		/* hops; levels above it are not entered; -1 = no bound */
	uint32_t	first_level;	/* BFS_SUMS: levels below it are entered and not counted */
	double		max_distance;	/* vertices farther away are not reached; INFINITY = no bound */
	double		damping;		/* 0 .. 1 */
	double		alpha;			/* >= 0, finite */
	double		beta;			/* finite */
	int64_t		max_iterations; /* >= 1 */
	double		tolerance;		/* >= 0; stop after a change below it; 0 = exactly max_iterations */
	int64_t		samples;		/* estimate from so many vertices (sample.h); 0, or as many as there are: exactly */
	double		resolution;		/* >= 0, finite */
	double		theta;			/* >= 0: how random choices are; 0 = not at all */
	int64_t		max_cluster_size;	/* vertices of a community; 0 = no bound */
	int64_t		max_levels;		/* 0 = no bound */
	uint64_t	seed;			/* of random choices: which vertices are samples, in which order nodes are moved */
	bool		normalized;
	int64_t		length;			/* steps of a walk */
	int64_t		walks;			/* >= 1, of each source */
	double		return_parameter;	/* > 0, finite: p */
	double		in_out_parameter;	/* > 0, finite: q */
	EmogiMeasure measure;
	int64_t		top_k;			/* >= 1 */
	double		cutoff;			/* 0 .. 1 */
	uint64_t	npairs;
	const uint32_t *pairs;		/* SIMILARITY: [npairs][2], vertex numbers; NULL = all are looked at */
	bool		maximum;		/* SPANNING_FOREST: of the heaviest edges, not the lightest */
	const double *values;		/* [nvertices], start values, or communities */
	const double *leap;			/* PAGERANK: [nvertices], proportions that sum to 1; NULL = 1 / nvertices each */
	bool		is_weighted;	/* what takes EMOGI_WEIGHTED: edges count as their weights, which are 0 and more, finite */
	const EmogiSummary *summary;	/* NULL = all of the answer is wanted */
} EmogiQuery;

/* A column of an answer: [nvertices], or what emogi_query_length says, of the type that the algorithm's row says. */
typedef union EmogiArray
{
	int32_t    *int32;
	int64_t    *int64;
	double	   *float64;
	uint32_t   *vertex;
	void	   *any;
} EmogiArray;

/* Get a value of a column as a number. */
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

/* Why a Graph has no answer to a Query, whatever the engine: BAD_INPUT, and its caller says so in terms of keys. */
typedef enum EmogiRefusalKind
{
	EMOGI_NOT_REFUSED = 0,
	EMOGI_HAS_CYCLE,			/* TOPOLOGICAL_ORDER, LONGEST_PATH */
	EMOGI_DIVERGES,				/* KATZ: what iterations add grows without bound */
	EMOGI_WEIGHTS_OUT_OF_RANGE, /* sums of weights are beyond what can be divided by; the message says which */
	EMOGI_HAS_NOT_CONVERGED		/* KATZ: in max_iterations; whether it ever does may be open */
} EmogiRefusalKind;

#define EMOGI_CYCLE_NAMED 10

typedef struct EmogiRefusal
{
	EmogiRefusalKind kind;
	uint64_t	cycle_length;	/* edges of the shortest cycle through its smallest vertex */
	uint32_t	cycle[EMOGI_CYCLE_NAMED];	/* its first vertices, that one first, as its edges lead */
	double		rate;			/* proven: in the long run an iteration adds at most so many times what the one before did */
} EmogiRefusal;

/*
 * What a Query fills. Arrays belong to the caller and need no initialisation: an engine writes every element, unless it makes a summary.
 * The counters describe the run.
 */
typedef struct EmogiResult
{
	EmogiArray	columns[EMOGI_MAX_COLUMNS]; /* those of the algorithm's row, in its order */

	bool		is_summarized;	/* query->summary has what was wanted of the answer. Columns are then filled as it says, else all */
	uint64_t	nsummarized;	/* groups, or vertices */

	uint64_t	nreached;		/* vertices reached; all of them where there is no source */
	uint32_t	nlevels;		/* levels entered, the sources' own (0) included; or iterations made */
	double		change;			/* of the last iteration: L1 (PAGERANK, HITS) or largest of a vertex */
	uint64_t	edges_traversed;	/* list entries that the engine looked at */
	uint64_t	link_bytes;		/* bytes of edges that crossed the link in the run: lines read in place x 128, and copies; 0 on
								 * the CPU. Of the papers' mappings in HOST placement: lines that the lists read lie in, or, when
								 * requests are counted, lines requested; in MANAGED placement all edges */
	EmogiRefusal refusal;		/* when the status is BAD_INPUT */
	EmogiPapersCounts papers;
	EmogiPlacement placement;	/* where the edges were read from; EMOGI_PLACEMENT_AUTO on the CPU */
	int32_t		nlinks;			/* of GPUs over which edges came while it ran */
	char		left_out[200];	/* a GPU that was to help and could not, and why; empty = none */
	bool		helper_lost;	/* it has failed: the process must be replaced, though the answer is right */
	double		transfer_ms;	/* copies to and from the device, registration of host memory */
	double		run_ms;			/* the traversal itself */
} EmogiResult;

/* What an engine can say of one device (for the CPU engine: of the processor). */
typedef struct EmogiDevice
{
	int32_t		number;			/* as the driver counts those that are visible; -1 for the CPU */
	char		name[128];
	char		driver[64];		/* driver and runtime version; empty for the CPU */
	uint64_t	memory_bytes;	/* device memory; 0 for the CPU */
	uint64_t	free_bytes;
	uint64_t	used_bytes;		/* device memory that this engine holds now, copies of Graphs included */
	uint64_t	ready_bytes;	/* beside that, what lies ready for runs to come: a 64th of all, or of the cap, at most */
	int32_t		units;			/* multiprocessors or threads */
	double		link_gbps;		/* measured pinned host-to-device copy, 1e9 bytes/s; 0 = not measured */
} EmogiDevice;

typedef struct EmogiEngineOptions
{
	int32_t		device;			/* number of the GPU; the CPU engine ignores it */
	int32_t		cpu_threads;	/* >= 1 */
	uint64_t	device_memory_bytes;	/* cap of what an engine may take on one GPU; 0 = all that is free */
	bool		plain_memory;	/* tests: have nothing ready between runs, as on a GPU without memory pools */
	bool		always_help;	/* tests: have helpers take part in small steps, too */
	bool		always_bins;	/* tests: cut the entries of small Graphs apart for PageRank, too (cuda/algorithms/propagation_blocking.cuh) */
} EmogiEngineOptions;

typedef struct EmogiEngineState EmogiEngineState;
typedef struct EmogiDerivation EmogiDerivation; /* derivation.h */

/*
 * An engine. open() may take a while (driver start) and is called after fork, in the process that runs: once for the CPU, once for
 * each GPU, which has a state of its own. Functions are called by one thread at a time for each state, of which several may be at work at once;
 * the calling thread may change from run to run. A DEVICE_ERROR leaves the state fit only for close().
 */
typedef struct EmogiEngine
{
	uint32_t	abi;			/* EMOGI_ENGINE_ABI */
	const char *name;			/* "cpu" or "cuda" */
	EmogiStatus (*open) (const EmogiEngineOptions *options, EmogiEngineState **state, EmogiError *error);
	void		(*close) (EmogiEngineState *state);
	int32_t		(*ndevices) (void);	/* that open() may be asked for; 0, too, where it will say why there is none */
	EmogiStatus (*describe) (const EmogiEngineState *state, EmogiDevice *out, EmogiError *error);
	EmogiStatus (*run) (EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
						EmogiResult *result, EmogiControl *control, EmogiError *error);

	/*
	 * Would other GPUs be of help to a run, by reading a share of the lists, or by lending memory? For a state that nobody uses, in any thread. And: have
	 * some help the next run of a state, which then uses their states, too. NULL = one GPU has nothing to do with another.
	 */
	bool		(*wants_help) (EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query);
	void		(*help) (EmogiEngineState *state, EmogiEngineState *const *helpers, int nhelpers);

	/*
	 * Drop all that was kept of the Graph with this id: after it the Graph's memory may be freed. An unknown id is no
	 * error. Called by one thread at a time, and never beside run(). Gets the bytes of device memory still kept.
	 */
	uint64_t	(*forget) (EmogiEngineState *state, uint64_t graph_id);

	/*
	 * Make copies of a Graph's arrays, as run() would keep them, of those that are kept of the old Graph, from which it comes as the
	 * derivation says. Both have an id. What there are no copies of is left to run(), as all is after any other status: UNSUPPORTED where
	 * nothing is kept, NO_MEMORY where both do not fit beside what else is kept. Called by one thread at a time, never beside run() or
	 * forget(). NULL = this engine keeps nothing.
	 */
	EmogiStatus (*derive) (EmogiEngineState *state, const EmogiGraph *old, const EmogiGraph *graph,
						   const EmogiDerivation *derivation, EmogiControl *control, EmogiError *error);

	/* For tests: get the copy that is kept of a whole array of a Graph, its last line included; UNSUPPORTED when there is none. */
	EmogiStatus (*fetch) (EmogiEngineState *state, uint64_t graph_id, const void *array, void *to, uint64_t bytes, EmogiError *error);
} EmogiEngine;

/* The engine of this machine's processor, linked in. */
extern const EmogiEngine *emogi_cpu_engine(void);

/* What emogi_cuda.so exports; looked up by dlsym. Returns without touching the driver; open() does that. */
#define EMOGI_CUDA_ENTRY "emogi_cuda_engine"
typedef const EmogiEngine *(*EmogiEngineEntry) (void);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_ENGINE_H */
