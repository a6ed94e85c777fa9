/*
 * refused.h: an engine refuses what cannot be iterated.
 */
#ifndef EMOGI_TEST_REFUSED_H
#define EMOGI_TEST_REFUSED_H

#include <math.h>

#include "naive.h"

/* Ask what iterates with bad arguments, and with good ones. The Graph has a vertex. */
static inline void
refused_check(const char *name, const EmogiEngine *engine, EmogiEngineState *state, const EmogiGraph *graph)
{
	double	   *value = naive_alloc(graph->nvertices, sizeof(double));
	double	   *start = naive_alloc(graph->nvertices, sizeof(double));
	EmogiResult result = {.value = value};
	EmogiControl control = {0};
	EmogiError	error;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		start[v] = 1.0;
	for (int a = EMOGI_PAGERANK; a < EMOGI_NALGORITHMS; a++)
	{
		const EmogiQuery good = {.algorithm = (EmogiAlgorithm) a, .max_iterations = 1, .damping = 0.85, .values = start};
		EmogiQuery	bad[] = {good, good, good, good};
		const int	nbad = a == EMOGI_PAGERANK ? 3 : 4;	/* that has no start values */

		bad[0].max_iterations = 0;
		bad[1].tolerance = -1.0;
		bad[2].tolerance = (double) NAN;
		bad[3].values = NULL;
		for (int i = 0; i < nbad; i++)
		{
			error.message[0] = '\0';
			CHECK(engine->run(state, graph, &bad[i], &result, &control, &error) == EMOGI_BAD_INPUT && error.message[0] != '\0',
				  "%s: algorithm %d takes bad arguments, case %d", name, a, i);
		}
		CHECK(engine->run(state, graph, &good, &result, &control, &error) == EMOGI_OK, "%s: algorithm %d", name, a);
	}
	free(value);
	free(start);
}

#endif							/* EMOGI_TEST_REFUSED_H */
