/*
 * options.h: the command line of emogi_bench.
 */
#ifndef EMOGI_BENCH_OPTIONS_H
#define EMOGI_BENCH_OPTIONS_H

#include "contract/semirings.h"
#include "generate.h"

#include <stdio.h>

#define EMOGI_BENCH_SOURCES 1024
#define EMOGI_BENCH_CHOICES 64

typedef struct EmogiBenchOptions
{
	EmogiGenerator generator;
	int			scale;			/* 0 = nvertices is not a power of two that was asked for */
	uint64_t	nvertices;		/* grid, path, star: see emogi_recipe */
	int			degree;
	bool		generate_on_cuda;
	bool		check_generate;
	bool		directed;		/* every edge leads one way */
	bool		unweighted;		/* every edge weighs 1 */
	const char *file;			/* of the edges; NULL = none */
	double		quarters[3];	/* rmat: A, B, C */
	int64_t		source;			/* the only one; -1 = nsources at random */
	int			nsources;
	int			ntrials;
	uint64_t	seed;
	int64_t		max_iterations; /* of the algorithms that iterate */
	int64_t		samples;		/* of what is estimated from some vertices, or searches from each of many; 0 = all */
	uint64_t	npairs;			/* whose similarity is asked for; 0 = that of all vertices */
	int64_t		nwalks;			/* from each source */
	int			nlinks;			/* of GPUs, the first so many, that may serve a run */
	double		in_out;			/* node2vec's q */
	double		tolerance;
	double		alpha;			/* of Katz centrality */
	int			nleaps;			/* vertices that PageRank's leaps go to; 0 = all alike */
	bool		is_weighted;	/* what takes weights reads them */
	double		distance;		/* PageRank runs until its L1 distance from a reference is this; 0 = does not */
	double		cancel_after_ms;	/* -1 = runs are not canceled */
	uint64_t	nfar_paths;		/* searched instead of runs; 0 = none */
	bool		verify;
	bool		cached;			/* the engine keeps the Graph between runs, until the next placement */
	const char *module;			/* path of emogi_cuda.so */
	const char *generator_module;	/* path of emogi_bench_cuda.so */
	const char *label;			/* of the lines in the files */
	FILE	   *csv;			/* one line a run */
	FILE	   *summary;		/* one line a series */
	EmogiEngineOptions engine;
	int			nalgorithms;
	EmogiAlgorithm algorithms[EMOGI_BENCH_CHOICES];	/* [nalgorithms] */
	int			nengines;
	bool		cuda[EMOGI_BENCH_CHOICES];	/* [nengines]; false = cpu */
	int			nplacements;
	EmogiPlacement placements[EMOGI_BENCH_CHOICES];	/* [nplacements] */
	int			nmappings;
	EmogiMapping mappings[EMOGI_BENCH_CHOICES]; /* [nmappings] */
	EmogiPapersQuery papers;	/* but for the mapping */
} EmogiBenchOptions;

extern const char *const emogi_graph_names[];	/* by EmogiGenerator */
extern const char *const emogi_placement_names[EMOGI_NPLACEMENTS];
extern const char *const emogi_mapping_names[EMOGI_NMAPPINGS];

/* Print a message and leave. */
extern void emogi_bench_die(const char *what, const EmogiError *error);

/* remote_errors.c: open the files of runs and of series to append to, and write their heads where they are new. */
extern FILE *emogi_bench_open_csv(const char *path);
extern FILE *emogi_bench_open_summary(const char *path);

/* Read the command line; leaves when it cannot be understood. */
extern void emogi_bench_options(EmogiBenchOptions *options, int argc, char **argv);

#endif							/* EMOGI_BENCH_OPTIONS_H */
