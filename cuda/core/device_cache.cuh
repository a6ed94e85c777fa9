/*
 * device_cache.cuh: the device cache, which keeps registrations and device copies of graphs between
 * runs.
 *
 * A DeviceCacheEntry owns the registration of its graph's block and the copies of the block's
 * arrays in device memory. The key of a copy is the host address of its array, not the array's role
 * in the run that made the copy, because the same block is seen through several views: with the
 * orientations swapped, or without the weights. Data derived from an array is a copy too; its key
 * is the same address and its kind: prefixes of adjacency lists (placement.cuh), a part of the
 * array (copy_pipeline.cuh), the targets reordered or relabeled (cache_blocking.cuh), or the edges
 * split by destination (propagation_blocking.cuh). A part and the whole array may be cached side by
 * side; a run that uses one of them leaves the other idle.
 *
 *   copies         come from the host, or from the copies of the base graph (incremental_copy.cuh).
 *                  They enter the cache when they are complete (emogi_device_cache_keep); until
 *                  then they belong to the run's DeviceMemory, which frees them on every path. They
 *                  leave by forget, by close, and by emogi_device_cache_evict when a run needs the
 *                  memory. Their bytes count as allocated by the engine.
 *   registrations  cost no device memory. They leave by forget, by close, and when the block of
 *                  another graph cannot be registered beside them.
 *
 * A copy that the current run reads is in use and is never evicted. All other copies are idle: a
 * run must not fail for lack of memory that is merely cached. Eviction takes the least recently
 * used copy first, and copies of the run's own graph last.
 *
 * One thread at a time runs, forgets or closes, so no lock is needed here. Nothing is freed while a
 * running kernel reads it.
 */
#ifndef EMOGI_DEVICE_CACHE_CUH
#define EMOGI_DEVICE_CACHE_CUH

#include <cuda_runtime.h>

#include "contract/engine.h"

#define EMOGI_MAX_CACHED_GRAPHS 256
/* graphs derived one from the other without a run on any; beyond that, derivation stops */
#define EMOGI_MAX_UNREAD 16
/* offsets, targets, weights and data derived from them, for both orientations */
#define EMOGI_MAX_COPIES (14 * EMOGI_MAX_CACHED_GRAPHS)

struct DeviceMemory;

/* How a copy relates to its array. */
typedef enum EmogiCopyKind
{
	EMOGI_COPY_WHOLE,
	EMOGI_COPY_PREFIXES,		/* of adjacency lists; length: targets per vertex */
	/* some pieces of a CopyPipeline; length: how many, and of what share (copy_pipeline.cu) */
	EMOGI_COPY_PART,
	EMOGI_COPY_SEGMENTED,				/* targets for sweeps; length: segments */
	/* edges for sweeps, and the sweeps' output buffers; length: 1 */
	EMOGI_COPY_PROPAGATION_BLOCKS
} EmogiCopyKind;

typedef struct DeviceCacheEntry
{
	uint64_t	id;				/* of the graph; 0 = free */
	uint64_t	last_run;		/* number of the last run on it; 0 = free */
	const void *block;
	uint64_t	block_bytes;
	bool		registered;		/* by this engine */
	uint64_t	nruns;			/* runs on it, including the current one */
	/*
	 * derivations since the last run on it or on one of its base graphs; 0 = there was such a run
	 */
	int			unread;
} DeviceCacheEntry;

typedef struct DeviceCacheCopy
{
	uint64_t	id;				/* of the graph */
	uint64_t	last_run;		/* number of the last run that read it */
	const void *array;			/* in the graph's block */
	EmogiCopyKind kind;
	uint64_t	length;			/* see EmogiCopyKind; 0 = a copy of the array itself */
	void	   *memory;	/* [bytes], device memory, or memory of several GPUs (peer_memory.cuh) */
	uint64_t	bytes;
	uint64_t	elsewhere_bytes;	/* of these, in other GPUs' memory */
} DeviceCacheCopy;

