/*
 * row_filter.c: evaluate the conditions of a Source on rows that a snapshot sees, of a page or one by one.
 *
 * Conditions are those of the query, in the order that analysis/table_filter.c gives them, and only visible rows are asked: what a function in them
 * learns, it learns from the query, too. They are evaluated under the pin alone, without the page's lock: they may fetch toasted values,
 * take time, or raise an error. Parallel workers get them as text.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "edges/row_filter.h"
#include "base/fault.h"

struct EmogiRowFilter
{
	MemoryContext context;		/* in which all of it is */
	Oid			relid;			/* of the leaf */
	TupleTableSlot *slot;
	ExprContext *expressions;	/* its memory for one row is reset before each */
	ExprState  *quals;
};

/* ---- the plan ---- */

/* Get which rows of a Source are edges, with the values of constant parts of its conditions. Raises what these raise, as a plan of the query does. */
EmogiRowFilterPlan
emogi_row_filter_plan(const EmogiSource *source)
{
	EmogiRowFilterPlan plan = {source->relid};
	ListCell   *cell;

	if (source->filter == NULL)
		return plan;
	foreach(cell, source->filter->quals)
		plan.quals = list_concat(plan.quals, make_ands_implicit((Expr *) eval_const_expressions(NULL, copyObject(lfirst(cell)))));
	convert_saop_to_hashed_saop((Node *) plan.quals);
	fix_opfuncids((Node *) plan.quals);
	return plan;
}

/* Write conditions as text, for parallel workers; NULL when there are none. */
char *
emogi_row_filter_text(const EmogiRowFilterPlan *plan)
{
	return plan->quals != NIL ? nodeToString(plan->quals) : NULL;
}

/* Read what emogi_row_filter_text has written. */
EmogiRowFilterPlan
emogi_row_filter_read(const char *text, Oid relid)
{
	EmogiRowFilterPlan plan = {relid, text != NULL ? castNode(List, stringToNode(text)) : NIL};

	fix_opfuncids((Node *) plan.quals);
	return plan;
}

/* May parallel workers help to read a Source? */
bool
emogi_row_filter_may_share(const EmogiSource *source)
{
	return source->filter == NULL || source->filter->quals == NIL || source->filter->may_share_work;
}

/* ---- columns ---- */

/* A leaf, and the relation whose columns conditions name. */
typedef struct Mapping
{
	Oid			relid;
	Oid			leaf;
} Mapping;

/* Get the number that a leaf has for a column of its root: leaves may have them at other places. */
static AttrNumber
column_of_leaf(const Mapping *mapping, AttrNumber attnum)
{
	const char *name;
	AttrNumber	mapped;

	if (attnum <= 0 || mapping->relid == mapping->leaf)
		return attnum;
	name = get_attname(mapping->relid, attnum, false);
	mapped = get_attnum(mapping->leaf, name);
	if (mapped <= 0)
		elog(ERROR, "column \"%s\" is missing in relation %u", name, mapping->leaf);
	return mapped;
}

/* Copy an expression over the columns of the root as one over those of a leaf. */
static Node *
map_columns(Node *node, void *context)
{
	Var		   *var;

	if (node == NULL || !IsA(node, Var))
		return node == NULL ? NULL : expression_tree_mutator(node, map_columns, context);
	var = copyObject((Var *) node);
	var->varattno = column_of_leaf(context, var->varattno);
	return (Node *) var;
}

/* Get the conditions over the columns of a leaf. */
List *
emogi_row_filter_quals(const EmogiRowFilterPlan *plan, Relation leaf)
{
	Mapping		mapping = {plan->relid, RelationGetRelid(leaf)};

	return castNode(List, map_columns((Node *) plan->quals, &mapping));
}

/* List the columns of a leaf that the conditions of a Source read, in the order of the root's; get their number. columns: [EMOGI_FILTER_MAX_COLUMNS]. */
int
emogi_row_filter_columns(const EmogiSource *source, Relation leaf, AttrNumber *columns)
{
	const Mapping mapping = {source->relid, RelationGetRelid(leaf)};
	const int	ncolumns = source->filter != NULL ? source->filter->ncolumns : 0;

	for (int i = 0; i < ncolumns; i++)
		columns[i] = column_of_leaf(&mapping, source->filter->columns[i]);
	return ncolumns;
}

/* ---- evaluation ---- */

/* Set up the evaluation of conditions on the rows of a leaf, in a memory context below the current one; NULL when there are none. Raises what an executor does as it starts. */
EmogiRowFilter *
emogi_row_filter_open(const EmogiRowFilterPlan *plan, Relation leaf)
{
	EmogiRowFilter *filter;
	MemoryContext context;
	MemoryContext old;

	if (plan->quals == NIL || (emogi_faults.tree[EMOGI_TREE_LOOKS] && plan->is_of_looks))
		return NULL;
	context = AllocSetContextCreate(CurrentMemoryContext, "emogi conditions", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	filter = palloc0(sizeof *filter);
	filter->context = context;
	filter->relid = RelationGetRelid(leaf);
	filter->slot = MakeSingleTupleTableSlot(RelationGetDescr(leaf), &TTSOpsBufferHeapTuple);
	filter->expressions = CreateStandaloneExprContext();
	filter->quals = ExecInitQual(emogi_row_filter_quals(plan, leaf), NULL);
	MemoryContextSwitchTo(old);
	return filter;
}

/* Are all conditions true of the row in a slot, whose descriptor is that of the leaf? Raises what they raise. */
bool
emogi_row_filter_passes(EmogiRowFilter *filter, TupleTableSlot *slot)
{
	CHECK_FOR_INTERRUPTS();
	ResetExprContext(filter->expressions);
	filter->expressions->ecxt_scantuple = slot;
	return ExecQual(filter->quals, filter->expressions);
}

/* Leave those tuples of a page, which is pinned and not locked, of which all conditions are true. Raises what they raise. */
void
emogi_row_filter_page(EmogiRowFilter *filter, EmogiVisiblePage *seen, Buffer buffer)
{
	HeapTupleData tuple = {.t_tableOid = filter->relid};
	int			npassed = 0;

	ItemPointerSetInvalid(&tuple.t_self);
	for (int i = 0; i < seen->nitems; i++)
	{
		tuple.t_data = emogi_visibility_tuple(seen, i);
		tuple.t_len = ItemIdGetLength(&seen->items[i]);
		(void) ExecStoreBufferHeapTuple(&tuple, filter->slot, buffer);
		if (emogi_row_filter_passes(filter, filter->slot))
			seen->items[npassed++] = seen->items[i];
	}
	seen->nitems = npassed;
	ExecClearTuple(filter->slot);
}

/* End the evaluation, and free all of it. */
void
emogi_row_filter_close(EmogiRowFilter *filter)
{
	if (filter == NULL)
		return;
	FreeExprContext(filter->expressions, true);
	ExecDropSingleTupleTableSlot(filter->slot);
	MemoryContextDelete(filter->context);
}
