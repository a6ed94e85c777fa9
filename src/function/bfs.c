/*
 * bfs.c: emogi_bfs(graph, source, max_depth int, direction text) -> setof (vertex, level int): hops from the nearest source.
 * Without max_depth there is no bound.
 */
#include "postgres.h"

#include "function/function.h"

PG_FUNCTION_INFO_V1(emogi_bfs);

Datum
emogi_bfs(PG_FUNCTION_ARGS)
{
	return emogi_run_to_rows(fcinfo, EMOGI_BFS);
}
