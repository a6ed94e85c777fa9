/*
 * hierarchy_rows.c: rows of community hierarchies, emogi_louvain and emogi_leiden, one per vertex
 * and level
 */
#include "postgres.h"

#include "contract/hierarchy.h"

#include "function/cursor.h"

/* ---- rows of a hierarchy ---- */

/* Elements are all vertices. */
static void
begin_hierarchy(EmogiRowCursor *cursor)
{
	cursor->nelements = cursor->graph->nvertices;
}

/* Places are all levels; a community has no parent exactly at the last level. */
static void
enter_vertex(EmogiRowCursor *cursor)
{
	const uint32 nlevels = cursor->result->nlevels;

	cursor->community = (uint32) cursor->element;
	cursor->place = cursor->nulls == EMOGI_NULLS_ONLY && nlevels > 0 ? nlevels - 1 : 0;
	cursor->nplaces = nlevels;
	if (cursor->nulls == EMOGI_NULLS_CONTRADICTORY)
		cursor->nplaces = 0;
	else if (cursor->nulls == EMOGI_NULLS_EXCLUDED && nlevels > 0)
		cursor->nplaces = nlevels - 1;
}

/* Fill in a vertex at a level: vertex, level, community, parent. */
static bool
fill_level(EmogiRowCursor *cursor)
{
	const int32 *heads = cursor->result->columns[0].int32;
	const uint32 *joins = cursor->result->columns[1].vertex;
	const uint32 level = (uint32) cursor->place;

	cursor->community = emogi_hierarchy_community(joins, heads, cursor->community, level);
	cursor->cells[0].number = (int64) cursor->element;
	cursor->cells[1].number = level;
	cursor->cells[2].number = cursor->community;
	if (level + 1 == cursor->result->nlevels)
		cursor->cells[3].number = EMOGI_NO_VERTEX;
	else if ((cursor->wanted & 1U << 3) != 0)
		cursor->cells[3].number = emogi_hierarchy_community(joins, heads, cursor->community,
															level + 1);
	return true;
}

/* In ascending order of vertices, then of levels. */
const EmogiRowKind emogi_hierarchy_rows = {
	.columns = {{"vertex", EMOGI_VERTEX, NAN}, {"level", EMOGI_INT32, NAN},
				{"community", EMOGI_VERTEX, NAN}, {"parent", EMOGI_VERTEX, NAN}},
	.key = 0,
	.element = 0,
	.place = 1,
	.nullable = 3,
	.norder = 2,
	.begin = begin_hierarchy,
	.enter = enter_vertex,
	.fill = fill_level
};
