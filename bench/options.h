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
	int			scale;			/* 0 = nvertices was given instead */
	uint64_t	nvertices;		/* grid, path, star: see emogi_recipe */
	int			degree;
	bool		generate_on_cuda;
	bool		check_generate;
	bool		directed;		/* each edge has one direction */
	bool		unweighted;		/* no edge weights */
	const char *file;			/* edge file; NULL = none */
	double		quarters[3];	/* rmat: A, B, C */
	int64_t		source;			/* single source; -1 = nsources random sources */
	int			nsources;
	int			ntrials;
	uint64_t	seed;
	int64_t		max_iterations; /* of iterative algorithms */
	int64_t		samples;		/* number of vertices to search or estimate from; 0 = all */
	uint64_t	npairs;			/* pairs whose similarity is computed; 0 = top-k of all vertices */
	int64_t		nwalks;			/* walks per source */
	int			nlinks;			/* number of GPUs whose links a run may use */
	double		in_out;			/* node2vec's q */
	double		tolerance;
	double		alpha;			/* of Katz centrality */
	int			nleaps;			/* teleport vertices of PageRank; 0 = uniform */
	bool		is_weighted;	/* use weights if the algorithm can */
	double		distance;		/* wanted L1 distance of PageRank from a reference; 0 = unused */
	double		cancel_after_ms;	/* -1 = runs are not canceled */
	uint64_t	nfar_paths;		/* run this many paths instead of algorithms; 0 = none */
	bool		verify;
	bool		cached;			/* the engine keeps the graph between runs, until the next placement */
	const char *module;			/* path of emogi_cuda.so */
	const char *generator_module;	/* path of emogi_bench_cuda.so */
	const char *label;			/* label column of the result files */
	FILE	   *csv;			/* one line per run */
	FILE	   *summary;		/* one line per series */
	EmogiEngineOptions engine;
	int			nalgorithms;
	EmogiAlgorithm algorithms[EMOGI_BENCH_CHOICES];	/* [nalgorithms] */
	int			nengines;
	bool		cuda[EMOGI_BENCH_CHOICES];	/* [nengines]; false = cpu */
	int			nplacements;
	EmogiPlacement placements[EMOGI_BENCH_CHOICES];	/* [nplacements] */
	int			nmappings;
	EmogiMapping mappings[EMOGI_BENCH_CHOICES]; /* [nmappings] */
	EmogiPapersQuery papers;	/* except for the mapping */
} EmogiBenchOptions;

extern const char *const emogi_graph_names[];	/* by EmogiGenerator */
extern const char *const emogi_placement_names[EMOGI_NPLACEMENTS];
extern const char *const emogi_mapping_names[EMOGI_NMAPPINGS];

/* Print a message and exit. */
extern void emogi_bench_die(const char *what, const EmogiError *error);

/*
 * report.c: open the result files of runs and series for appending; writes a header to new files.
 */
extern FILE *emogi_bench_open_csv(const char *path);
extern FILE *emogi_bench_open_summary(const char *path);

/* Parse the command line; exits if it is invalid. */
extern void emogi_bench_options(EmogiBenchOptions *options, int argc, char **argv);

#endif							/* EMOGI_BENCH_OPTIONS_H */
