/*
 * masked_graph.c: use the cached graph of a whole table with an edge mask, instead of a graph of
 * the rows for which a condition is true.
 *
 * This is possible if the graph is exact for the call's snapshot, and the condition is a program
 * over property columns. The mask is in the memory of the call's slot.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "acquire/masked_graph.h"
#include "analysis/filter_program.h"
#include "base/arena.h"
#include "changes/own_changes.h"
#include "contract/edge_mask.h"
#include "edges/property_scan.h"
#include "edges/row_filter.h"

/* The condition of a call, and where its graph is. */
typedef struct Condition
{
	EmogiSource table;			/* without the condition */
	List	   *quals;
	EmogiFilterColumns columns;
	EmogiCacheLookup *lookup;	/* of the table's graph */
	bool		may_share;
} Condition;

/* What the memory of a mask begins with. */
typedef struct MaskHeader
{
	EmogiEdgeMask mask;
	EmogiEdgeFilter filter;
	EmogiProperties forward;
	EmogiProperties backward;
} MaskHeader;

/* ---- the condition ---- */

/* List the columns of a condition; false if one has a type that is not stored. */
static bool
list_columns(const EmogiSource *filtered, EmogiFilterColumns *columns)
{
	const EmogiFilter *filter = filtered->filter;

	columns->count = filter->ncolumns;
	for (int i = 0; i < filter->ncolumns; i++)
		if (!emogi_property_scan_identify(filtered->relid, filter->columns[i],
										  &columns->columns[i], &columns->kinds[i]))
			return false;
	return true;
}

/* Can a mask stand for the condition of a filtered table? */
static bool
find_condition(const EmogiSource *filtered, Condition *condition)
{
	if (filtered->filter == NULL || filtered->filter->ncolumns == 0 ||
		filtered->reverse > 0 || filtered->weight > 0 || filtered->key.nparts > 0 ||
		filtered->key.class == EMOGI_KEY_COMPARED ||
		!list_columns(filtered, &condition->columns))
		return false;
	condition->table = *filtered;
	condition->table.filter = NULL;
	condition->quals = emogi_row_filter_plan(filtered).quals;
	return emogi_filter_program_is_possible(condition->quals, &condition->columns);
}

/* Describe the graph of the table. */
static void
describe_graph(Condition *condition, const EmogiGraphSource *rows,
			   const EmogiGraphRequest *request)
{
	EmogiGraphSource whole = emogi_graph_source_of_heaps(&condition->table, rows->tables);
	const char *why;

	condition->lookup = emogi_cache_lookup_make(&condition->table, NULL, &request->key);
	condition->may_share = emogi_cache_lookup_may_share(condition->lookup, &whole, &why);
}

/* Get what the cache has for the graph of the table; call: to pin the graph for, NULL = do not. */
static EmogiCacheHas
find_graph(EmogiCall *call, const Condition *condition)
{
	return condition->may_share ?
		emogi_cache_lookup_find_or_wait(call, condition->lookup, true).has :
		EMOGI_CACHE_HAS_NOTHING;
}

/* ---- the mask ---- */

/* Get the bytes of the header, with the program. */
static Size
header_bytes(const EmogiFilterProgram *program)
{
	return TYPEALIGN(EMOGI_LINE_BYTES, MAXALIGN(sizeof(MaskHeader)) +
					 emogi_filter_program_bytes(program));
}

/* Begin the bitmap of one orientation; returns the memory behind it. */
static char *
begin_lists(const EmogiEdgeFilter *filter, const EmogiProperties *properties, char *memory,
			EmogiMaskedLists *lists)
{
	EmogiError	error;

	if (emogi_edge_mask_begin(filter, properties, memory, lists, &error) != EMOGI_OK)
		elog(ERROR, "%s: %s", error.message, error.detail);
	return memory + emogi_edge_mask_bytes(properties->nedges);
}

/* Allocate memory for a mask; NULL if there is none even without graphs that no call uses. */
static void *
alloc_mask(EmogiCall *call, Size bytes)
{
	const EmogiOwner owner = EMOGI_OWNER(call->slot_index);
	void	   *memory = emogi_arena_try_alloc(owner, bytes);

	return memory == NULL && emogi_call_make_room(bytes) ? emogi_arena_try_alloc(owner, bytes) :
		memory;
}

/*
 * Make a mask for the columns that the call reads; false if there is no memory for it. is_reversed:
 * the call's forward lists are the reverse lists of the graph.
 */
