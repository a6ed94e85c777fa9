/*
 * analysis.c: analysis of a query, from its text to its query tree
 *
 * DDL, the search path, the user or a setting that changes the meaning of a query changes its query
 * tree or the other parts of the cache key. An analysis is used again only if nothing of this has
 * changed (known_analyses.c).
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "optimizer/clauses.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/subtransaction.h"
#include "base/fault.h"
#include "analysis/known_analyses.h"

/*
 * Find the edge columns in the result of a query. A relation's columns were selected in their
 * order. Raises errors about the columns.
 */
static bool
find_columns(EmogiAnalysisState *state, const EmogiSource *source)
{
	TupleDesc	desc = ExecCleanTypeFromTL(state->analysis->query->targetList);

	if (desc->natts < 2)
		return emogi_cacheability_refuse(state, "it has one column");
	emogi_anonymous_rows_describe(state->analysis->query, desc);
	if (source->is_query && state->analysis->columns.both_ways)
		emogi_query_both_ways_columns(desc, state->analysis->text, &state->analysis->columns);
	else if (source->is_query)
		emogi_query_edge_columns(desc, emogi_source_written(source, state->analysis->text),
								 source->wants_weight, &state->analysis->columns);
	else
	{
		state->analysis->columns = emogi_source_columns(source);
		state->inner = (EmogiEdgeColumns) {4, 1, 2, 3,.reverse = 4};
	}
	return false;
}

/* If rows have a reverse weight, expand the query so that each row gives one edge per direction. */
static bool
expand_both_ways(EmogiAnalysisState *state, const EmogiSource *source)
{
	EmogiQueryAnalysis *analysis = state->analysis;
	const int	length = analysis->query->stmt_len > 0 ?
		Max(analysis->query->stmt_location, 0) + analysis->query->stmt_len :
		(int) strlen(analysis->text);

	state->inner = analysis->columns;
	analysis->text = emogi_query_both_ways(analysis->text, length, &analysis->columns);
	analysis->query = emogi_query_analyze(analysis->text);
	analysis->columns.both_ways = true;
	return find_columns(state, source);
}

/*
 * Analyze the text of a query; return true if it is refused. Privileges on relations are checked
 * before the first function runs.
 */
static bool
analyze(EmogiAnalysisState *state, const EmogiSource *source)
{
	EmogiQueryAnalysis *analysis = state->analysis;

	emogi_environment_count(&state->counts);
	analysis->ninvalidations = state->counts.functions;
	analysis->nrenamings = state->counts.names;
	analysis->query = analysis->text != NULL ? emogi_query_analyze(analysis->text) : NULL;
	if (analysis->query == NULL)
		return emogi_cacheability_refuse(state, "it is not one SELECT");
	if (find_columns(state, source) ||
		(analysis->columns.reverse > 0 && expand_both_ways(state, source)) ||
		emogi_cacheability_rights(analysis->query, state))
		return true;
	analysis->is_unsafe = max_parallel_hazard(analysis->query) == PROPARALLEL_UNSAFE;
	state->life = emogi_literals_life(analysis->query, analysis->text);
	analysis->query = emogi_constant_folding_apply(emogi_argument_defaults_expand(analysis->query),
												   state);
	state->trees = list_make1(analysis->query);
	if (analysis->refusal != NULL || emogi_cacheability_node((Node *) analysis->query, state) ||
		emogi_cacheability_execute(state) || emogi_base_tables_list(state))
		return true;
	emogi_fingerprint_make(state);
	analysis->filtered = emogi_table_filter_recognize(state);
	return false;
}

/* Analyze the text of a source under the active snapshot. */
static EmogiQueryAnalysis *
make_analysis(const EmogiSource *source, const char *text)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi query analysis",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	EmogiAnalysisState state = {.analysis = palloc0(sizeof(EmogiQueryAnalysis)),.given = text};

	state.analysis->context = context;
	state.analysis->text = text != NULL ? pstrdup(text) : NULL;
	state.analysis->source = source;
	initStringInfo(&state.analysis->versions);
	initStringInfo(&state.bytes);
	initStringInfo(&state.types.definition);
	if (source->has_edge_filter)
		emogi_edge_condition_check(source);
	(void) analyze(&state, source);
	state.analysis->named = state.named;
	state.analysis->functions = state.functions;
	MemoryContextSwitchTo(old);
	return emogi_known_analyses_keep(&state);
}

/*
 * Get the analysis of a source under the active snapshot, from an earlier call if nothing has
 * changed that it depends on.
 */
static EmogiQueryAnalysis *
find_or_make(const EmogiSource *source, EmogiAnalysisPurpose purpose)
{
	const char *text = emogi_source_select(source);
	EmogiQueryAnalysis *analysis = emogi_known_analyses_find(source, text, purpose);

	return analysis != NULL ? analysis : make_analysis(source, text);
}

/* Free a query analysis. */
void
emogi_analysis_close(EmogiQueryAnalysis *analysis)
{
	MemoryContextDelete(analysis->context);
}

/* Comparison of a query analysis with a new one of the same source. */
typedef struct Comparison
{
	const EmogiQueryAnalysis *analysis;
	bool		are_equal;		/* with the analysis of the same source now */
} Comparison;

/*
 * Compare an analysis with what its text would give now, including the versions of its functions.
 * Raises errors of the text as it is now.
 */
