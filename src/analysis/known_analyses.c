/*
 * known_analyses.c: query analyses that this session has made before (Q1a)
 *
 * An analysis does not depend on the snapshot, except for the values of folded expressions. It is
 * used again for the same text and user, as long as nothing has changed that it was made from:
 *
 *   catalogs       no invalidation of a relation, schema, role, membership, database or type
 *                  (base/catalog_changes.c), of a function, operator or operator class, or of a
 *                  name (search_path.c) has arrived, also after the relations were locked
 *   settings       (environment.c) the search path, row_security, and those that literals and the
 *                  key depend on
 *   literals       those that name the time of the transaction are of that transaction (literals.c)
 *
 * A text with other literals is the same query with other constants (literal_values.c). MIN_ALIKE
 * texts of a form are kept, for calls that alternate; others replace the one used least recently.
 *
 * On each call, relations are locked, privileges are checked (Q18), and expressions are folded
 * (Q4). If a value differs, it takes its place in the trees, and the fingerprint is computed from
 * the digest of the rest.
 *
 * Not kept are queries that are refused, read relations with children, or call functions whose
 * bodies are text; types that can be altered without an invalidation; and literals whose types have
 * input functions that may read the catalogs.
 *
 * An analysis is kept in the memory in which it was made. Calls that use it have a copy of its
 * fields, whose memory context keeps it from being freed.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/lmgr.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "analysis/known_analyses.h"
#include "base/compat.h"
#include "base/fault.h"

#define KNOWN_ANALYSES 8
#define MAX_BYTES (256 * 1024)	/* of an analysis that is kept */
#define MIN_ALIKE 2

typedef struct EmogiKnownAnalysis
{
	MemoryContext context;		/* of all of it */
	EmogiQueryAnalysis analysis;	/* source = NULL */
	char	   *text;			/* as given, and ... */
	EmogiWantedWeight wants_weight;
	EmogiSource source;			/* ... for a relation, its columns */
	EmogiEnvironment environment;
	EmogiAnalysisCounts counts;
	TimestampTz transaction;	/* start of the one that literals belong to; 0 = any */
	List	   *levels;			/* Query *: all levels, for permissions */
	List	   *locked;			/* OIDs of relations */
	List	   *folded;			/* EmogiFolded * */
	List	   *places;			/* List * of Const *, for each of `folded` */
	EmogiSeenBy seen_by;
	EmogiKnownCosts costs;
	TimestampTz folded_at;		/* start of the transaction whose values the trees have; 0 = none */
	EmogiLiteralPlaces literals;
	int			offset;			/* of the text in analysis.text */
	bool		is_varying;		/* literals have had other values */
	bool		has_fingerprint;	/* that of the analysis is of the values in the trees */
	uint64		last_used;
	int			npins;			/* calls that use it */
	bool		is_dropped;		/* the last of them frees it */
} EmogiKnownAnalysis;

static EmogiKnownAnalysis *known_analyses[KNOWN_ANALYSES];
static int	oldest = 0;
static uint64 clock_now = 0;

/* ---- what an analysis depends on ---- */

/* Is a source the one that an analysis was made of? Its text is compared, too. */
static bool
is_of_source(const EmogiKnownAnalysis *known, const EmogiSource *source)
{
	return known->wants_weight == source->wants_weight &&
		known->source.is_query == source->is_query &&
		known->source.has_edge_filter == source->has_edge_filter &&
		(source->is_query ||
		 (known->source.relid == source->relid && known->source.src == source->src &&
		  known->source.dst == source->dst && known->source.weight == source->weight &&
		  known->source.reverse == source->reverse &&
		  emogi_key_type_equal(&known->source.key, &source->key)));
}

/*
 * Do the literals still have their values? They depend on the start of the transaction, not on the
 * transaction.
 */
static bool
has_literals(const EmogiKnownAnalysis *known)
{
	return known->transaction == 0 ||
		known->transaction == GetCurrentTransactionStartTimestamp();
}