static bool
make_mask(EmogiCall *call, const EmogiFilterProgram *program, bool is_reversed,
		  EmogiGraphView *view)
{
	const EmogiColumns *columns = call->slot->columns;
	const bool	has_reverse = columns->backward.nedges > 0;
	const Size	start = header_bytes(program);
	MaskHeader *header;
	char	   *memory;

	view->mask_bytes = start + emogi_edge_mask_bytes(columns->forward.nedges) +
		(has_reverse ? emogi_edge_mask_bytes(columns->backward.nedges) : 0);
	memory = alloc_mask(call, view->mask_bytes);
	if (memory == NULL)
		return false;
	view->mask_memory = memory;
	emogi_property_scan_populate(memory, view->mask_bytes);
	header = (MaskHeader *) memory;
	*header = (MaskHeader) {.forward = is_reversed ? columns->backward : columns->forward,
							.backward = is_reversed ? columns->forward : columns->backward};
	emogi_filter_program_copy(program, memory + MAXALIGN(sizeof *header), &header->filter);
	memory = begin_lists(&header->filter, &header->forward, memory + start,
						 &header->mask.forward);
	if (has_reverse)
		(void) begin_lists(&header->filter, &header->backward, memory, &header->mask.backward);
	header->mask.in_offsets = columns->in_offsets;
	header->mask.in_entries = columns->in_entries;
	header->mask.is_symmetric = view->graph.backward.offsets != NULL && !has_reverse;
	view->mask = &header->mask;
	return true;
}

/* Set the view to the graph that the call has pinned, with a mask; false if that is impossible. */
static bool
show(EmogiCall *call, const Condition *condition, EmogiGraphView *view)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];
	EmogiFilterProgram program;

	if (!emogi_filter_program_make(condition->quals, &condition->columns, call->slot->columns,
								   &program))
		return false;
	emogi_cache_lookup_set_view(&cached->graph, cached->key.direction, &condition->lookup->key,
								&view->graph);
	if (!make_mask(call, &program,
				   view->graph.forward.targets != cached->graph.forward.targets, view))
		return false;
	call->record.is_masked = true;
	call->record.ncolumns = (int) call->slot->columns->forward.ncolumns;
	call->record.columns_bytes = emogi_cache_columns_bytes(cached);
	return true;
}

/* Get the columns of a condition. */
static EmogiNeededColumns
needed_columns(const Condition *condition)
{
	EmogiNeededColumns needed = {.count = condition->columns.count};

	memcpy(needed.columns, condition->columns.columns, sizeof needed.columns);
	return needed;
}

/* Release the graph that a call has pinned, and its columns. */
static void
release(EmogiSlot *slot)
{
	const int	graph = slot->graph;

	emogi_cache_columns_release(slot);
	slot->graph = -1;
	pg_atomic_write_u64(&slot->nskipped, 0);
	emogi_cache_unpin(graph);
}

/* An attempt to answer a call with a mask. */
typedef struct Attempt
{
	EmogiCall  *call;
	Condition  *condition;
	const EmogiGraphSource *rows;
	EmogiGraphView *view;
	EmogiAcquireWhole acquire;
	bool		loads;			/* columns, and the graph if there is none */
	bool		is_busy;		/* another call is loading columns */
	bool		has_succeeded;
} Attempt;

/* Have the call pin the graph of the table; false if that is impossible. */
static bool
pin_graph(Attempt *attempt)
{
	EmogiGraphView *view = attempt->view;

	view->origin = EMOGI_GRAPH_FOUND;
	if (find_graph(attempt->call, attempt->condition) == EMOGI_CACHE_HAS_GRAPH)
		return true;
	if (!attempt->loads)
		return false;
	view->origin = attempt->acquire(attempt->call, &attempt->condition->table, attempt->rows,
									attempt->condition->lookup);
	return view->origin != EMOGI_GRAPH_NONE;
}

/* Get the graph of the table with a mask; the call has a slot, and no graph yet. */
static void
attempt_mask(void *arg)
{
	Attempt    *attempt = arg;
	EmogiCall  *call = attempt->call;
	const Condition *condition = attempt->condition;
	const EmogiNeededColumns needed = needed_columns(condition);

	if (!pin_graph(attempt))
		return;
	attempt->has_succeeded =
		emogi_cache_shared->graphs[call->slot->graph].graph.forward.nedges > 0 &&
		emogi_columns_get(call, &condition->table, attempt->rows->tables, condition->lookup,
						  &needed, attempt->loads, &attempt->is_busy) &&
		show(call, condition, attempt->view);
	if (!attempt->has_succeeded)
		release(call->slot);
}

/* Is an error one of missing memory or another resource? */
static bool
lacks_resources(const ErrorData *error)
{
	return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES;
}

/*
 * Get the graph of the table with a mask, and load what is missing. Without it, the call may need
 * less memory: so if there is not enough, release the slot with all that it owns, and return false.
 */
