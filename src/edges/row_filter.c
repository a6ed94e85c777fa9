/*
 * row_filter.c: evaluate the conditions of a source on visible rows, of a page or one by one.
 *
 * The conditions are those of the query, in the order of analysis/table_filter.c, and only visible
 * rows are tested: a function in them gets no data that it would not get in the query. They are
 * evaluated while the page is pinned but not locked, because they may fetch toasted values, take
 * time, or raise an error. Parallel workers receive them as text.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "edges/row_filter.h"
#include "base/fault.h"

struct EmogiRowFilter
{
	MemoryContext context;		/* owns all memory below */
	Oid			relid;			/* of the leaf */
	TupleTableSlot *slot;
	ExprContext *expressions;	/* its per-row memory is reset before each row */
	ExprState  *quals;
};

/* ---- the plan ---- */

/* Make conditions ready for evaluation, with constants folded. Raises the errors of that. */
static List *
make_ready(const List *conditions)
{
	List	   *quals = NIL;
	ListCell   *cell;

	foreach(cell, conditions)
		quals = list_concat(quals, make_ands_implicit((Expr *)
							eval_const_expressions(NULL, copyObject(lfirst(cell)))));
	convert_saop_to_hashed_saop((Node *) quals);
	fix_opfuncids((Node *) quals);
	return quals;
}

/*
 * Get the condition that selects the edges among a source's rows, with constants folded. Raises the
 * errors of the folded expressions, as planning the query does.
 */
EmogiRowFilterPlan
emogi_row_filter_plan(const EmogiSource *source)
{
	EmogiRowFilterPlan plan = {source->relid};
	EmogiReadyQuals *ready;
	MemoryContext old;

	if (source->filter == NULL)
		return plan;
	ready = source->filter->ready;
	if (!ready->are_made)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(ready));
		ready->quals = make_ready(source->filter->quals);
		MemoryContextSwitchTo(old);
		ready->are_made = true;
	}
	plan.quals = ready->quals;
	return plan;
}

/* Serialize conditions as text, for parallel workers; NULL if there are none. */
char *
emogi_row_filter_text(const EmogiRowFilterPlan *plan)
{
	return plan->quals != NIL ? nodeToString(plan->quals) : NULL;
}

/* Read the output of emogi_row_filter_text. */
EmogiRowFilterPlan
emogi_row_filter_read(const char *text, Oid relid)
{
	EmogiRowFilterPlan plan = {relid, text != NULL ? castNode(List, stringToNode(text)) : NIL};

	fix_opfuncids((Node *) plan.quals);
	return plan;
}

/* Check whether parallel workers may help to read a source. */
bool
emogi_row_filter_may_share(const EmogiSource *source)
{
	return source->filter == NULL || source->filter->quals == NIL || source->filter->may_share_work;
}

/* ---- columns ---- */

/* The relation whose columns conditions refer to, and a leaf. */
typedef struct Mapping
{
	Oid			relid;
	Oid			leaf;
} Mapping;

/* Get a leaf's number for a column of its root, because leaves may have other column numbers. */
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

/* Copy an expression, replacing the columns of the root by those of a leaf. */
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

/* Get the conditions in terms of the columns of a leaf, which must not be modified. */
List *
emogi_row_filter_quals(const EmogiRowFilterPlan *plan, Relation leaf)
{
	Mapping		mapping = {plan->relid, RelationGetRelid(leaf)};

	if (mapping.relid == mapping.leaf)
		return plan->quals;
	return castNode(List, map_columns((Node *) plan->quals, &mapping));
}

/*
 * List the columns of a leaf that the conditions of a source read, in the order of the root's;
 * return their number. columns: [EMOGI_FILTER_MAX_COLUMNS].
 */
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

/*
 * Set up the evaluation of conditions on the rows of a leaf, in a child of the current memory
 * context; return NULL if there are none. Raises the errors of executor startup.
 */
EmogiRowFilter *
emogi_row_filter_open(const EmogiRowFilterPlan *plan, Relation leaf)
{
	EmogiRowFilter *filter;
	MemoryContext context;
	MemoryContext old;

	if (plan->quals == NIL || (emogi_faults.analysis[EMOGI_ANALYSIS_RESCANS] && plan->is_rescan))
		return NULL;
	context = AllocSetContextCreate(CurrentMemoryContext, "emogi conditions",
									ALLOCSET_DEFAULT_SIZES);
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

/*
 * Set up the evaluation of conditions on single rows of a leaf, in the current memory context,
 * which frees it; return NULL if there are none. It remains valid while the catalogs do not change.
 */
EmogiRowFilter *
emogi_row_filter_keep(const EmogiRowFilterPlan *plan, Relation leaf)
{
	EmogiRowFilter *filter;

	if (plan->quals == NIL)
		return NULL;
	filter = palloc0(sizeof *filter);
	filter->relid = RelationGetRelid(leaf);
	filter->slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(leaf)),
											&TTSOpsHeapTuple);
	filter->expressions = CreateStandaloneExprContext();
	filter->quals = ExecInitQual(copyObject(emogi_row_filter_quals(plan, leaf)), NULL);
	return filter;
}

/*
 * Check whether all conditions are true for a row of a page that is pinned and not locked. Raises
 * their errors.
 */
bool
emogi_row_filter_row_passes(EmogiRowFilter *filter, HeapTupleHeader row, uint32 length)
{
	HeapTupleData tuple = {.t_tableOid = filter->relid,.t_data = row,.t_len = length};
	bool		passes;

	ItemPointerSetInvalid(&tuple.t_self);
	(void) ExecStoreHeapTuple(&tuple, filter->slot, false);
	passes = emogi_row_filter_passes(filter, filter->slot);
	ExecClearTuple(filter->slot);
	return passes;
}

/*
 * Check whether all conditions are true for the row in a slot, whose descriptor is that of the
 * leaf. Raises their errors.
 */
bool
emogi_row_filter_passes(EmogiRowFilter *filter, TupleTableSlot *slot)
{
	CHECK_FOR_INTERRUPTS();
	ResetExprContext(filter->expressions);
	filter->expressions->ecxt_scantuple = slot;
	return ExecQual(filter->quals, filter->expressions);
}

/*
 * Remove the tuples of a page, which is pinned and not locked, for which not all conditions are
 * true. Raises their errors.
 */
void
emogi_row_filter_page(EmogiRowFilter *filter, EmogiVisiblePage *visible, Buffer buffer)
{
	HeapTupleData tuple = {.t_tableOid = filter->relid};
	int			npassed = 0;

	ItemPointerSetInvalid(&tuple.t_self);
	for (int i = 0; i < visible->nitems; i++)
	{
		tuple.t_data = emogi_visibility_tuple(visible, i);
		tuple.t_len = ItemIdGetLength(&visible->items[i]);
		(void) ExecStoreBufferHeapTuple(&tuple, filter->slot, buffer);
		if (emogi_row_filter_passes(filter, filter->slot))
			visible->items[npassed++] = visible->items[i];
	}
	visible->nitems = npassed;
	ExecClearTuple(filter->slot);
}

/* End the evaluation, and free its memory. */
void
emogi_row_filter_close(EmogiRowFilter *filter)
{
	if (filter == NULL)
		return;
	FreeExprContext(filter->expressions, true);
	ExecDropSingleTupleTableSlot(filter->slot);
	MemoryContextDelete(filter->context);
}