/* Is an analysis valid for a source, except for its text? */
static bool
is_valid(const EmogiKnownAnalysis *known, const EmogiSource *source,
		 const EmogiAnalysisCounts *counts)
{
	return memcmp(&known->counts, counts, sizeof *counts) == 0 &&
		is_of_source(known, source) && has_literals(known) &&
		emogi_environment_is(&known->environment);
}

/* May analyses be kept and used at all? Not beside faults, nor where values cannot be folded. */
static bool
is_allowed(void)
{
	static const bool none[EMOGI_ANALYSIS_RULES] = {false};

	return memcmp(emogi_faults.analysis, none, sizeof none) == 0 && !IsInParallelMode() &&
		!RecoveryInProgress();
}

/* ---- memory ---- */

/* Free an analysis that is neither found nor used any more. */
static void
free_unused(EmogiKnownAnalysis *known)
{
	if (known->is_dropped && known->npins == 0)
		MemoryContextDelete(known->context);
}

/* Drop an analysis from the list. */
static void
drop(int place)
{
	EmogiKnownAnalysis *known = known_analyses[place];

	known_analyses[place] = NULL;
	if (known == NULL)
		return;
	known->is_dropped = true;
	free_unused(known);
}

/* Reset callback of a copy's memory: the call ends that uses the analysis. */
static void
unpin(void *arg)
{
	EmogiKnownAnalysis *known = arg;

	known->npins--;
	free_unused(known);
}

/* Copy a table with conditions for a call. */
static EmogiSource *
copy_filtered(const EmogiSource *filtered, EmogiQueryAnalysis *copy)
{
	EmogiSource *source = palloc(sizeof *source);
	EmogiFilter *filter = palloc(sizeof *filter);

	*source = *filtered;
	*filter = *filtered->filter;
	filter->analysis = copy;
	if (copy->is_folded || copy->known->is_varying)
		filter->ready = palloc0(sizeof *filter->ready);
	source->filter = filter;
	source->graph = copy->source->graph;
	source->wants_weight = copy->source->wants_weight;
	return source;
}

/* Make the copy of an analysis that a call uses. */
static EmogiQueryAnalysis *
use(EmogiKnownAnalysis *known, const EmogiSource *source)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi known analysis",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	MemoryContextCallback *callback = palloc(sizeof *callback);
	EmogiQueryAnalysis *copy = palloc(sizeof *copy);

	*copy = known->analysis;
	copy->context = context;
	copy->source = source;
	copy->known = known;
	if (copy->filtered != NULL)
		copy->filtered = copy_filtered(known->analysis.filtered, copy);
	*callback = (MemoryContextCallback) {.func = unpin,.arg = known};
	MemoryContextRegisterResetCallback(context, callback);
	known->npins++;
	known->last_used = ++clock_now;
	MemoryContextSwitchTo(old);
	return copy;
}

/* ---- use ---- */

/* Lock the relations of an analysis; return false, with no lock, if something changes by then. */
static bool
lock_relations(const EmogiKnownAnalysis *known)
{
	EmogiAnalysisCounts counts;
	ListCell   *cell;

	foreach(cell, known->locked)
		LockRelationOid(lfirst_oid(cell), AccessShareLock);
	emogi_environment_count(&counts);
	if (memcmp(&known->counts, &counts, sizeof counts) == 0)
		return true;
	foreach(cell, known->locked)
		UnlockRelationOid(lfirst_oid(cell), AccessShareLock);
	return false;
}

/* Has the caller the privileges on all relations and functions (Q18)? */
static bool
has_privileges(const EmogiKnownAnalysis *known)
{
	ListCell   *cell;

	foreach(cell, known->levels)
		if (!emogi_compat_may_do(lfirst_node(Query, cell)))
			return false;
	foreach(cell, known->analysis.functions)
		if (emogi_compat_may_execute(lfirst_oid(cell)) != ACLCHECK_OK)
			return false;
	return true;
}

/*
 * Put values into the trees of an analysis, and compute its fingerprint again if one differs. If
 * memory runs out, the next call computes it.
 */
