/*
 * aggregate_match.c: which of PostgreSQL's aggregates over a call's columns can be computed without
 * forming rows
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "utils/fmgroids.h"

#include "scan_node/plan.h"

/*
 * Get the number of a column of a call's rows, 0 = vertex; -1 if the expression is not such a
 * column.
 */
int
emogi_aggregate_match_column(const RelOptInfo *rel, const Node *node)
{
	const Var  *var = (const Var *) node;

	return node != NULL && IsA(node, Var) && var->varno == rel->relid && var->varlevelsup == 0 &&
		var->varattno > 0 ? var->varattno - 1 : -1;
}

/*
 * Find the output that corresponds to one of PostgreSQL's aggregates; return false if there is
 * none.
 */
static bool
find_output(Oid aggregate, EmogiOutput *output)
{
	static const struct
	{
		Oid			aggregate;
		EmogiOutput output;
	}			known[] = {
		{F_COUNT_, EMOGI_OUTPUT_COUNT}, {F_COUNT_ANY, EMOGI_OUTPUT_COUNT},
		{F_MIN_INT4, EMOGI_OUTPUT_MIN}, {F_MIN_INT8, EMOGI_OUTPUT_MIN},
		{F_MIN_FLOAT8, EMOGI_OUTPUT_MIN}, {F_MIN_TEXT, EMOGI_OUTPUT_MIN},
		{F_MAX_INT4, EMOGI_OUTPUT_MAX}, {F_MAX_INT8, EMOGI_OUTPUT_MAX},
		{F_MAX_FLOAT8, EMOGI_OUTPUT_MAX}, {F_MAX_TEXT, EMOGI_OUTPUT_MAX},
		{F_SUM_INT4, EMOGI_OUTPUT_SUM}, {F_SUM_INT8, EMOGI_OUTPUT_SUM},
		{F_SUM_FLOAT8, EMOGI_OUTPUT_SUM},
		{F_AVG_INT4, EMOGI_OUTPUT_AVG}, {F_AVG_INT8, EMOGI_OUTPUT_AVG},
		{F_AVG_FLOAT8, EMOGI_OUTPUT_AVG}
	};

	for (int i = 0; i < (int) lengthof(known); i++)
		if (known[i].aggregate == aggregate)
		{
			*output = known[i].output;
			return true;
		}
	return false;
}

/*
 * Match an aggregate over a column of a call's rows.
 *
 * The minimum and maximum of text depend on its collation, which upper_paths.c checks.
 * count(DISTINCT vertex) is handled as count(*), because no vertex has two rows (upper_paths.c also
 * checks that different keys have different text). For another column it is the number of groups.
 */
bool
emogi_aggregate_match(const RelOptInfo *rel, const Aggref *aggregate, EmogiOutput *output,
					  int *place)
{
	*place = 0;
	if (!find_output(aggregate->aggfnoid, output) || aggregate->aggfilter != NULL ||
		aggregate->aggorder != NIL || aggregate->aggkind != AGGKIND_NORMAL ||
		aggregate->aggsplit != AGGSPLIT_SIMPLE || aggregate->agglevelsup != 0)
		return false;
	if (aggregate->args == NIL)
		return *output == EMOGI_OUTPUT_COUNT && aggregate->aggdistinct == NIL;
	*place = emogi_aggregate_match_column(rel,
										(Node *) linitial_node(TargetEntry, aggregate->args)->expr);
	if (aggregate->aggdistinct == NIL || *place <= 0)
		return *place >= 0 && (aggregate->aggdistinct == NIL || *output == EMOGI_OUTPUT_COUNT);
	if (*output != EMOGI_OUTPUT_COUNT)
		return false;
	*output = EMOGI_OUTPUT_GROUPS;
	return true;
}
