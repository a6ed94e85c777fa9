/*
 * columns.c: get property columns of a call's cached graph, and load those that it does not have.
 *
 * Columns are used only if they were read under a snapshot that sees the same rows of each leaf as
 * the call's, by the rule by which graphs are shared (recent_writers.c). That the graph is exact
 * for the call's snapshot does not suffice: a change of a property leaves the edges as they were.
 *
 * All columns of a graph are read in one scan, so that they assign parallel edges alike (P2).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "acquire/masked_graph.h"
#include "base/arena.h"
#include "cache/tables.h"
#include "edges/property_scan.h"

/* Bytes per entry of the lists of numbers and the memory to build them, at most. */
#define BYTES_AN_ENTRY 48

/* A load takes at most this part of the arena, so that it seldom fails for lack of memory. */
#define LOAD_SHARE 8

/* What a call needs, for emogi_cache_columns_begin. */
typedef struct Need
{
	const EmogiCacheLookup *lookup;
	const EmogiNeededColumns *needed;
} Need;

/* ---- what there is ---- */

/* Find a column; NULL if there is none. */
static const EmogiColumn *
find_column(const EmogiColumns *columns, const EmogiColumnIdentity *identity)
{
	for (uint32 i = 0; i < columns->forward.ncolumns; i++)
		if (memcmp(&columns->columns[i].identity, identity, sizeof *identity) == 0)
			return &columns->columns[i];
	return NULL;
}

/*
 * Check whether columns have the values of the rows that a lookup's snapshot sees, whose graph is
 * exact for it. Caller holds cache_lock.
 */
static bool
are_exact(const EmogiColumns *columns, const EmogiCacheLookup *lookup)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[columns->graph];

	if (columns->nleaves != lookup->nleaves || cached->nleaves != lookup->nleaves)
		return false;
	for (int i = 0; i < lookup->nleaves; i++)
		if (columns->relids[i] != lookup->relids[i] ||
			columns->relfilenumbers[i] != lookup->relfilenumbers[i] ||
			emogi_tables_relid(cached->leaves[i].table) != lookup->relids[i] ||
			!emogi_recent_writers_allow_snapshot(cached->leaves[i].table, &lookup->xids) ||
			!emogi_recent_writers_see_same_rows(cached->leaves[i].table, &columns->xids,
												&lookup->xids, NULL, 0))
			return false;
	return true;
}

/* Check whether columns are all that a call needs; an EmogiColumnsFit. */
static bool
fit(const EmogiColumns *columns, const void *arg)
{
	const Need *need = arg;

	for (int i = 0; i < need->needed->count; i++)
		if (find_column(columns, &need->needed->columns[i]) == NULL)
			return false;
	return are_exact(columns, need->lookup);
}

/* ---- loading ---- */

/* Add a column to a scan, unless it has too many. */
static void
add_column(EmogiPropertyScan *scan, const EmogiColumnIdentity *identity, EmogiColumnKind kind)
{
	for (int i = 0; i < scan->ncolumns; i++)
		if (scan->columns[i].identity.attnum == identity->attnum)
			return;
	if (scan->ncolumns < EMOGI_FILTER_MAX_COLUMNS)
		scan->columns[scan->ncolumns++] = (EmogiScannedColumn) {.identity = *identity,
			.kind = kind};
}

/* Check whether columns that a call reads, NULL = none, have the values that its snapshot sees. */
static bool
have_values(const EmogiColumns *columns, const EmogiCacheLookup *lookup)
{
	bool		have;

	if (columns == NULL)
		return false;
	emogi_cache_lock();
	have = are_exact(columns, lookup);
	emogi_cache_unlock();
	return have;
}

/* Did a column that a call needs have too many different values in the rows that it sees? */
static bool
is_absent(const EmogiColumns *columns, const EmogiCacheLookup *lookup,
		  const EmogiNeededColumns *needed)
{
	for (int i = 0; columns != NULL && i < needed->count; i++)
	{
		const EmogiColumn *column = find_column(columns, &needed->columns[i]);

		if (column != NULL && column->kind == EMOGI_COLUMN_ABSENT)
			return have_values(columns, lookup);
	}
	return false;
}

/*
 * Choose the columns to load: those that the call needs, and those that the graph has, if they are
 * still columns of the table. One that had too many different values in the same rows is not read.
 */
