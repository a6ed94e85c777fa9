/*
 * analysis.c: a look at a query: from its text to its tree, and what is to be known of that.
 *
 * All of it is done anew on every call: whatever DDL, search path, user or setting changes what a query means changes its tree, or
 * what stands beside it in the key. Nothing here asks whether something has changed since.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "optimizer/clauses.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/attempt.h"
#include "base/fault.h"
#include "analysis/analysis_internal.h"

/* Invalidations of what functions are and do that this session has seen. */
static uint64 ninvalidations = 0;

static void
count_invalidation(Datum arg, int cache, uint32 hash)
{
	ninvalidations++;
}

/* Take the invalidations that others have sent, and get the number of those seen so far. */
static uint64
take_invalidations(void)
{
	static const int caches[] = {PROCOID, AGGFNOID, OPEROID, COLLOID, AMPROCNUM, AMOPSTRATEGY};
	static bool is_watching = false;

	for (int i = 0; !is_watching && i < (int) lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], count_invalidation, (Datum) 0);
	is_watching = true;
	AcceptInvalidationMessages();
	return ninvalidations;
}

/* Find the columns that make an edge in a tree's result; those of a relation were selected in their order. Raises what is wrong with them. */
static bool
find_columns(EmogiAnalysisState *look, const EmogiSource *source)
{
	TupleDesc	desc = ExecCleanTypeFromTL(look->tree->query->targetList);

	if (desc->natts < 2)
		return emogi_cacheability_refuse(look, "it has one column");
	emogi_anonymous_rows_describe(look->tree->query, desc);
	if (source->is_query)
		emogi_query_edge_columns(desc, look->tree->text, source->wants_weight || look->tree->columns.both_ways, &look->tree->columns);
	else
	{
		look->tree->columns = emogi_source_columns(source);
		look->inner = (EmogiEdgeColumns) {4, 1, 2, 3,.reverse = 4};
	}
	return false;
}

/* Have a tree whose rows have a weight of the way back be one of an edge for each way. */
static bool
find_both_ways(EmogiAnalysisState *look, const EmogiSource *source)
{
	EmogiQueryAnalysis  *tree = look->tree;
	const int	length = tree->query->stmt_len > 0 ? Max(tree->query->stmt_location, 0) + tree->query->stmt_len : (int) strlen(tree->text);

	look->inner = tree->columns;
	tree->text = emogi_query_both_ways(tree->text, length, &tree->columns);
	tree->query = emogi_query_analyze(tree->text);
	tree->columns.both_ways = true;
	if (find_columns(look, source))
		return true;
	tree->columns.both_ways = true;
	return false;
}

/* Look at the text of a tree; true when it is refused. Rights on relations come before the first function is run. */
static bool
look_at(EmogiAnalysisState *look, const EmogiSource *source)
{
	EmogiQueryAnalysis  *tree = look->tree;

	tree->ninvalidations = take_invalidations();
	tree->nrenamings = emogi_search_path_count();
	tree->query = tree->text != NULL ? emogi_query_analyze(tree->text) : NULL;
	if (tree->query == NULL)
		return emogi_cacheability_refuse(look, "it is not one SELECT");
	if (find_columns(look, source) || (tree->columns.reverse > 0 && find_both_ways(look, source)) || emogi_cacheability_rights(tree->query, look))
		return true;
	tree->is_unsafe = look->for_planner && max_parallel_hazard(tree->query) == PROPARALLEL_UNSAFE;
	tree->query = emogi_constant_folding_apply(emogi_argument_defaults_expand(tree->query), look);
	look->trees = list_make1(tree->query);
	if (tree->refusal != NULL || emogi_cacheability_node((Node *) tree->query, look) || emogi_cacheability_execute(look) ||
		emogi_base_tables_list(look))
		return true;
	emogi_fingerprint_make(look);
	tree->filtered = emogi_table_filter_recognize(look);
	return false;
}

/* Make a tree of a Source under the active snapshot. */
static EmogiQueryAnalysis *
make_tree(const EmogiSource *source, bool for_planner)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi tree", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	EmogiAnalysisState look = {.tree = palloc0(sizeof(EmogiQueryAnalysis)),.for_planner = for_planner};

	look.tree->context = context;
	look.tree->text = emogi_source_select(source);
	look.tree->source = source;
	initStringInfo(&look.tree->versions);
	initStringInfo(&look.bytes);
	initStringInfo(&look.types.definition);
	(void) look_at(&look, source);
	look.tree->named = look.named;
	look.tree->functions = look.functions;
	MemoryContextSwitchTo(old);
	return look.tree;
}