static bool
set_values(EmogiKnownAnalysis *known, List *values)
{
	MemoryContext old;
	bool		are_equal = true;
	ListCell   *cell;
	ListCell   *value;

	forboth(cell, known->places, value, values)
		are_equal = are_equal &&
			emogi_literal_values_are_equal(linitial(lfirst_node(List, cell)), lfirst(value));
	if (are_equal && known->has_fingerprint)
		return true;
	if (known->npins > 1)
		return false;
	known->has_fingerprint = false;
	old = MemoryContextSwitchTo(known->context);
	forboth(cell, known->places, value, values)
		emogi_literal_values_set(lfirst_node(List, cell), lfirst(value));
	MemoryContextSwitchTo(old);
	emogi_fingerprint_update(&known->analysis);
	known->has_fingerprint = true;
	return true;
}

/*
 * Fold the expressions of an analysis; return false if the query must be analyzed again: one cannot
 * be evaluated, or another call uses the analysis with other values.
 */
static bool
fold(EmogiKnownAnalysis *known)
{
	List	   *values;

	if (known->folded == NIL || known->folded_at == GetCurrentTransactionStartTimestamp())
		return true;
	values = emogi_constant_folding_evaluate(known->folded);
	if (values == NIL || !set_values(known, values))
		return false;
	known->folded_at = emogi_constant_folding_is_of_transaction(known->folded) ?
		GetCurrentTransactionStartTimestamp() : 0;
	return true;
}

/* Use an analysis whose relations are locked; NULL if its expressions cannot be folded. */
static EmogiQueryAnalysis *
use_folded(EmogiKnownAnalysis *known, const EmogiSource *source, EmogiAnalysisPurpose purpose)
{
	/* before functions are called, which may make calls */
	EmogiQueryAnalysis *copy = use(known, source);

	if (purpose == EMOGI_ANALYSIS_FOR_SIZE)
		return copy;
	if (fold(known))
	{
		memcpy(copy->fingerprint, known->analysis.fingerprint, sizeof copy->fingerprint);
		return copy;
	}
	MemoryContextDelete(copy->context);
	return NULL;
}

/* Get the analyzed text of an analysis with another given text. */
static char *
replace_text(const EmogiKnownAnalysis *known, const char *text)
{
	const char *behind = known->analysis.text + known->offset + strlen(known->text);
	const Size	length = strlen(text);
	char	   *whole = palloc(known->offset + length + strlen(behind) + 1);

	memcpy(whole, known->analysis.text, known->offset);
	memcpy(whole + known->offset, text, length);
	strcpy(whole + known->offset + length, behind);
	return whole;
}

/*
 * Put the literals of a text into an analysis that no call uses. Raises their errors. If memory
 * runs out, the analysis is not found again.
 */
static void
set_literals(EmogiKnownAnalysis *known, const char *text, const EmogiTextLiterals *texts)
{
	const Const **values = emogi_literal_values_read(text, texts, &known->literals);
	MemoryContext old = MemoryContextSwitchTo(known->context);
	char	   *whole = replace_text(known, text);
	char	   *before = known->text;

	known->text = pstrdup("");
	known->literals.can_differ = false;
	emogi_literal_values_put(values, &known->literals);
	MemoryContextSwitchTo(old);
	emogi_fingerprint_update(&known->analysis);
	pfree(unconstify(char *, known->analysis.text));
	known->analysis.text = whole;
	pfree(known->text);
	known->text = strcpy(repalloc(before, strlen(text) + 1), text);
	known->literals.texts = *texts;
	known->literals.can_differ = known->is_varying = true;
	emogi_known_costs_outdate(&known->costs);
}

/*
 * Find an analysis whose literals can be replaced by those of a text, and do that; NULL if there is
 * none. Literals that name the time of the transaction have another life.
 */
static EmogiKnownAnalysis *
find_alike(const EmogiSource *source, const char *text, const EmogiAnalysisCounts *counts)
{
	EmogiKnownAnalysis *found = NULL;
	EmogiTextLiterals texts;
	int			nalike = 0;

	if (!emogi_text_literals_find(text, &texts) || texts.count == 0 ||
		emogi_literals_may_name_time(text))
		return NULL;
	for (int i = 0; i < KNOWN_ANALYSES; i++)
	{
		EmogiKnownAnalysis *known = known_analyses[i];

		if (known == NULL ||
			!emogi_literal_values_differ(text, &texts, known->text, &known->literals) ||
			!is_valid(known, source, counts))
			continue;
		nalike++;
		if (known->npins == 0 && (found == NULL || known->last_used < found->last_used))
			found = known;
	}
	if (found == NULL || nalike < MIN_ALIKE)
		return NULL;
	set_literals(found, text, &texts);
	return found;
}

