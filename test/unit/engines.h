/*
 * engines.h: fixture of the tests of the cpu engine: engines of 1, 2, and 5 threads, and all shapes
 * of graphs in all directions with all kinds of weights.
 */
#ifndef EMOGI_ENGINES_H
#define EMOGI_ENGINES_H

#include "check.h"
#include "naive.h"

#include <pthread.h>
#include <unistd.h>

#define NENGINES 3

static const EmogiEngine *engine;
static EmogiEngineState *states[NENGINES];	/* of 1, 2 and 5 threads */

/* Open the engines. */
static inline void
engines_open(void)
{
	static const int32_t threads[NENGINES] = {1, 2, 5};
	EmogiError	error;

	engine = emogi_cpu_engine();
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiEngineOptions options = {.cpu_threads = threads[e]};

		if (engine->open(&options, &states[e], &error) != EMOGI_OK)
			abort();
	}
}

/* Close the engines. */
static inline void
engines_close(void)
{
	for (int e = 0; e < NENGINES; e++)
		engine->close(states[e]);
}

/* Return true if the graph has the kind of adjacency lists that an algorithm reads. */
static inline bool
engines_suits(const EmogiGraph *graph, const EmogiAlgorithmRow *row)
{
	return row->lists != EMOGI_LISTS_BOTH || graph->backward.offsets == graph->forward.offsets;
}

/* A test's check of one graph. */
typedef void (GraphCheck) (const char *name, const EmogiGraph *graph, uint64_t seed);

/* Build a shape in one direction, with weights of a kind, and check it. */
static inline void
engines_check_graph(const EmogiShape *shape, int kind, EmogiDirection direction, bool with_backward,
					uint64_t seed, GraphCheck *check)
{
	char		name[160];
	double	   *weights = naive_weights(kind, seed, shape->nedges);
	EmogiGraph	graph = naive_build(shape, weights, direction, with_backward);

	snprintf(name, sizeof(name), "%s, weights %d, direction %d%s", shape->name, kind,
			 (int) direction, with_backward ? " with backward" : "");
	check(name, &graph, seed);
	naive_free(&graph);
	free(weights);
}

/*
 * Check all shapes, and nrandom random graphs, in all directions, with kinds of weights below
 * nkinds by turns.
 */
static inline void
engines_check_shapes(uint64_t nrandom, int nkinds, GraphCheck *check)
{
	EmogiShape	shape;
	uint64_t	nshapes = (uint64_t) emogi_shape_count();

	for (uint64_t i = 0; i < nshapes + nrandom; i++)
	{
		if (!(i < nshapes ? emogi_shape_make((int) i, &shape) : emogi_shape_random(i, &shape)))
			abort();
		for (int turn = 0; turn < (i < nshapes && shape.nedges < 10000 ? nkinds : 1); turn++)
		{
			int			kind = (int) ((i + (uint64_t) turn) % (uint64_t) nkinds);

			engines_check_graph(&shape, kind, EMOGI_OUT, false, i, check);
			engines_check_graph(&shape, kind, EMOGI_OUT, true, i, check);
			engines_check_graph(&shape, kind, EMOGI_IN, true, i, check);
			engines_check_graph(&shape, kind, EMOGI_BOTH, false, i, check);
		}
		emogi_shape_free(&shape);
	}
}

/* Set cancel shortly after the start. */
static void *
engines_cancel_soon(void *arg)
{
	EmogiControl *control = arg;

	usleep(3000);
	__atomic_store_n(&control->cancel, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Check that a long query is canceled, both if cancel is set before its run and during it. */
static inline void
engines_check_cancel(const char *name, const EmogiGraph *graph, const EmogiQuery *query,
					 EmogiResult result)
{
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiControl control = {.cancel = 1};
		EmogiError	error;
		EmogiStatus status = engine->run(states[e], graph, query, &result, &control, &error);
		pthread_t	thread;

		CHECK(status == EMOGI_CANCELED, "%s: status %d before", name, status);
		/* on a busy machine, cancel may come too late */
		for (int tries = 0; tries < 20 && (tries == 0 || status == EMOGI_OK); tries++)
		{
			control.cancel = 0;
			pthread_create(&thread, NULL, engines_cancel_soon, &control);
			status = engine->run(states[e], graph, query, &result, &control, &error);
			pthread_join(thread, NULL);
		}
		CHECK(status == EMOGI_CANCELED, "%s: status %d during", name, status);
	}
}

/* Make a chain of nedges edges. */
static inline EmogiShape
engines_chain(uint64_t nedges)
{
	EmogiShape chain = {.name = "chain", .nedges = nedges,
		.edges = malloc(nedges * sizeof(EmogiEdge))};

	for (uint64_t i = 0; i < nedges; i++)
		chain.edges[i] = (EmogiEdge) {(int64_t) i, (int64_t) i + 1};
	return chain;
}

#endif							/* EMOGI_ENGINES_H */