static void
choose_columns(const EmogiSource *source, const EmogiNeededColumns *needed,
			   const EmogiColumns *old, const EmogiCacheLookup *lookup, EmogiPropertyScan *scan)
{
	const bool	are_same = have_values(old, lookup);
	EmogiColumnIdentity identity;
	EmogiColumnKind kind;

	for (int i = 0; i < needed->count; i++)
		if (emogi_property_scan_identify(source->relid, needed->columns[i].attnum, &identity,
										 &kind))
			add_column(scan, &identity, kind);
	for (uint32 i = 0; old != NULL && i < old->forward.ncolumns; i++)
	{
		const EmogiColumn *column = &old->columns[i];

		if ((column->kind != EMOGI_COLUMN_ABSENT || are_same) &&
			emogi_property_scan_identify(source->relid, column->identity.attnum, &identity,
										 &kind) &&
			memcmp(&identity, &column->identity, sizeof identity) == 0)
			add_column(scan, &identity, column->kind == EMOGI_COLUMN_ABSENT ? column->kind : kind);
	}
}

/* Check whether the memory for a load can be expected. */
static bool
may_fit(const EmogiCached *cached, const EmogiPropertyScan *scan)
{
	const uint64 nentries = cached->graph.forward.nedges + cached->graph.backward.nedges;
	const uint64 bytes = scan->max_rows * (sizeof(EmogiWeightedEdge) +
										   (scan->ncolumns + 1) * sizeof(int64)) +
		nentries * (BYTES_AN_ENTRY + scan->ncolumns * sizeof(int64));

	return bytes < emogi_arena_budget_bytes() / LOAD_SHARE &&
		(superuser() || bytes < emogi_limits_role_bytes());
}

/* Have the worker build the lists of the numbers of rows, like those of the graph. */
static EmogiGraph
build_numbers(EmogiCall *call, const EmogiCached *cached)
{
	EmogiGraphKey key = {.weights = EMOGI_WEIGHTS_ANY,.direction = cached->key.direction,
		.with_backward = cached->graph.backward.offsets != NULL};
	EmogiBuilt	built;

	emogi_build_graph(call, &key, NULL, NULL, &built);
	return built.graph;
}

/* Does a graph have reverse lists of its own? */
static bool
has_reverse(const EmogiGraph *graph)
{
	return graph->backward.offsets != NULL && graph->backward.targets != graph->forward.targets;
}

/* Get how a column that was read is stored. */
static EmogiPropertyType
stored_type(const EmogiScannedColumn *column)
{
	if (column->kind == EMOGI_COLUMN_FLOAT)
		return column->fits_f32 ? EMOGI_PROPERTY_F32 : EMOGI_PROPERTY_F64;
	if (column->min > column->max)
		return EMOGI_PROPERTY_I8;
	return emogi_property_integer_type(column->min, column->max);
}

/* A place in the block of columns, which grows; without a block, it only counts bytes. */
typedef struct Place
{
	char	   *block;
	Size		bytes;
} Place;

/* Take bytes of the block; NULL if there is no block yet. */
static void *
take(Place *place, Size bytes, Size alignment)
{
	const Size	start = TYPEALIGN(alignment, place->bytes);

	place->bytes = start + bytes;
	return place->block != NULL ? place->block + start : NULL;
}

/* Take room for the values of a column in one orientation. */
static EmogiProperty
take_values(Place *place, const EmogiScannedColumn *column, uint64 nedges)
{
	EmogiProperty property = {.type = stored_type(column)};

	if (column->kind != EMOGI_COLUMN_ABSENT)
		property.values = take(place, emogi_properties_bytes(property.type, column->has_nulls,
															 nedges), EMOGI_LINE_BYTES);
	return property;
}

/* Take room for a column's dictionary, and write it if there is a block. */
static void
take_dictionary(Place *place, const EmogiScannedColumn *scanned, EmogiColumn *column)
{
	const uint32 nvalues = emogi_property_values_count(scanned->different);
	uint32	   *places = take(place, nvalues * sizeof *places, MAXIMUM_ALIGNOF);
	char	   *bytes = take(place, emogi_property_values_bytes(scanned->different),
							 MAXIMUM_ALIGNOF);

	if (place->block == NULL)
		return;
	emogi_property_values_write(scanned->different, places, bytes);
	column->nvalues = nvalues;
	column->places = places;
	column->bytes = bytes;
}

