/*
 * best_paths.h: what passes between best_paths.c, which leads a search of the path semiring from
 * bin to bin, and best_paths_walk.c, which holds the parallel steps.
 */
#ifndef EMOGI_CPU_BEST_PATHS_H
#define EMOGI_CPU_BEST_PATHS_H

#include "cpu/buckets.h"
#include "cpu/cpu_run.h"

/*
 * Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon, commit
 * 45449c8.
 */
#define EMOGI_BEST_PATHS_SAMPLES 4096	/* weights that are looked at to choose the bins */
/* the width of a bin is this of the mean weight, times 1 + 32 / mean degree */
#define EMOGI_BEST_PATHS_DELTA_SHARE 0.25
#define EMOGI_BEST_PATHS_ALONE_ITEMS 32	/* a round with fewer is made by the caller alone */
#define EMOGI_BEST_PATHS_ITEMS_AT_ONCE 64	/* of a round that a thread takes */
/* so many blocks in its bin a thread empties itself before the round ends */
#define EMOGI_BEST_PATHS_FUSE_BLOCKS 4
#define EMOGI_BEST_PATHS_HUB_ENTRIES 32768	/* a longer list is walked by all threads together */
#define EMOGI_BEST_PATHS_HUB_PIECE 8192	/* entries of a hub's list that a thread takes at once */
#define EMOGI_BEST_PATHS_AHEAD 8	/* items */
#define EMOGI_BEST_PATHS_CLEAR_AT_ONCE 16384	/* vertices */
#define EMOGI_BEST_PATHS_CONVERT_AT_ONCE 16384	/* vertices */

/* A long list that all threads walk together. */
typedef struct EmogiBestPathsHub
{
	EmogiBucketItem item;
	uint64_t	next;			/* atomic: its next piece */
} EmogiBestPathsHub;

/* What one thread has found. */
typedef struct EmogiBestPathsTally
{
	uint64_t	nreached;
	uint64_t	looked;			/* list entries */
	uint64_t	nfar;			/* of a sort of the far bin: items that stayed there */
	uint64_t	nnear;			/* items that came into a near bin */
	double		nearest;		/* the least value of the far bin */
	char		pad[EMOGI_LINE_BYTES - 40];
} EmogiBestPathsTally;

/*
 * The state of a search. Between steps it belongs to the caller's thread; in a step, threads write
 * value[] (atomic), what else is marked atomic, and their own bins and tally.
 */
typedef struct EmogiBestPaths
{
	EmogiCpuRun run;
	EmogiAdjacency lists;
	EmogiWeightType weight_type;
	uint64_t	nvertices;
	EmogiAlgorithm algorithm;
	double		none;			/* the value of a vertex that is not reached */
	double		bound;			/* of sums: those beyond it are not taken, and not followed when
								 * taken before */
	double		farthest;		/* of sums: that of the farthest target once all are reached, or
								 * one before; +inf till then */
	uint64_t	nfound;			/* so many of the query's targets, from the first on, are known
								 * to be reached */
	uint64_t	looked;			/* list entries looked at when farthest was found */
	double	   *value;			/* [nvertices], atomic */
	double		base;			/* of sums: where bin 0 begins, and 1 / the width of a bin */
	double		per_bin;
	bool		too_narrow;		/* the last time that the bins were filled, nearly all stayed in
								 * the far bin */
	double		limits[EMOGI_NBINS];	/* of other values: [nlimits], best first: bin b holds
										 * those that limits[b] is the first not to be better
										 * than */
	uint32_t	nlimits;
	uint32_t	bin;			/* the bin that is being emptied */
	EmogiBucketBlock **round;	/* [nround of round_room], its blocks */
	uint64_t	nround;
	uint64_t	round_room;
	EmogiBestPathsHub *hubs;	/* [nhubs of hub_room] */
	uint64_t	hub_room;
	uint64_t	nhubs;			/* atomic; more than hub_room when there was no room */
	EmogiBuckets *bins;			/* [nthreads] */
	EmogiBestPathsTally *tally; /* [nthreads] */
} EmogiBestPaths;

/* Steps: tasks of a pool, or of one thread alone; arg is the EmogiBestPaths. */
extern void emogi_best_paths_clear(void *arg, int thread, int nthreads);
extern void emogi_best_paths_walk(void *arg, int thread, int nthreads);
extern void emogi_best_paths_walk_hubs(void *arg, int thread, int nthreads);
extern void emogi_best_paths_find_nearest(void *arg, int thread, int nthreads);
extern void emogi_best_paths_sort_far(void *arg, int thread, int nthreads);

/* Put a source into the bins of thread 0; false without memory. */
extern bool emogi_best_paths_enter(EmogiBestPaths *path, uint32_t source);

#endif							/* EMOGI_CPU_BEST_PATHS_H */