/* Find the analysis of a text; NULL if there is none. */
static EmogiKnownAnalysis *
find(const EmogiSource *source, const char *text, const EmogiAnalysisCounts *counts)
{
	for (int i = 0; i < KNOWN_ANALYSES; i++)
		if (known_analyses[i] != NULL && strcmp(known_analyses[i]->text, text) == 0 &&
			is_valid(known_analyses[i], source, counts))
			return known_analyses[i];
	return find_alike(source, text, counts);
}

/*
 * Find the analysis of a source, with its relations locked; NULL if the query must be analyzed. The
 * values of folded expressions are those of the active snapshot, unless only the size of the graph
 * is asked for.
 */
EmogiQueryAnalysis *
emogi_known_analyses_find(const EmogiSource *source, const char *text, EmogiAnalysisPurpose purpose)
{
	EmogiAnalysisCounts counts;
	EmogiKnownAnalysis *known;

	if (text == NULL || !is_allowed())
		return NULL;
	emogi_environment_count(&counts);
	known = find(source, text, &counts);
	if (known == NULL || !lock_relations(known) || !has_privileges(known))
		return NULL;
	return use_folded(known, source, purpose);
}

/* ---- keeping ---- */

/* Trees of an analysis, and what is collected from them. */
typedef struct Collection
{
	List	   *levels;			/* Query * */
	int			nfolded;
	List	  **places;			/* [nfolded], Const * */
} Collection;

/* Collect the levels and the values of folded expressions. */
static bool
collect(Node *node, void *context)
{
	Collection *collection = context;

	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, Query))
	{
		collection->levels = lappend(collection->levels, node);
		return query_tree_walker((Query *) node, collect, context, 0);
	}
	if (IsA(node, Const))
	{
		const int	folded = EMOGI_FOLDED_MARK - ((Const *) node)->location;

		if (folded >= 0 && folded < collection->nfolded)
			/* the trees and the conditions of a filter may share it; a value is freed once */
			collection->places[folded] = list_append_unique_ptr(collection->places[folded], node);
	}
	return expression_tree_walker(node, collect, context);
}

/* Collect what calls need of the trees; return false if a folded value is in none. */
static bool
collect_all(EmogiKnownAnalysis *known, const EmogiAnalysisState *state)
{
	const EmogiSource *filtered = state->analysis->filtered;
	Collection	collection = {.nfolded = list_length(state->folded)};

	collection.places = palloc0(Max(collection.nfolded, 1) * sizeof *collection.places);
	(void) collect((Node *) state->trees, &collection);
	known->levels = collection.levels;
	for (int i = 0; i < collection.nfolded; i++)
		if (collection.places[i] == NIL)
			return false;
	if (filtered != NULL)
		(void) collect((Node *) filtered->filter->quals, &collection);
	for (int i = 0; i < collection.nfolded; i++)
		known->places = lappend(known->places, collection.places[i]);
	return true;
}

/* May a value be replaced in the trees? That of a condition may have changed their form. */
static bool
are_replaceable(List *folded)
{
	ListCell   *cell;

	foreach(cell, folded)
		if (((const EmogiFolded *) lfirst(cell))->value->consttype == BOOLOID)
			return false;
	return true;
}

/* Have the relations no children, and are they those that are locked? */
static bool
are_childless(List *relations)
{
	ListCell   *cell;

	foreach(cell, relations)
		if (has_subclass(lfirst_oid(cell)))
			return false;
	return true;
}

