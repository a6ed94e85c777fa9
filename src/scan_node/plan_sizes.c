/*
 * plan_sizes.c: what a run of the planner knows about the graphs of its calls
 *
 * A plan asks several times for the size of a call's graph, and for the reach of its search: for
 * rows, costs, conditions and joins. The cache is asked once; the later questions of the same run
 * of the planner get the same estimate. The conditions of a relation are matched once, too.
 */
#include "postgres.h"

#include "nodes/pathnodes.h"

#include "scan_node/plan.h"

/* The reach of a call's search within some bounds. */
typedef struct Reach
{
	EmogiBounds bounds;
	double		reached;
} Reach;

/* What is known about a call. */
typedef struct CallSize
{
	const FuncExpr *given;		/* the expression that was asked about first, and its arguments: */
	const List *args;			/* compared, not used */
	FuncExpr   *call;			/* a copy */
	EmogiAlgorithm algorithm;
	bool		is_found;
	EmogiGraphSize size;
	List	   *reaches;		/* of Reach */
} CallSize;

/* The matched conditions of a relation. */
typedef struct KnownConditions
{
	const RelOptInfo *rel;
	int			nclauses;		/* length of rel->baserestrictinfo */
	EmogiConditions conditions;
} KnownConditions;

/* The sizes of a run of the planner, in its memory context. */
typedef struct PlanSizes
{
	MemoryContextCallback callback;
	const PlannerGlobal *glob;	/* of the run; its address is in use as long as this exists */
	MemoryContext context;
	List	   *calls;			/* of CallSize */
	List	   *conditions;		/* of KnownConditions */
} PlanSizes;

/* Of the run that has asked last; NULL = none that still exists. */
static PlanSizes *current;

/* Forget the sizes of a run whose memory is freed. */
static void
forget(void *sizes)
{
	if (current == sizes)
		current = NULL;
}

/* Get the sizes of a run of the planner. */
static PlanSizes *
sizes_of(const PlannerInfo *root)
{
	PlanSizes  *sizes;

	if (current != NULL && current->glob == root->glob)
		return current;
	sizes = MemoryContextAllocZero(root->planner_cxt, sizeof *sizes);
	sizes->glob = root->glob;
	sizes->context = root->planner_cxt;
	sizes->callback.func = forget;
	sizes->callback.arg = sizes;
	MemoryContextRegisterResetCallback(root->planner_cxt, &sizes->callback);
	current = sizes;
	return sizes;
}

/* Is this the call, or an equal one? */
static bool
is_call(const CallSize *known, const FuncExpr *call)
{
	return (known->given == call && known->args == call->args &&
			known->call->funcid == call->funcid) || equal(known->call, call);
}

/* Find what is known about a call; NULL = nothing. */
static CallSize *
find_call(const PlannerInfo *root, const FuncExpr *call, EmogiAlgorithm algorithm)
{
	ListCell   *cell;

	foreach(cell, sizes_of(root)->calls)
	{
		CallSize   *known = lfirst(cell);

		if (known->algorithm == algorithm && is_call(known, call))
			return known;
	}
	return NULL;
}

/*
 * Get the size of a call's graph as this run of the planner has found it before; return false if it
 * has not. *is_found: whether the size is known.
 */
bool
emogi_plan_sizes_find(const PlannerInfo *root, const FuncExpr *call, EmogiAlgorithm algorithm,
					  EmogiGraphSize *size, bool *is_found)
{
	const CallSize *known = find_call(root, call, algorithm);

	if (known == NULL)
		return false;
	*size = known->size;
	*is_found = known->is_found;
	return true;
}

/* Keep the size of a call's graph for this run of the planner. */
void
emogi_plan_sizes_add(const PlannerInfo *root, const FuncExpr *call, const EmogiGraphSize *size,
					 EmogiAlgorithm algorithm, bool is_found)
{
	PlanSizes  *sizes = sizes_of(root);
	MemoryContext before = MemoryContextSwitchTo(sizes->context);
	CallSize   *known = palloc0(sizeof *known);

	known->given = call;
	known->args = call->args;
	known->call = copyObject(unconstify(FuncExpr *, call));
	known->algorithm = algorithm;
	known->is_found = is_found;
	if (is_found)
		known->size = *size;
	sizes->calls = lappend(sizes->calls, known);
	MemoryContextSwitchTo(before);
}

/* Get the reach of a call's search within these bounds; return false if it was not tried. */
bool
emogi_plan_sizes_reach(const PlannerInfo *root, const FuncExpr *call, EmogiAlgorithm algorithm,
					   const EmogiBounds *bounds, double *reached)
{
	const CallSize *known = find_call(root, call, algorithm);
	ListCell   *cell;

	if (known == NULL)
		return false;
	foreach(cell, known->reaches)
	{
		const Reach *reach = lfirst(cell);

		if (reach->bounds.depth != bounds->depth || reach->bounds.distance != bounds->distance)
			continue;
		*reached = reach->reached;
		return true;
	}
	return false;
}

/* Keep the reach of a call's search, if the size of its graph is kept. */
void
emogi_plan_sizes_add_reach(const PlannerInfo *root, const FuncExpr *call,
						   EmogiAlgorithm algorithm, const EmogiBounds *bounds, double reached)
{
	CallSize   *known = find_call(root, call, algorithm);
	MemoryContext before = MemoryContextSwitchTo(sizes_of(root)->context);

	if (known != NULL)
	{
		Reach	   *reach = palloc(sizeof *reach);

		*reach = (Reach) {*bounds, reached};
		known->reaches = lappend(known->reaches, reach);
	}
	MemoryContextSwitchTo(before);
}

/*
 * Get the conditions of a relation as this run of the planner has matched them before; return false
 * if it has not. The caller must not change the lists.
 */
bool
emogi_plan_sizes_conditions(const PlannerInfo *root, const RelOptInfo *rel,
							EmogiConditions *conditions)
{
	ListCell   *cell;

	foreach(cell, sizes_of(root)->conditions)
	{
		const KnownConditions *known = lfirst(cell);

		if (known->rel != rel || known->nclauses != list_length(rel->baserestrictinfo))
			continue;
		*conditions = known->conditions;
		return true;
	}
	return false;
}

/* Keep the matched conditions of a relation, which are in the memory of the planner's run. */
void
emogi_plan_sizes_add_conditions(const PlannerInfo *root, const RelOptInfo *rel,
								const EmogiConditions *conditions)
{
	PlanSizes  *sizes = sizes_of(root);
	MemoryContext before = MemoryContextSwitchTo(sizes->context);
	KnownConditions *known = palloc(sizeof *known);

	*known = (KnownConditions) {rel, list_length(rel->baserestrictinfo), *conditions};
	sizes->conditions = lappend(sizes->conditions, known);
	MemoryContextSwitchTo(before);
}
