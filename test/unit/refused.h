/*
 * refused.h: check that an engine rejects invalid arguments of iterations
 */
#ifndef EMOGI_TEST_REFUSED_H
#define EMOGI_TEST_REFUSED_H

#include <math.h>
#include <string.h>

#include "naive.h"

/*
 * Run all iterative algorithms with invalid arguments and with valid ones. The graph must not be
 * empty.
 */
static inline void
refused_check(const char *name, const EmogiEngine *engine, EmogiEngineState *state,
			  const EmogiGraph *graph)
{
	double	   *value = naive_alloc(graph->nvertices, sizeof(double));
	double	   *start = naive_alloc(graph->nvertices, sizeof(double));
	double	   *second = naive_alloc(graph->nvertices, sizeof(double));
	EmogiResult result = {.columns = {{.float64 = value}, {.float64 = second}}};
	EmogiControl control = {0};
	EmogiError	error;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		start[v] = 1.0;
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) a);
		const EmogiQuery good = {.algorithm = (EmogiAlgorithm) a, .max_iterations = 1,
			.damping = 0.85, .values = start};
		EmogiQuery	bad[] = {good, good, good, good};
		const bool	applies[] = {true, emogi_algorithm_takes(row, EMOGI_TOLERANCE) >= 0,
			emogi_algorithm_takes(row, EMOGI_TOLERANCE) >= 0,
			emogi_algorithm_takes(row, EMOGI_START) >= 0};
		const bool	has = strcmp(engine->name, "cuda") != 0 || emogi_algorithm_is_on_cuda(row);

		if (!emogi_algorithm_iterates(row->algorithm))
			continue;
		bad[0].max_iterations = 0;
		bad[1].tolerance = -1.0;
		bad[2].tolerance = (double) NAN;
		bad[3].values = NULL;
		for (int i = 0; i < 4; i++)
		{
			if (!applies[i])
				continue;
			error.message[0] = '\0';
			CHECK(engine->run(state, graph, &bad[i], &result, &control, &error) ==
				  EMOGI_BAD_INPUT && error.message[0] != '\0',
				  "%s: algorithm %d accepts invalid arguments, case %d", name, a, i);
		}
		if ((row->traits & EMOGI_NEEDS_BACKWARD) != 0 && graph->backward.offsets == NULL)
			continue;
		CHECK(engine->run(state, graph, &good, &result, &control, &error) ==
			  (has ? EMOGI_OK : EMOGI_UNSUPPORTED), "%s: algorithm %d", name, a);
	}
	free(value);
	free(second);
	free(start);
}

#endif							/* EMOGI_TEST_REFUSED_H */