static bool
load_mask(Attempt *attempt)
{
	ErrorData  *error;

	attempt->loads = true;
	error = emogi_own_changes_run(attempt_mask, attempt);
	if (error == NULL)
	{
		/* the next attempts would build the graph in vain, too */
		if (!attempt->has_succeeded && !attempt->is_busy)
			emogi_columns_cost_record_failure(attempt->condition->table.relid);
		return attempt->has_succeeded;
	}
	if (!lacks_resources(error))
		ReThrowError(error);
	FreeErrorData(error);
	emogi_columns_cost_record_failure(attempt->condition->table.relid);
	emogi_call_release_shared(attempt->call);
	emogi_call_phase(attempt->call, EMOGI_PHASE_IDLE);
	return false;
}

/* Get the graph of the table with a mask from what there is; the call has no graph yet. */
static bool
get_there(Attempt *attempt, EmogiCacheHas has)
{
	const EmogiNeededColumns needed = needed_columns(attempt->condition);

	if (has != EMOGI_CACHE_HAS_GRAPH ||
		!emogi_columns_are_there(attempt->condition->lookup, &needed) ||
		!emogi_call_try_take_slot(attempt->call))
		return false;
	attempt_mask(attempt);
	return attempt->has_succeeded;
}

/*
 * Get the graph of the table with a mask, and load what is missing if that pays. It does not if the
 * graph of the condition only must be brought up to date.
 */
static bool
get(Attempt *attempt, EmogiCacheHas instead, bool is_last)
{
	const Condition *condition = attempt->condition;
	const EmogiCacheHas has = find_graph(NULL, condition);

	if (get_there(attempt, has))
		return true;
	if (instead != EMOGI_CACHE_HAS_NOTHING || !condition->may_share || IsInParallelMode() ||
		!emogi_columns_cost_pays(&condition->table, condition->lookup->key.direction,
								 condition->columns.count, has, is_last) ||
		!emogi_call_try_take_slot(attempt->call))
		return false;
	return load_mask(attempt);
}

/*
 * May a call use a mask for rows? Not those of a view, whose readers must not see how many rows the
 * table has (EXPLAIN ANALYZE), nor those of partitions, whose columns may be exchanged while they
 * are detached.
 */
static bool
accepts_masks(const EmogiGraphSource *rows, const EmogiGraphRequest *request)
{
	const EmogiQueryAnalysis *analysis = rows->analysis;

	return rows->source->has_edge_filter && emogi_enable_property_columns &&
		request->accepts_mask && !request->is_verified && !request->key.shared_only &&
		analysis != NULL && analysis->filtered != NULL && !analysis->query->hasRowSecurity &&
		rows->source->filtered == analysis->filtered->relid && rows->elsewhere == NIL &&
		list_length(rows->tables) == 1 && linitial_oid(rows->tables) == rows->source->filtered;
}

/*
 * Get the cached graph of the table that a condition is about, with a mask of the edges for which
 * the condition is true; return false, with nothing pinned, if that is impossible, or something
 * must be loaded or built and that does not pay. rows: of the filtered table, open, whose rights
 * have been checked; instead: what the cache has for the graph of the condition; is_last:
 * otherwise, the call would use or build that next, and no indexes. acquire gets the graph of the
 * table if it must be built. The call may have a slot afterwards. Raises XX000, and errors of the
 * folded expressions and the comparison of values.
 */
bool
emogi_masked_graph_get(EmogiCall *call, const EmogiGraphSource *rows,
					   const EmogiGraphRequest *request, EmogiCacheHas instead, bool is_last,
					   EmogiAcquireWhole acquire, EmogiGraphView *view)
{
	Condition	condition;
	Attempt		attempt = {call, &condition, rows, view, acquire};
	bool		found;

	if (!accepts_masks(rows, request) ||
		!find_condition(rows->analysis->filtered, &condition))
		return false;
	describe_graph(&condition, rows, request);
	found = get(&attempt, instead, is_last);
	emogi_cache_lookup_free(condition.lookup);
	return found;
}

/* Record what a call without a mask has spent on the condition of rows. */
void
emogi_masked_graph_add_cost(const EmogiGraphSource *rows, const EmogiGraphRequest *request,
							double us)
{
	if (accepts_masks(rows, request))
		emogi_columns_cost_add(rows->analysis->filtered->relid, us);
}

/* Get the share of the words of a bitmap that are known. */
static double
known_share(const EmogiMaskedLists *lists)
{
	const uint64 nwords = emogi_bitmap_words(lists->properties->nedges);
	uint64		nknown = 0;

	if (lists->known == NULL)
		return 1;
	for (uint64 i = 0; i < emogi_bitmap_words(nwords); i++)
		nknown += pg_popcount64(lists->known[i]);
	return (double) nknown / nwords;
}

/* Free the mask of a view, and stop reading its columns. */
void
emogi_masked_graph_end(EmogiCall *call, EmogiGraphView *view)
{
	if (view->mask == NULL)
		return;
	call->record.mask_share = known_share(&view->mask->forward);
	emogi_arena_free(view->mask_memory, view->mask_bytes);
	view->mask = NULL;
	emogi_cache_columns_release(call->slot);
}