/* Can an analysis that has just been made be kept? */
static bool
may_keep(const EmogiAnalysisState *state)
{
	const EmogiQueryAnalysis *analysis = state->analysis;
	EmogiAnalysisCounts counts;

	if (!is_allowed() || analysis->refusal != NULL || analysis->texts != NIL ||
		analysis->has_types || analysis->columns.guess.column != NULL ||
		state->life == EMOGI_LITERALS_OF_CALL || !are_replaceable(state->folded) ||
		(state->folded != NIL && !analysis->is_split) || !are_childless(analysis->relations) ||
		MemoryContextMemAllocated(analysis->context, true) > MAX_BYTES)
		return false;
	emogi_environment_count(&counts);
	return memcmp(&counts, &state->counts, sizeof counts) == 0;
}

/*
 * Note the literals of an analysis that can have other values. In trees of other texts, such as
 * bodies of functions, locations have another meaning.
 */
static void
note_literals(EmogiKnownAnalysis *known, const EmogiAnalysisState *state)
{
	const EmogiQueryAnalysis *analysis = state->analysis;
	const char *given = strstr(analysis->text, state->given);
	List	   *quals = analysis->filtered != NULL ? analysis->filtered->filter->quals : NIL;

	if (given == NULL || !analysis->is_split || known->transaction != 0)
		return;
	known->offset = (int) (given - analysis->text);
	emogi_literal_values_find(state->given, known->offset, list_make2(analysis->query, quals),
							  state->folded, &known->literals);
}

/* Make an entry of an analysis, in its memory; NULL if a folded value was not found. */
static EmogiKnownAnalysis *
make_entry(EmogiAnalysisState *state)
{
	EmogiKnownAnalysis *known = palloc0(sizeof *known);
	const EmogiQueryAnalysis *analysis = state->analysis;

	if (!collect_all(known, state))
		return NULL;
	known->context = analysis->context;
	known->source = *analysis->source;
	known->wants_weight = analysis->source->wants_weight;
	known->text = pstrdup(state->given);
	emogi_environment_get(&known->environment);
	known->counts = state->counts;
	if (state->life == EMOGI_LITERALS_OF_TRANSACTION)
		known->transaction = GetCurrentTransactionStartTimestamp();
	known->locked = list_concat_unique_oid(list_copy(analysis->named), analysis->relations);
	known->folded = state->folded;
	note_literals(known, state);
	known->analysis = *analysis;
	known->analysis.source = NULL;
	known->has_fingerprint = true;
	return known;
}

/*
 * Keep an analysis that has just been made, if it can be used again, in place of the oldest. Return
 * it, or the copy that the call uses.
 */
EmogiQueryAnalysis *
emogi_known_analyses_keep(EmogiAnalysisState *state)
{
	EmogiQueryAnalysis *analysis = state->analysis;
	const EmogiSource *source = analysis->source;
	MemoryContext old;
	EmogiKnownAnalysis *known;

	if (!may_keep(state))
		return analysis;
	old = MemoryContextSwitchTo(analysis->context);
	known = make_entry(state);
	MemoryContextSwitchTo(old);
	if (known == NULL)
		return analysis;
	MemoryContextSetParent(known->context, TopMemoryContext);
	drop(oldest);
	known_analyses[oldest] = known;
	oldest = (oldest + 1) % KNOWN_ANALYSES;
	return use(known, source);
}

/* ---- what snapshots see ---- */

/* Is it known that the active snapshot sees all relations as the analysis read them? */
bool
emogi_known_analyses_are_seen(const EmogiQueryAnalysis *analysis)
{
	return analysis->known != NULL && emogi_seen_by_active(&analysis->known->seen_by);
}

/* Note that the active snapshot sees all relations so, if nothing has changed since. */
void
emogi_known_analyses_note_seen(const EmogiQueryAnalysis *analysis)
{
	EmogiAnalysisCounts counts;

	if (analysis->known == NULL || emogi_snapshot_is_kept())
		return;
	emogi_environment_count(&counts);
	if (memcmp(&counts, &analysis->known->counts, sizeof counts) == 0)
		emogi_seen_by_note(&analysis->known->seen_by);
}

/* ---- estimates ---- */

/* Get the planner's estimates that are kept with an analysis; NULL if it is not kept. */
EmogiKnownCosts *
emogi_known_analyses_costs(const EmogiQueryAnalysis *analysis)
{
	return analysis->known != NULL ? &analysis->known->costs : NULL;
}