static void
compare(void *context)
{
	Comparison *comparison = context;
	const EmogiQueryAnalysis *old = comparison->analysis;
	EmogiQueryAnalysis *now = make_analysis(old->source, emogi_source_select(old->source));

	comparison->are_equal = now->refusal == NULL &&
		memcmp(now->fingerprint, old->fingerprint, sizeof now->fingerprint) == 0 &&
		now->versions.len == old->versions.len &&
		memcmp(now->versions.data, old->versions.data, now->versions.len) == 0;
	emogi_analysis_close(now);
}

/*
 * Return true if a second analysis of the text gives the same key and the same functions. In
 * parallel mode, return false, because no subtransaction is possible.
 */
static bool
gives_same_key(const EmogiQueryAnalysis *analysis)
{
	Comparison	comparison = {analysis};
	ErrorData  *error;

	if (IsInParallelMode())
		return false;
	error = emogi_subtransaction_run(compare, &comparison);
	if (error != NULL && emogi_subtransaction_was_stopped(error))
		ReThrowError(error);
	return comparison.are_equal;
}

/*
 * Return true if no function definition has changed since the query was analyzed (Q17).
 *
 * Usually the invalidations come from other sessions' DDL. After an overflow they do not tell which
 * object changed. So if any arrived, the query is analyzed again under the same snapshot. Not every
 * change of a type sends an invalidation, so a query with types is always analyzed again. A second
 * analysis is not enough for function bodies that are text, because a name may have resolved to
 * another object only while the query ran.
 */
static bool
is_as_analysed(const EmogiQueryAnalysis *analysis)
{
	EmogiAnalysisCounts counts;

	emogi_environment_count(&counts);
	if (emogi_search_path_may_have_changed(analysis->texts, analysis->nrenamings))
		return false;
	return (counts.functions == analysis->ninvalidations && !analysis->has_types) ||
		gives_same_key(analysis);
}

/* Return true if a query still reads the same relations, including all descendants. */
static bool
reads_same_relations(const EmogiQueryAnalysis *analysis)
{
	return equal(emogi_base_tables_relations(analysis), analysis->relations);
}

/*
 * Return true if the graph built by a run of the query may be published (Q17). The relations are
 * listed again, because function bodies have plans of their own.
 */
bool
emogi_analysis_may_publish(const EmogiQueryAnalysis *analysis)
{
	if (emogi_faults.analysis[EMOGI_ANALYSIS_PUBLISH])
		return true;
	return is_as_analysed(analysis) && !analysis->reads_elsewhere &&
		reads_same_relations(analysis);
}

/*
 * Return true if all definitions that the conditions of a source depend on are still those of the
 * fingerprint (Q17). Call it after rows were read and before other sessions see the result. Returns
 * true for a source without conditions.
 */
bool
emogi_analysis_filter_is_current(const EmogiSource *source)
{
	return source->filter == NULL || emogi_analysis_may_publish(source->filter->analysis);
}

/*
 * Return true if the text of an opened query still means what was analyzed, and still reads the
 * same partitions and children. Call it after a run of the text under the same snapshot.
 */
bool
emogi_analysis_is_unchanged(const EmogiQueryAnalysis *analysis)
{
	return is_as_analysed(analysis) &&
		(emogi_search_path_count() == analysis->nrenamings || gives_same_key(analysis)) &&
		reads_same_relations(analysis);
}

/*
 * Analyze the query of a source, or of its relation, under a snapshot that sees everything the
 * query reads. The snapshot becomes the active one, unless the query is refused. Raises errors of
 * the query, and 40001.
 */
EmogiQueryAnalysis *
emogi_analysis_open(const EmogiSource *source)
{
	EmogiQueryAnalysis *analysis;

	for (;;)
	{
		Oid			unseen;

		emogi_snapshot_push();
		analysis = find_or_make(source, EMOGI_ANALYSIS_FOR_CALL);
		if (analysis->refusal != NULL)
		{
			PopActiveSnapshot();
			return analysis;
		}
		if (emogi_known_analyses_are_seen(analysis))
			break;
		unseen = emogi_snapshot_find_unseen(list_concat_unique_oid(list_copy(analysis->named),
																   analysis->relations),
																   analysis->named);
		if (!OidIsValid(unseen))
		{
			emogi_known_analyses_note_seen(analysis);
			break;
		}
		PopActiveSnapshot();
		emogi_analysis_close(analysis);
		emogi_snapshot_renew(unseen);
	}
	emogi_snapshot_mark_used();
	return analysis;
}

/*
 * Analyze the query of a source under the active snapshot, for EXPLAIN. Raises errors of the query.
 */
EmogiQueryAnalysis *
emogi_analysis_peek(const EmogiSource *source)
{
	return find_or_make(source, EMOGI_ANALYSIS_FOR_EXPLAIN);
}

/*
 * Do the same to estimate the size of its graph: values of folded expressions, and so the
 * fingerprint, may be those of an earlier call.
 */
EmogiQueryAnalysis *
emogi_analysis_peek_size(const EmogiSource *source)
{
	return find_or_make(source, EMOGI_ANALYSIS_FOR_SIZE);
}

/* Do so only if the query was analyzed by an earlier call; otherwise return NULL. */
EmogiQueryAnalysis *
emogi_analysis_peek_known(const EmogiSource *source)
{
	return emogi_known_analyses_find(source, emogi_source_select(source), EMOGI_ANALYSIS_FOR_SIZE);
}
