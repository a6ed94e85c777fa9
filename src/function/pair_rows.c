/*
 * pair_rows.c: rows that are not one per vertex: pairs of emogi_similarity, steps of
 * emogi_random_walk, pairs of emogi_distance_matrix
 */
#include "postgres.h"

#include "contract/query.h"

#include "function/cursor.h"

/* ---- similarities ---- */

/* Elements are the given pairs, or vertices: all, or only the requested ones. */
static void
begin_similarities(EmogiRowCursor *cursor)
{
	const EmogiQuery *query = cursor->query;

	cursor->leads = query->pairs == NULL && query->ntargets == 0;
	cursor->nelements = query->pairs != NULL ? query->npairs :
		query->ntargets > 0 ? query->ntargets : cursor->graph->nvertices;
}

/* Places are all matches found for an element. */
static void
enter_similar(EmogiRowCursor *cursor)
{
	cursor->place = 0;
	cursor->nplaces = cursor->query->pairs != NULL ? 1 : (uint64) cursor->query->top_k;
}

/* Fill in a pair: vertex1, vertex2, similarity. The first empty place ends a vertex's matches. */
static bool
fill_similar(EmogiRowCursor *cursor)
{
	const EmogiQuery *query = cursor->query;
	const uint64 i = query->pairs != NULL ? cursor->element :
		cursor->element * (uint64) query->top_k + cursor->place;
	const uint32 other = cursor->result->columns[0].vertex[i];

	if (other == EMOGI_NO_VERTEX)
	{
		cursor->place = cursor->nplaces - 1;
		return false;
	}
	cursor->cells[0].number = (int64) cursor->element;
	if (query->pairs != NULL)
		cursor->cells[0].number = query->pairs[2 * i];
	else if (query->ntargets > 0)
		cursor->cells[0].number = query->targets[cursor->element];
	cursor->cells[1].number = other;
	cursor->cells[2].real = cursor->result->columns[1].float64[i];
	return true;
}

/*
 * In ascending order of the first vertices, most similar first; or in the order of the given pairs.
 */
const EmogiRowKind emogi_similarity_rows = {
	.columns = {{"vertex1", EMOGI_VERTEX, NAN}, {"vertex2", EMOGI_VERTEX, NAN},
				{"similarity", EMOGI_FLOAT64, NAN}},
	.key = 0,
	.element = 0,
	.place = -1,
	.nullable = -1,
	.norder = 1,
	.begin = begin_similarities,
	.enter = enter_similar,
	.fill = fill_similar
};

/* ---- random walks ---- */

/* Elements are walks. */
static void
begin_walks(EmogiRowCursor *cursor)
{
	cursor->nelements = emogi_query_length(cursor->graph, cursor->query) /
		((uint64) cursor->query->length + 1);
}

/* Places are all steps, and the vertex before the first. */
static void
enter_walk(EmogiRowCursor *cursor)
{
	cursor->place = 0;
	cursor->nplaces = (uint64) cursor->query->length + 1;
}

/* Fill in a step: walk, step, vertex. The first empty place ends a walk. */
static bool
fill_step(EmogiRowCursor *cursor)
{
	const uint64 steps = (uint64) cursor->query->length + 1;
	const uint32 v = cursor->result->columns[0].vertex[cursor->element * steps + cursor->place];

	if (v == EMOGI_NO_VERTEX)
	{
		cursor->place = cursor->nplaces - 1;
		return false;
	}
	cursor->cells[0].number = (int64) cursor->element;
	cursor->cells[1].number = (int64) cursor->place;
	cursor->cells[2].number = v;
	return true;
}

/* In ascending order of walks, then of steps. */
const EmogiRowKind emogi_walk_rows = {
	.columns = {{"walk", EMOGI_INT64, NAN}, {"step", EMOGI_INT32, NAN},
				{"vertex", EMOGI_VERTEX, NAN}},
	.key = 2,
	.element = 0,
	.place = 1,
	.nullable = -1,
	.norder = 2,
	.begin = begin_walks,
	.enter = enter_walk,
	.fill = fill_step
};

/* ---- distances ---- */

/* Elements are sources. */
static void
begin_distances(EmogiRowCursor *cursor)
{
	cursor->leads = false;
	cursor->nelements = cursor->query->nsources;
}

/* Places are all targets. */
static void
enter_source(EmogiRowCursor *cursor)
{
	cursor->place = 0;
	cursor->nplaces = cursor->query->ntargets;
}

/* Fill in a pair: source, target, distance; there is no row if the target is not reachable. */
static bool
fill_distance(EmogiRowCursor *cursor)
{
	const EmogiQuery *query = cursor->query;

	cursor->cells[0].number = query->sources[cursor->element];
	cursor->cells[1].number = query->targets[cursor->place];
	cursor->cells[2].real =
		cursor->result->columns[0].float64[cursor->element * query->ntargets + cursor->place];
	return cursor->cells[2].real < (double) INFINITY;
}

/* In ascending order of sources, then of targets. */
const EmogiRowKind emogi_distance_rows = {
	.columns = {{"source", EMOGI_VERTEX, NAN}, {"target", EMOGI_VERTEX, NAN},
				{"distance", EMOGI_FLOAT64, NAN}},
	.key = 0,
	.element = 0,
	.place = -1,
	.nullable = -1,
	.norder = 2,
	.begin = begin_distances,
	.enter = enter_source,
	.fill = fill_distance
};