/* Forget a tree. */
void
emogi_analysis_close(EmogiQueryAnalysis *tree)
{
	MemoryContextDelete(tree->context);
}

/* Trees of one Source. */
typedef struct Comparison
{
	const EmogiQueryAnalysis *tree;
	bool		are_equal;		/* it and the one that would be made now */
} Comparison;

/* Compare a tree with the one that its text would give now, down to the versions of its functions. Raises what is wrong with the text by now. */
static void
compare(void *context)
{
	Comparison *comparison = context;
	const EmogiQueryAnalysis *old = comparison->tree;
	EmogiQueryAnalysis  *now = make_tree(old->source, false);

	comparison->are_equal = now->refusal == NULL && memcmp(now->fingerprint, old->fingerprint, sizeof now->fingerprint) == 0 &&
		now->versions.len == old->versions.len && memcmp(now->versions.data, old->versions.data, now->versions.len) == 0;
	emogi_analysis_close(now);
}

/*
 * Was nothing that functions are or do replaced since the tree was analysed (Q17)? Others' DDL is the usual reason for invalidations, and
 * when too many have come nobody knows of what: then it is looked at again, under the same snapshot. No invalidation tells of every change
 * of a type, so a tree with types is always looked at again. For bodies that are text another look is not enough: a name may have led to
 * another object only while the tree ran.
 */
static bool
is_as_analysed(const EmogiQueryAnalysis *tree)
{
	const bool	are_same = take_invalidations() == tree->ninvalidations;
	Comparison	comparison = {tree};
	ErrorData  *error;

	if (emogi_search_path_may_have_changed(tree->texts, tree->nrenamings))
		return false;
	if (are_same && !tree->has_types)
		return true;
	if (IsInParallelMode())
		return false;			/* nothing can be attempted: the Graph is the call's alone */
	error = emogi_attempt(compare, &comparison);
	if (error != NULL && emogi_attempt_was_stopped(error))
		ReThrowError(error);
	return comparison.are_equal;
}

/* May the Graph that was made by a run of a tree be published (Q17)? Its relations are listed again: bodies of functions have plans of their own. */
bool
emogi_analysis_may_publish(const EmogiQueryAnalysis *tree)
{
	if (emogi_faults.tree[EMOGI_TREE_PUBLISH])
		return true;
	return is_as_analysed(tree) && !tree->reads_elsewhere && equal(emogi_base_tables_relations(tree), tree->relations);
}

/*
 * Are all definitions that the conditions of a Source depend on still those that the fingerprint of their tree is of (Q17)? To be asked after rows were
 * read and before others see what came of it. True of a Source without conditions.
 */
bool
emogi_analysis_filter_is_current(const EmogiSource *source)
{
	return source->filter == NULL || emogi_analysis_may_publish(source->filter->tree);
}

/*
 * Look at the query of a Source, or of its relation, under a snapshot that sees what it reads, which becomes the active one; none does if
 * the tree is refused. Raises what is wrong with the query, and 40001.
 */
EmogiQueryAnalysis *
emogi_analysis_open(const EmogiSource *source)
{
	EmogiQueryAnalysis  *tree;

	for (;;)
	{
		Oid			unseen;

		emogi_snapshot_push();
		tree = make_tree(source, false);
		if (tree->refusal != NULL)
		{
			PopActiveSnapshot();
			return tree;
		}
		unseen = emogi_snapshot_find_unseen(list_concat_unique_oid(list_copy(tree->named), tree->relations), tree->named);
		if (!OidIsValid(unseen))
			break;
		PopActiveSnapshot();
		emogi_analysis_close(tree);
		emogi_snapshot_renew(unseen);
	}
	emogi_snapshot_answer();
	return tree;
}

/* Look at the query of a Source under the active snapshot, for the planner and EXPLAIN. Raises what is wrong with the query. */
EmogiQueryAnalysis *
emogi_analysis_peek(const EmogiSource *source)
{
	return make_tree(source, true);
}
