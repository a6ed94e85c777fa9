/*
 * options.h: the command line of emogi_bench.
 */
#ifndef EMOGI_BENCH_OPTIONS_H
#define EMOGI_BENCH_OPTIONS_H

#include "generate.h"

#include <stdio.h>

#define EMOGI_BENCH_SOURCES 1024
#define EMOGI_BENCH_CHOICES 16

typedef struct EmogiBenchOptions
{
	EmogiGenerator generator;
	int			scale;
	int			degree;
	int			nsources;
	int			ntrials;
	uint64_t	seed;
	int64_t		max_iterations; /* of the algorithms that iterate */
	double		tolerance;
	bool		verify;
	bool		cached;			/* the engine keeps the Graph between runs, until the next placement */
	const char *module;			/* path of emogi_cuda.so */
	FILE	   *csv;
	EmogiEngineOptions engine;
	int			nalgorithms;
	EmogiAlgorithm algorithms[EMOGI_BENCH_CHOICES];	/* [nalgorithms] */
	int			nengines;
	bool		cuda[EMOGI_BENCH_CHOICES];	/* [nengines]; false = cpu */
	int			nplacements;
	EmogiPlacement placements[EMOGI_BENCH_CHOICES];	/* [nplacements] */
} EmogiBenchOptions;

extern const char *const emogi_graph_names[];	/* by EmogiGenerator */
extern const char *const emogi_placement_names[];	/* by EmogiPlacement */
extern const char *const emogi_algorithm_names[EMOGI_NALGORITHMS];

/* Print a message and leave. */
extern void emogi_bench_die(const char *what, const EmogiError *error);

/* Read the command line; leaves when it cannot be understood. */
extern void emogi_bench_options(EmogiBenchOptions *options, int argc, char **argv);

#endif							/* EMOGI_BENCH_OPTIONS_H */
