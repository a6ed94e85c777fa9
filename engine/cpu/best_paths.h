/*
 * best_paths.h: shared declarations of best_paths.c, which drives a search of the path semiring
 * from bin to bin, and best_paths_relax.c, which holds the parallel steps.
 */
#ifndef EMOGI_CPU_BEST_PATHS_H
#define EMOGI_CPU_BEST_PATHS_H

#include "cpu/buckets.h"
#include "cpu/cpu_run.h"

/*
 * Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon, commit
 * 45449c8.
 */
#define EMOGI_BEST_PATHS_SAMPLES 4096	/* weights sampled to choose the bins */
/* the width of a bin is DELTA_SHARE * mean weight * (1 + 32 / mean degree) */
#define EMOGI_BEST_PATHS_DELTA_SHARE 0.25
#define EMOGI_BEST_PATHS_SERIAL_ITEMS 32	/* a smaller round is processed by the caller alone */
#define EMOGI_BEST_PATHS_ITEM_CHUNK 64		/* items of a round that a thread takes at a time */
/* a thread drains its own bin before the round ends if the bin has at most this many blocks */
#define EMOGI_BEST_PATHS_FUSE_BLOCKS 4
/* a longer adjacency list is processed by all threads together */
#define EMOGI_BEST_PATHS_HUB_ENTRIES 32768
#define EMOGI_BEST_PATHS_HUB_PIECE 8192	/* edges of a hub that a thread takes at a time */
#define EMOGI_BEST_PATHS_PREFETCH 8	/* prefetch distance, items */
#define EMOGI_BEST_PATHS_CLEAR_CHUNK 16384		/* vertices */
#define EMOGI_BEST_PATHS_CONVERT_CHUNK 16384	/* vertices */

/* A long adjacency list that all threads process together. */
typedef struct EmogiBestPathsHub
{
	EmogiBucketItem item;
	uint64_t	next;			/* atomic: the next piece */
} EmogiBestPathsHub;

/* Counters of one thread. */
typedef struct EmogiBestPathsTally
{
	uint64_t	nreached;
	uint64_t	nscanned;		/* edges examined */
	uint64_t	nfar;			/* items that a sort of the far bin left there */
	uint64_t	nnear;			/* items that it moved into a near bin */
	double		nearest;		/* the smallest value in the far bin */
	char		pad[EMOGI_LINE_BYTES - 40];
} EmogiBestPathsTally;

/*
 * The state of a search. Between steps it belongs to the caller's thread; during a step, threads
 * write value[] and the other fields marked atomic, and their own bins and tally.
 */
typedef struct EmogiBestPaths
{
	EmogiCpuRun run;
	EmogiAdjacency lists;
	EmogiWeightType weight_type;
	uint64_t	nvertices;
	EmogiAlgorithm algorithm;
	double		none;			/* the value of an unreached vertex */
	double		bound;			/* additive: values above it are not stored, and not relaxed if
								 * stored before */
	double		farthest;		/* additive: the value of the farthest target once all targets
								 * are reached, or an earlier upper bound of it; +inf before */
	uint64_t	nfound;			/* the first nfound targets of the query are known to be reached */
	uint64_t	nscanned;		/* edges examined when farthest was found */
	double	   *value;			/* [nvertices], atomic */
	double		base;			/* additive: the lower end of bin 0, and 1 / the width of a bin */
	double		per_bin;
	bool		too_narrow;		/* the last refill left nearly all items in the far bin */
	double		limits[EMOGI_NBINS];	/* not additive: [nlimits], best first; a value belongs
										 * to the first bin b for which limits[b] is not better
										 * than it */
	uint32_t	nlimits;
	uint32_t	bin;			/* the bin being emptied */
	EmogiBucketBlock **round;	/* [nround of round_room], the blocks of the round */
	uint64_t	nround;
	uint64_t	round_room;
	EmogiBestPathsHub *hubs;	/* [nhubs of hub_room] */
	uint64_t	hub_room;
	uint64_t	nhubs;			/* atomic; greater than hub_room if hubs[] was full */
	EmogiBuckets *bins;			/* [nthreads] */
	EmogiBestPathsTally *tally; /* [nthreads] */
} EmogiBestPaths;

/* Steps: tasks of a pool or of one thread alone; arg is the EmogiBestPaths. */
extern void emogi_best_paths_clear(void *arg, int thread, int nthreads);
extern void emogi_best_paths_relax(void *arg, int thread, int nthreads);
extern void emogi_best_paths_relax_hubs(void *arg, int thread, int nthreads);
extern void emogi_best_paths_find_nearest(void *arg, int thread, int nthreads);
extern void emogi_best_paths_sort_far(void *arg, int thread, int nthreads);

/* Put a source into the bins of thread 0; false if out of memory. */
extern bool emogi_best_paths_enter(EmogiBestPaths *path, uint32_t source);

#endif							/* EMOGI_CPU_BEST_PATHS_H */
