/*
 * names.c: what tells a call that nobody looks at the names of its edges, which are not looked up
 * then: nor is a right on them needed, nor a type that fits.
 *
 * A scan of ours knows its columns. Where a FunctionScan stays, all rows are made with all columns,
 * and the planner alone knows which of them are used. It notes that in the call, in what else says
 * where it stands in the text of the query, and the function reads it there
 * (emogi_arguments_begin).
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "funcapi.h"
#include "optimizer/optimizer.h"

#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

/* Is a column of an item used by anyone? 0 = whole rows. */
bool
emogi_names_uses(const RelOptInfo *rel, AttrNumber attnum)
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

/* Find the column of a call's rows that has names of edges; 0 = there is none. */
static AttrNumber
find_names(const FuncExpr *call)
{
	TupleDesc	desc;

	if (get_expr_result_type((Node *) call, NULL, &desc) != TYPEFUNC_COMPOSITE)
		return 0;
	for (int i = 0; i < desc->natts; i++)
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), "edge") == 0)
			return i + 1;
	return 0;
}

/*
 * Note in the call of an item of FROM that nobody looks at the names of its edges, if that is so.
 */
void
emogi_names_note(const RelOptInfo *rel, RangeTblEntry *rte)
{
	FuncExpr   *call;
	AttrNumber	names;

	if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return;
	call = (FuncExpr *) linitial_node(RangeTblFunction, rte->functions)->funcexpr;
	if (!IsA(call, FuncExpr) || !emogi_call_expr_is_ours(call->funcid))
		return;
	names = find_names(call);
	if (names > 0 && !emogi_names_uses(rel, names) && !emogi_names_uses(rel, InvalidAttrNumber))
		call->location = EMOGI_NAMES_UNUSED;
}
