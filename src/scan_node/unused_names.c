/*
 * unused_names.c: detection of calls whose edge names are not used, so that names are not looked
 * up, and neither permissions on them nor a suitable type are required
 *
 * A custom scan knows its columns. A FunctionScan computes all rows with all columns, and only the
 * planner knows which of them are used. It records that in the call node, in the field for the
 * parse location, where the function reads it (emogi_arguments_begin).
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "optimizer/optimizer.h"

#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

/* Is a column of a range table entry used anywhere? 0 = whole rows. */
bool
emogi_unused_names_uses_column(const RelOptInfo *rel, AttrNumber attnum)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &columns);
	foreach(cell, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause, rel->relid, &columns);
	foreach(cell, rel->joininfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause, rel->relid, &columns);
	return bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, columns) ||
		(attnum >= rel->min_attr && attnum <= rel->max_attr &&
		 !bms_is_empty(rel->attr_needed[attnum - rel->min_attr]));
}

/* Find the column of a call's rows that has names of edges; 0 = none. */
static AttrNumber
find_names(const FuncExpr *call)
{
	TupleDesc	desc = emogi_call_expr_row_type(call);

	if (desc == NULL)
		return 0;
	for (int i = 0; i < desc->natts; i++)
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), "edge") == 0)
			return i + 1;
	return 0;
}

/* Record in the call of a range table entry that the names of its edges are not used, if so. */
void
emogi_unused_names_mark(const RelOptInfo *rel, RangeTblEntry *rte)
{
	FuncExpr   *call;
	AttrNumber	names;

	if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return;
	call = (FuncExpr *) linitial_node(RangeTblFunction, rte->functions)->funcexpr;
	if (!IsA(call, FuncExpr) || !emogi_call_expr_is_ours(call->funcid))
		return;
	names = find_names(call);
	if (names > 0 && !emogi_unused_names_uses_column(rel, names) &&
		!emogi_unused_names_uses_column(rel, InvalidAttrNumber))
		call->location = EMOGI_NAMES_UNUSED;
}