/* Copy an array into the block, if there is one. */
static void *
take_copy(Place *place, const void *array, Size bytes)
{
	void	   *copy = take(place, bytes, MAXIMUM_ALIGNOF);

	if (copy != NULL)
		memcpy(copy, array, bytes);
	return copy;
}

/*
 * Lay out the block of columns; without a block, only to count its bytes. Values, which come behind
 * the first *described_bytes, are not filled in.
 */
static void
lay_out(Place *place, const EmogiPropertyScan *scan, const EmogiCacheLookup *lookup, int graph,
		Size *described_bytes)
{
	const EmogiGraph *lists = &emogi_cache_shared->graphs[graph].graph;
	const bool	reverse = has_reverse(lists);
	EmogiColumns header = {.graph = graph,.role = GetUserId(),.xids = lookup->xids,
		.nleaves = lookup->nleaves};
	EmogiColumns *columns = take(place, sizeof *columns, EMOGI_LINE_BYTES);
	EmogiProperty *forward = take(place, scan->ncolumns * sizeof *forward, MAXIMUM_ALIGNOF);
	EmogiProperty *backward = take(place, scan->ncolumns * sizeof *backward, MAXIMUM_ALIGNOF);
	EmogiColumn *described = take(place, scan->ncolumns * sizeof *described, MAXIMUM_ALIGNOF);

	header.xids.running = take_copy(place, lookup->xids.running,
									lookup->xids.nrunning * sizeof(uint64));
	header.relids = take_copy(place, lookup->relids, lookup->nleaves * sizeof(Oid));
	header.relfilenumbers = take_copy(place, lookup->relfilenumbers,
									  lookup->nleaves * sizeof(Oid));
	header.forward = (EmogiProperties) {lists->forward.nedges, scan->ncolumns, forward};
	if (reverse)
		header.backward = (EmogiProperties) {lists->backward.nedges, scan->ncolumns, backward};
	header.columns = described;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		const EmogiScannedColumn *scanned = &scan->columns[i];
		EmogiColumn column = {.identity = scanned->identity,.kind = scanned->kind};

		if (scanned->kind == EMOGI_COLUMN_CODES)
			take_dictionary(place, scanned, &column);
		if (described != NULL)
			described[i] = column;
	}
	*described_bytes = place->bytes;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		const EmogiProperty values = take_values(place, &scan->columns[i], lists->forward.nedges);
		const EmogiProperty reversed = reverse ?
			take_values(place, &scan->columns[i], lists->backward.nedges) : (EmogiProperty) {0};

		if (place->block == NULL)
			continue;
		forward[i] = values;
		backward[i] = reversed;
	}
	if (lists->backward.offsets == NULL && lists->forward.nedges <= PG_UINT32_MAX)
	{
		header.in_offsets = take(place, (lists->nvertices + 2) * sizeof(uint64),
								 EMOGI_LINE_BYTES);
		header.in_entries = take(place, lists->forward.nedges * sizeof(uint32), EMOGI_LINE_BYTES);
	}
	header.bytes = place->bytes;
	if (columns != NULL)
		*columns = header;
}

/*
 * Have the worker fill in the values of the stored columns: it gets copies of their descriptions,
 * without the others.
 */