/* All zero when the engine opens. */
typedef struct DeviceCache
{
	uint64_t	run;			/* number of the current run, from 1 */
	DeviceCacheEntry *own;	/* of the run's graph; NULL = the graph has no id */
	DeviceCacheEntry resident[EMOGI_MAX_CACHED_GRAPHS];
	int			ncopies;
	DeviceCacheCopy copy[EMOGI_MAX_COPIES];
} DeviceCache;

/* Register the device cache's callbacks for memory shortage (idle_bytes and evict). */
extern void emogi_device_cache_open(EmogiEngineState *state);

/* Begin a run: find or make the DeviceCacheEntry of its graph. */
extern EmogiStatus emogi_device_cache_begin(EmogiEngineState *state, const EmogiGraph *graph,
											EmogiError *error);

/*
 * Begin to derive a graph's copies from those of its base graph: find the base's DeviceCacheEntry
 * and make the new one's. This counts as a run in the cache's LRU order, but not as a run on the
 * new graph. Return UNSUPPORTED if the base is not cached, or if EMOGI_MAX_UNREAD derivations
 * passed without a run.
 */
extern EmogiStatus emogi_device_cache_begin_derived(EmogiEngineState *state, uint64_t old_id,
													const EmogiGraph *graph, EmogiError *error);

/* Get the copy of an array of any graph and mark it as in use; NULL if there is none. */
extern const void *emogi_device_cache_use_other(EmogiEngineState *state, uint64_t graph_id,
												const void *array, uint64_t bytes);

/* Return whether the current or next run is the first on its own graph. */
extern bool emogi_device_cache_is_first(const EmogiEngineState *state);

/* Get the own graph's copy of an array and mark it as in use; NULL if there is none. */
extern const void *emogi_device_cache_use(EmogiEngineState *state, const void *array,
										  uint64_t bytes);

/* Get a copy of the given kind with min_length <= *length <= max_length, and mark it as in use. */
extern const void *emogi_device_cache_use_derived(EmogiEngineState *state, const void *array,
											   EmogiCopyKind kind, uint64_t min_length,
											   uint64_t max_length, uint64_t *length);

/* Mark all copies as idle: the run has not begun to read any, or will not. */
extern void emogi_device_cache_release_all(EmogiEngineState *state);

/*
 * Move the newest block of a run's memory into the cache: a complete copy of an array, or data
 * derived from it. The block stays with the run if the graph has no id or the table is full.
 */
extern void emogi_device_cache_keep(EmogiEngineState *state, DeviceMemory *memory,
									const void *array, EmogiCopyKind kind, uint64_t length);

/* Free the own graph's idle copies of one kind of an array, because a better one will be made. */
extern void emogi_device_cache_drop(EmogiEngineState *state, const void *array, EmogiCopyKind kind);

/* Return the bytes that evicting all idle copies would free. */
extern uint64_t emogi_device_cache_idle_bytes(const EmogiEngineState *state);

/* Evict one idle copy; return false if there is none. */
extern bool emogi_device_cache_evict(EmogiEngineState *state);

/* Return the bytes that are cached for a graph. */
extern uint64_t emogi_device_cache_bytes(const EmogiEngineState *state, uint64_t graph_id);

/* Drop the copy in a block of memory. The state must not be running a query. */
extern void emogi_device_cache_drop_memory(EmogiEngineState *state, const void *memory);

/* Unregister the least recently used block of another graph; return false if there is none. */
extern bool emogi_device_cache_unregister_other(EmogiEngineState *state);

/* Drop the DeviceCacheEntry of a graph with everything that it owns, if there is one. */
extern void emogi_device_cache_forget(EmogiEngineState *state, uint64_t graph_id);

/* Drop all entries. */
extern void emogi_device_cache_forget_all(EmogiEngineState *state);

#endif							/* EMOGI_DEVICE_CACHE_CUH */
