/*
 * series.h: runs of one algorithm on one engine, placement and mapping, from all sources.
 */
#ifndef EMOGI_BENCH_SERIES_H
#define EMOGI_BENCH_SERIES_H

#include "options.h"

/* One Graph and what all runs on it share. */
typedef struct EmogiBench
{
	EmogiBenchOptions options;
	EmogiPool  *pool;			/* that makes the graph and verifies */
	EmogiBuiltGraph built;
	uint32_t	sources[EMOGI_BENCH_SOURCES];
	uint64_t	nsamples;		/* at most nvertices */
	uint32_t   *samples;		/* [nsamples], vertices that bfs_sums searches from */
	double	   *values;			/* [nvertices], start values */
	double	   *teleport;			/* [nvertices], proportions of PageRank's leaps; NULL = all alike */
	uint64_t	npairs;			/* at most nvertices */
	uint32_t   *pairs;			/* [npairs][2], vertices at random */
	double	   *reference;		/* [nvertices], converged ranks; NULL = not made yet */
	void	   *arrays[EMOGI_MAX_COLUMNS];	/* [nvertices] of 8 bytes: what the runs fill */
	bool		failed;			/* a series did not fit in memory */
} EmogiBench;

typedef enum EmogiFigure
{
	EMOGI_RUN_MS,
	EMOGI_WALL_MS,
	EMOGI_ITERATION_MS,
	EMOGI_TEPS,
	EMOGI_LINK_GB,
	EMOGI_LEVELS,
	EMOGI_CANCEL_MS,			/* from cancel to the return of the call */
	EMOGI_REQUESTS,				/* of 32 bytes; the next three of 64, 96 and 128 */
	EMOGI_LAST_FIGURE = EMOGI_REQUESTS + 3,
	EMOGI_NFIGURES
} EmogiFigure;

/* Runs of one algorithm on one engine, placement and mapping. */
typedef struct EmogiSeries
{
	const EmogiEngine *engine;
	EmogiEngineState *state;
	int			nhelpers;
	EmogiEngineState *helper[16];	/* of other GPUs, which help with each run */
	EmogiQuery	query;			/* but for the source */
	EmogiGraph	graph;			/* id 0: the engine keeps nothing of it */
	char		title[160];
	double		distance;		/* of the ranks from the reference, L1; NaN where that is not asked */
	EmogiPlacement placed;		/* where the last run read edges */
	int			count;
	double	   *figures[EMOGI_NFIGURES];	/* [count] each; sorted once the series is over */
} EmogiSeries;

/* One run's answer and time. */
typedef struct EmogiRun
{
	EmogiResult result;
	uint32_t	source;
	int			trial;			/* -1: the warm-up */
	double		wall_ms;
} EmogiRun;

/*
 * Run a query of the series once, into the bench's arrays, and verify the answer if verify is true. NO_MEMORY,
 * and BAD_INPUT where a paper's mapping or placement is asked for, are printed and make it get false; after anything else but
 * OK it leaves.
 */
extern bool emogi_bench_run(EmogiBench *bench, EmogiSeries *series, const EmogiQuery *query, bool verify, EmogiRun *run);

/* Run an algorithm from all sources; series has engine, state, and the query but for the algorithm. */
extern void emogi_bench_series(EmogiBench *bench, EmogiSeries series, EmogiAlgorithm algorithm, uint64_t graph_id);

/*
 * distance.c: set the series' iterations to the fewest that bring the ranks within options.distance of the reference, and
 * its distance to what they leave. False when a run did not fit in memory.
 */
extern bool emogi_bench_find_iterations(EmogiBench *bench, EmogiSeries *series);

/* remote_errors.c: print a run, add it to the CSV file and to the series. */
extern void emogi_bench_note_run(EmogiBench *bench, EmogiSeries *series, const EmogiRun *run);

/* hierarchy.c: print what a run's hierarchy of communities is like. */
extern void emogi_bench_print_hierarchy(EmogiBench *bench, const EmogiSeries *series, const EmogiRun *run);

/* remote_errors.c: print the medians of a series and add them to the summary; sorts the figures. */
extern void emogi_bench_note_series(EmogiBench *bench, EmogiSeries *series);

/* remote_errors.c: print how fast canceled runs came back; sorts the figures. */
extern void emogi_bench_note_cancels(EmogiSeries *series, int nruns);

/* far_paths.c: prepare for far shortest paths, and time them. */
extern void emogi_bench_far_paths(EmogiBench *bench);

#endif							/* EMOGI_BENCH_SERIES_H */