static void
fill(EmogiCall *call, const EmogiPropertyScan *scan, const EmogiGraph *graph,
	 const EmogiGraph *numbers, EmogiColumns *columns)
{
	const Size	bytes = scan->ncolumns * (sizeof(EmogiPropertyRows) + 2 * sizeof(EmogiProperty));
	EmogiRequest *request = &call->slot->request;
	EmogiPropertyRows *rows = emogi_call_alloc_any(call, bytes);
	EmogiProperty *forward = (EmogiProperty *) (rows + scan->ncolumns);
	EmogiProperty *backward = forward + scan->ncolumns;
	uint32		count = 0;

	for (int i = 0; i < scan->ncolumns; i++)
	{
		const EmogiScannedColumn *column = &scan->columns[i];

		if (column->kind == EMOGI_COLUMN_ABSENT)
			continue;
		rows[count] = (EmogiPropertyRows) {column->values.any,
										   column->has_nulls ? column->nulls : NULL};
		forward[count] = columns->forward.columns[i];
		if (columns->backward.ncolumns > 0)
			backward[count] = columns->backward.columns[i];
		count++;
	}
	request->kind = EMOGI_REQUEST_COLUMNS;
	request->graph = *graph;
	request->columns = (EmogiPropertyLoad) {.numbers = *numbers,.weights = scan->weights,
		.ncolumns = count,.rows = rows,.forward = forward,
		.backward = columns->backward.ncolumns > 0 ? backward : NULL,
		.in_offsets = (uint64_t *) columns->in_offsets,
		.in_entries = (uint32_t *) columns->in_entries};
	(void) emogi_call_request(call);
	count = 0;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		if (scan->columns[i].kind == EMOGI_COLUMN_ABSENT)
			continue;
		((EmogiProperty *) columns->forward.columns)[i] = forward[count];
		if (columns->backward.ncolumns > 0)
			((EmogiProperty *) columns->backward.columns)[i] = backward[count];
		count++;
	}
	emogi_arena_free(rows, bytes);
}

/* Read the columns of a scan, and store them with the graph that the call has pinned. */
static void
load(EmogiCall *call, EmogiPropertyScan *scan, List *leaves, const EmogiCacheLookup *lookup)
{
	EmogiSlot  *slot = call->slot;
	const EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];
	const EmogiKeyType keys = slot->keys;
	const double start_ms = emogi_pool_now_ms();
	Place		place = {0};
	Size		described_bytes;
	EmogiGraph	numbers;
	EmogiColumns *columns;

	emogi_call_phase(call, EMOGI_PHASE_SCAN);
	emogi_property_scan_run(scan, leaves);
	numbers = build_numbers(call, cached);
	emogi_call_phase(call, EMOGI_PHASE_CSR);
	lay_out(&place, scan, lookup, slot->graph, &described_bytes);
	place = (Place) {emogi_call_alloc(call, place.bytes)};
	emogi_property_scan_populate(place.block, described_bytes);
	lay_out(&place, scan, lookup, slot->graph, &described_bytes);
	columns = (EmogiColumns *) place.block;
	fill(call, scan, &cached->graph, &numbers, columns);
	if (numbers.memory != NULL)
		emogi_arena_free((void *) numbers.memory, numbers.memory_bytes);
	emogi_property_scan_free(scan);
	slot->keys = keys;
	slot->weights = EMOGI_WEIGHTS_UNUSED;
	columns->load_ms = emogi_pool_now_ms() - start_ms;
	call->record.columns_ms += columns->load_ms;
	emogi_cache_columns_set(slot, columns);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
}

/*
 * Have a call read columns of the graph that it has pinned, which is exact for the lookup's
 * snapshot, the active one. source: the table, without conditions; leaves: its heaps, locked.
 * Return false, with nothing read, if the columns must be loaded and loads is false, another call is
 * loading some, or they cannot be stored. Raises 53200, XX000, and errors of the comparison of
 * values.
 */
bool
emogi_columns_get(EmogiCall *call, const EmogiSource *source, List *leaves,
				  const EmogiCacheLookup *lookup, const EmogiNeededColumns *needed, bool loads)
{
	EmogiSlot  *slot = call->slot;
	const Need	need = {lookup, needed};
	const EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];
	EmogiPropertyScan scan = {.call = call};
	EmogiSource weighted = *source;

	switch (emogi_cache_columns_begin(slot, loads, fit, &need))
	{
		case EMOGI_COLUMNS_FOUND:
			return true;
		case EMOGI_COLUMNS_BUSY:
			return false;
		case EMOGI_COLUMNS_LOAD:
			break;
	}
	if (loads && !is_absent(slot->columns, lookup, needed))
	{
		weighted.weight = cached->graph.weight_type != EMOGI_WEIGHT_NONE ? cached->key.weight : 0;
		scan.source = &weighted;
		scan.dictionary = cached->graph.dictionary;
		scan.max_rows = cached->graph.forward.nedges;
		choose_columns(source, needed, slot->columns, lookup, &scan);
		if (may_fit(cached, &scan))
		{
			load(call, &scan, leaves, lookup);
			return true;
		}
	}
	emogi_cache_columns_release(slot);
	return false;
}
