/*
 * series.h: runs of one algorithm on one engine, placement and mapping, from all sources.
 */
#ifndef EMOGI_BENCH_SERIES_H
#define EMOGI_BENCH_SERIES_H

#include "options.h"

/* One graph and the data shared by all runs on it. */
typedef struct EmogiBench
{
	EmogiBenchOptions options;
	EmogiPool  *pool;			/* builds the graph and verifies results */
	EmogiBuiltGraph built;
	uint32_t	sources[EMOGI_BENCH_SOURCES];
	uint64_t	nsamples;		/* at most nvertices */
	uint32_t   *samples;		/* [nsamples], sources of bfs_sums */
	double	   *values;			/* [nvertices], start values */
	double	   *teleport;			/* [nvertices], teleport proportions; NULL = uniform */
	uint64_t	npairs;			/* at most nvertices */
	uint32_t   *pairs;			/* [npairs][2], random vertices */
	double	   *reference;		/* [nvertices], converged ranks; NULL = not computed */
	void	   *arrays[EMOGI_MAX_COLUMNS];	/* [nvertices] of 8 bytes: result columns */
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
	EmogiEngineState *helper[16];	/* of other GPUs, which assist in each run */
	EmogiQuery	query;			/* except for the source */
	EmogiGraph	graph;			/* id 0: the engine does not cache it */
	char		title[160];
	double		distance;		/* L1 distance of the ranks from the reference, or NaN if unused */
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
 * Run a query of the series once, into the arrays of the benchmark, and verify the result if verify
 * is true. Prints the error and returns false for EMOGI_NO_MEMORY and EMOGI_UNSUPPORTED, and for
 * EMOGI_BAD_INPUT if the query uses a mapping or placement of the papers. Exits on other errors.
 */
extern bool emogi_bench_run(EmogiBench *bench, EmogiSeries *series, const EmogiQuery *query, bool verify, EmogiRun *run);

/*
 * Run an algorithm from all sources; series has engine, state, and the query except for the
 * algorithm.
 */
extern void emogi_bench_series(EmogiBench *bench, EmogiSeries series, EmogiAlgorithm algorithm, uint64_t graph_id);

/*
 * distance.c: set the series' iterations to the minimum that brings the ranks within
 * options.distance of the reference, and set its distance to the remaining one. Returns false if a
 * run does not fit in memory.
 */
extern bool emogi_bench_find_iterations(EmogiBench *bench, EmogiSeries *series);

/* report.c: print a run and add it to the CSV file and the series. */
extern void emogi_bench_note_run(EmogiBench *bench, EmogiSeries *series, const EmogiRun *run);

/* hierarchy.c: print the properties of a run's hierarchy of communities. */
extern void emogi_bench_print_hierarchy(EmogiBench *bench, const EmogiSeries *series, const EmogiRun *run);

/* report.c: print the medians of a series and add them to the summary; sorts the figures. */
extern void emogi_bench_note_series(EmogiBench *bench, EmogiSeries *series);

/* report.c: print how fast canceled runs returned; sorts the figures. */
extern void emogi_bench_note_cancels(EmogiSeries *series, int nruns);

/* far_paths.c: build a contraction hierarchy for shortest paths, and time paths. */
extern void emogi_bench_far_paths(EmogiBench *bench);

#endif							/* EMOGI_BENCH_SERIES_H */
