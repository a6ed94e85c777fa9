/*
 * ambiguous_columns.c: errors for unnamed columns that could be read in two ways
 *
 * Choosing one of the two readings silently could give the answer for another graph, so it is an
 * error.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "utils/builtins.h"

#include "source/source.h"

/* Is there a column with this name? */
static bool
has_column(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped &&
			strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return true;
	return false;
}

/*
 * Get the hint that shows how to name the columns of a relation, or of a query (NULL). costs: "" =
 * none.
 */
static char *
how_to_name(const char *relation, const char *ends, const char *costs)
{
	const char *comma = costs[0] != '\0' ? ", " : "";

	return relation != NULL ? psprintf("Name the columns: '%s(%s%s%s)'.",
									   quote_identifier(relation), ends, comma, costs) :
		psprintf("Select one of them: 'SELECT %s%s%s FROM (...) AS q'.", ends, comma, costs);
}

/* Raise 42702 if both pairs of names that could be the ends exist. */
static void
check_ends(TupleDesc desc, const char *of, const char *relation)
{
	if (has_column(desc, "src") && has_column(desc, "dst") && has_column(desc, "source") &&
		has_column(desc, "target"))
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_COLUMN),
				 errmsg("the ends of an edge of %s are ambiguous: src and dst, or source and "
						"target", of),
				 errhint("%s", how_to_name(relation, "source, target", ""))));
}

/* Raise 42703 if there is a column of reverse weights without one of weights. */
static void
check_reverse(TupleDesc desc, const char *weight, const char *ends, const char *of,
			  const char *relation)
{
	const char *reverse = psprintf("reverse_%s", weight);

	if (!has_column(desc, reverse) || has_column(desc, weight))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("%s has a column %s, but no column %s", of, reverse, weight),
			 errhint("%s To ignore %s, name only the ends.",
					 how_to_name(relation, ends,
								 relation != NULL ? psprintf("%s_column, %s", weight, reverse) :
								 psprintf("%1$s_column AS %1$s, %2$s", weight, reverse)),
					 strcmp(weight, "cost") == 0 ? "costs" : "capacities")));
}

/* Raise 42703 if the only reverse column beside a capacity is that of a missing cost. */
static void
check_reverse_of_capacity(TupleDesc desc, const char *ends, const char *of, const char *relation)
{
	if (!has_column(desc, "reverse_cost") || has_column(desc, "cost") ||
		has_column(desc, "reverse_capacity"))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("%s has columns capacity and reverse_cost, but no column cost", of),
			 errhint("%s To ignore reverse_cost, name only the ends and the capacity.",
					 how_to_name(relation, ends, relation != NULL ? "capacity, reverse_cost" :
								 "capacity, reverse_cost AS reverse_capacity"))));
}

/*
 * Raise 42702 or 42703 if the column names of a graph are ambiguous: two pairs of ends; both weight
 * and cost, if a weight is read or there is a reverse_cost; or a reverse_cost without a cost, or
 * reverse_capacity without a capacity. of: the relation or query, for messages; relation: its name,
 * NULL = a query.
 */
void
emogi_ambiguous_columns_check(TupleDesc desc, EmogiWantedWeight wants_weight, const char *of,
							  const char *relation)
{
	const bool	has_reverse = has_column(desc, "reverse_cost");
	const char *ends = has_column(desc, "src") && has_column(desc, "dst") ? "src, dst" :
		"source, target";

	check_ends(desc, of, relation);
	if (wants_weight == EMOGI_WANTS_CAPACITY)
	{
		check_reverse(desc, "capacity", ends, of, relation);
		if (has_column(desc, "capacity"))
		{
			check_reverse_of_capacity(desc, ends, of, relation);
			return;
		}
	}
	if (has_column(desc, "cost") && has_column(desc, "weight") && (wants_weight || has_reverse))
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_COLUMN),
				 errmsg("the weight of an edge of %s is ambiguous: weight or cost",
						of),
				 errhint("%s", how_to_name(relation, ends,
										   has_reverse ? "cost, reverse_cost" : "cost"))));
	check_reverse(desc, "cost", ends, of, relation);
}
