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

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a struct below does; emogi_cuda.so of another build is refused. */
#define EMOGI_ENGINE_ABI 1

/* The unit of a request on the link, and of alignment of every array that a GPU may read in place. */
#define EMOGI_LINE_BYTES 128

/* Vertex numbers are uint32; the largest value is kept free as "none". */
#define EMOGI_MAX_VERTICES UINT64_C(0xFFFFFFFE)
#define EMOGI_NO_VERTEX UINT32_C(0xFFFFFFFF)

typedef enum EmogiStatus
{
	EMOGI_OK = 0,
	EMOGI_CANCELED,				/* control->cancel was seen; outputs are undefined */
	EMOGI_NO_MEMORY,			/* host or device memory; nothing was left allocated */
	EMOGI_DEVICE_ERROR,			/* the device or its driver failed; the process should be replaced */
	EMOGI_BAD_INPUT				/* the caller asked for something that cannot be done */
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
	EMOGI_PHASE_ROWS
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
} EmogiControl;

/*
 * One orientation of a Graph in compressed sparse rows. The list of vertex v is targets[offsets[v] .. offsets[v+1]-1],
 * ascending. targets is aligned to EMOGI_LINE_BYTES and may be read (not used) up to the end of its last line.
 */
typedef struct EmogiAdjacency
{
	uint64_t	nedges;
	const uint64_t *offsets;	/* [nvertices + 1], edges, offsets[0] = 0; NULL = this orientation is not built */
	const uint32_t *targets;	/* [nedges], vertex numbers */
} EmogiAdjacency;

/*
 * A Graph as a Query sees it. forward leads from a vertex to those that a traversal reaches next; backward is its
 * transpose (equal pointers when the Graph is symmetric), which direction-optimising algorithms use when it is there.
 */
typedef struct EmogiGraph
{
	uint64_t	nvertices;
	const int64_t *ids;			/* [nvertices], keys, strictly ascending; NULL = numbers are the keys */
	EmogiAdjacency forward;
	EmogiAdjacency backward;
	const void *memory;			/* the page-aligned block that holds all arrays above, for cudaHostRegister */
	uint64_t	memory_bytes;
} EmogiGraph;

typedef enum EmogiAlgorithm
{
	EMOGI_BFS = 0
} EmogiAlgorithm;

/* Where a GPU reads edges from. The CPU engine ignores it. */
typedef enum EmogiPlacement
{
	EMOGI_PLACEMENT_AUTO = 0,	/* device when the edges fit in the free device memory, else host */
	EMOGI_PLACEMENT_HOST,		/* zero-copy from registered host memory */
	EMOGI_PLACEMENT_DEVICE		/* copied to device memory first; NO_MEMORY when they do not fit */
} EmogiPlacement;

/* One algorithm with its arguments. */
typedef struct EmogiQuery
{
	EmogiAlgorithm algorithm;
	EmogiPlacement placement;
	uint64_t	nsources;
	const uint32_t *sources;	/* [nsources], vertex numbers, each < nvertices, repeats allowed */
	int64_t		max_depth;		/* hops; levels above it are not entered; -1 = no bound */
} EmogiQuery;

/*
 * What a Query fills. Arrays belong to the caller and need no initialisation: an engine writes every element.
 * The counters describe the run.
 */
typedef struct EmogiResult
{
	int32_t    *level;			/* [nvertices], hops from the nearest source, -1 = not reached */

	uint64_t	nreached;		/* vertices with level >= 0 */
	uint32_t	nlevels;		/* levels entered, the sources' own (0) included */
	uint64_t	edges_traversed;	/* list entries that the engine looked at */
	uint64_t	link_bytes;		/* bytes read over the link in place: 128-byte lines requested x 128; 0 on the CPU */
	double		transfer_ms;	/* copies to and from the device, registration of host memory */
	double		run_ms;			/* the traversal itself */
} EmogiResult;

/* What an engine can say of one device (for the CPU engine: of the processor). */
typedef struct EmogiDevice
{
	char		name[128];
	char		driver[64];		/* driver and runtime version; empty for the CPU */
	uint64_t	memory_bytes;	/* device memory; 0 for the CPU */
	uint64_t	free_bytes;
	int32_t		units;			/* multiprocessors or threads */
	double		link_gbps;		/* measured pinned host-to-device copy, 1e9 bytes/s; 0 = not measured */
} EmogiDevice;

typedef struct EmogiEngineOptions
{
	int32_t		cpu_threads;	/* >= 1 */
	uint64_t	device_memory_bytes;	/* cap of what an engine may take on one GPU; 0 = all that is free */
} EmogiEngineOptions;

typedef struct EmogiEngineState EmogiEngineState;

/*
 * An engine. open() may take a while (driver start) and is called once a process, after fork, in the process that
 * runs. run() is called by one thread at a time; the calling thread may change from run to run. A DEVICE_ERROR leaves
 * the state fit only for close().
 */
typedef struct EmogiEngine
{
	uint32_t	abi;			/* EMOGI_ENGINE_ABI */
	const char *name;			/* "cpu" or "cuda" */
	EmogiStatus (*open) (const EmogiEngineOptions *options, EmogiEngineState **state, EmogiError *error);
	void		(*close) (EmogiEngineState *state);
	int32_t		(*ndevices) (const EmogiEngineState *state);
	EmogiStatus (*describe) (const EmogiEngineState *state, int32_t device, EmogiDevice *out, EmogiError *error);
	EmogiStatus (*run) (EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
						EmogiResult *result, EmogiControl *control, EmogiError *error);
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
