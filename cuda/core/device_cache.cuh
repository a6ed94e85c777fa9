/*
 * device_cache.cuh: what the engine keeps between runs of the Graphs that have an id: their DeviceCache.
 *
 * A DeviceCacheEntry owns the registration of its Graph's block, and copies of the block's arrays in device memory. A copy is
 * known by the host address of its array, not by what the array was to the run that made it: the same block is seen
 * through several views, with the orientations swapped or the weights left out. What was made of an array is a copy too,
 * known by the same address and its kind: prefixes of lists (placement.cuh), a part of the array (copy_pipeline.cuh), the targets
 * in another order or by other names (cache_blocking.cuh), or its entries cut apart (propagation_blocking.cuh). A part and the whole may be there
 * side by side; whoever wants one of them leaves the other idle.
 *
 *   copies          come from the host, or from the copies of the Graph that theirs was made of (incremental_copy.cuh). They enter
 *                   when they are complete (emogi_device_cache_keep); before that they belong to the run's
 *                   DeviceMemory, which frees them whatever happens. They leave by forget, by close, and by
 *                   emogi_device_cache_evict, when a run needs the memory. Their bytes count as taken by the engine.
 *   registrations   cost no device memory. They leave by forget, by close, and when the block of another Graph cannot be
 *                   registered beside them.
 *
 * A copy that the run under way reads is in use, and is never evicted. All others are idle: a run must not fail for want
 * of memory that is merely kept. The least recently used goes first, those of the run's own Graph after all others.
 *
 * One thread at a time runs, forgets or closes, so nothing here is locked. Whatever is freed, no kernel under way reads.
 */
#ifndef EMOGI_DEVICE_CACHE_CUH
#define EMOGI_DEVICE_CACHE_CUH

#include <cuda_runtime.h>

#include "contract/engine.h"

#define EMOGI_MAX_RESIDENTS 256
#define EMOGI_MAX_UNREAD 16		/* Graphs derived one from the other without a run on any: nobody seems to want them */
#define EMOGI_MAX_COPIES (14 * EMOGI_MAX_RESIDENTS)	/* offsets, targets, weights and what is made of them, twice */

struct DeviceMemory;

/* What a copy is to its array. */
typedef enum EmogiCopyKind
{
	EMOGI_COPY_WHOLE,
	EMOGI_COPY_PREFIXES,			/* of lists; length: targets a vertex */
	EMOGI_COPY_PART,			/* some pieces of a CopyPipeline; length: how many, and of what share (copy_pipeline.cu) */
	EMOGI_COPY_CUT,				/* targets for sweeps; length: segments */
	EMOGI_COPY_BINS				/* entries for sweeps, and what these write; length: 1 */
} EmogiCopyKind;

typedef struct DeviceCacheEntry
{
	uint64_t	id;				/* of the Graph; 0 = free */
	uint64_t	last_run;		/* number of the last run on it; 0 = free */
	const void *block;
	uint64_t	block_bytes;
	bool		registered;		/* by this engine */
	uint64_t	nruns;			/* on it, with the one under way */
	int			unread;			/* how often it and those before it have been derived since a run on one of them; 0 = a run was */
} DeviceCacheEntry;

typedef struct DeviceCacheCopy
{
	uint64_t	id;				/* of the Graph */
	uint64_t	last_run;		/* number of the last run that read it */
	const void *array;			/* in the Graph's block */
	EmogiCopyKind kind;
	uint64_t	length;			/* see EmogiCopyKind; 0 = a copy of the array itself */
	void	   *memory;			/* [bytes], device memory, or that of several GPUs (peer_memory.cuh) */
	uint64_t	bytes;
	uint64_t	elsewhere_bytes;	/* of them, in other GPUs' memory */
} DeviceCacheCopy;

/* All zero when the engine opens. */
typedef struct DeviceCache
{
	uint64_t	run;			/* number of the run under way, from 1 */
	DeviceCacheEntry   *own;			/* that of its Graph; NULL = the Graph has no id */
	DeviceCacheEntry	resident[EMOGI_MAX_RESIDENTS];
	int			ncopies;
	DeviceCacheCopy copy[EMOGI_MAX_COPIES];
} DeviceCache;

/* Have memory that is kept give way when device memory is short. */
extern void emogi_device_cache_open(EmogiEngineState *state);

/* Begin a run: find or make the DeviceCacheEntry of its Graph. */
extern EmogiStatus emogi_device_cache_begin(EmogiEngineState *state, const EmogiGraph *graph, EmogiError *error);

/*
 * Begin to derive a Graph's copies from an old one's, as a run on the new one, which it is not: find the old one's DeviceCacheEntry, make the
 * new one's. UNSUPPORTED when there is none of the old one, or it has not been of use for long.
 */
extern EmogiStatus emogi_device_cache_begin_derived(EmogiEngineState *state, uint64_t old_id, const EmogiGraph *graph, EmogiError *error);

/* Get the copy of an array of any Graph, in use from now on; NULL when there is none. */
extern const void *emogi_device_cache_use_other(EmogiEngineState *state, uint64_t graph_id, const void *array, uint64_t bytes);

/* Say whether the run under way, or that to come, is the first on the own Graph. */
extern bool emogi_device_cache_is_first(const EmogiEngineState *state);

/* Get the own Graph's copy of an array, in use from now on; NULL when there is none. */
extern const void *emogi_device_cache_use(EmogiEngineState *state, const void *array, uint64_t bytes);

/* The same of what was made of an array, of *length, at least `least` and at most `most`. */
extern const void *emogi_device_cache_use_made(EmogiEngineState *state, const void *array, EmogiCopyKind kind,
										   uint64_t least, uint64_t most, uint64_t *length);

/* Make all copies idle: the run has not begun to read any, or will not. */
extern void emogi_device_cache_let_go(EmogiEngineState *state);

/*
 * Take over the newest block of a run's memory, a complete copy of an array, or what was made of it. It stays with the
 * run when the Graph has no id or the table is full.
 */
extern void emogi_device_cache_keep(EmogiEngineState *state, DeviceMemory *memory, const void *array, EmogiCopyKind kind,
								uint64_t length);

/* Free the own Graph's idle copies of one kind of an array: a better one will be made. */
extern void emogi_device_cache_drop(EmogiEngineState *state, const void *array, EmogiCopyKind kind);

/* Get the bytes that evicting all idle copies would free. */
extern uint64_t emogi_device_cache_idle_bytes(const EmogiEngineState *state);

/* Free one idle copy; false when there is none. */
extern bool emogi_device_cache_evict(EmogiEngineState *state);

/* Get the bytes of what is kept of a Graph. */
extern uint64_t emogi_device_cache_bytes(const EmogiEngineState *state, uint64_t graph_id);

/* Drop the copy in a block of memory. For a state that is not at work. */
extern void emogi_device_cache_drop_memory(EmogiEngineState *state, const void *memory);

/* Unregister the block of the Graph least recently used, not the own one; false when there is none. */
extern bool emogi_device_cache_unregister_other(EmogiEngineState *state);

/* Drop the DeviceCacheEntry of a Graph with all that it owns, if there is one. */
extern void emogi_device_cache_forget(EmogiEngineState *state, uint64_t graph_id);

/* Drop all of them. */
extern void emogi_device_cache_forget_all(EmogiEngineState *state);

#endif							/* EMOGI_DEVICE_CACHE_CUH */
