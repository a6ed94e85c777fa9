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
#include "utils/syscache.h"

#include "acquire/masked_graph.h"
#include "base/arena.h"
#include "cache/tables.h"
#include "edges/property_scan.h"

/* A load takes at most this part of the memory of a role, so that other graphs seldom go for it. */
#define LOAD_SHARE 2

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
 * Check whether the rings tell for each leaf of a graph what a lookup's snapshot sees. Those of a
 * graph with a change tracker need not. Caller holds cache_lock.
 */
static bool
rings_allow(const EmogiCached *cached, const EmogiCacheLookup *lookup)
{
	if (cached->nleaves != lookup->nleaves)
		return false;
	for (int i = 0; i < lookup->nleaves; i++)
		if (emogi_tables_relid(cached->leaves[i].table) != lookup->relids[i] ||
			!emogi_recent_writers_allow_snapshot(cached->leaves[i].table, &lookup->xids))
			return false;
	return true;
}

/*
 * Check whether columns have the values of the rows that a lookup's snapshot sees, whose graph is
 * exact for it. Caller holds cache_lock.
 */
static bool
are_exact(const EmogiColumns *columns, const EmogiCacheLookup *lookup)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[columns->graph];

	if (!columns->may_share || columns->nleaves != lookup->nleaves ||
		!rings_allow(cached, lookup))
		return false;
	for (int i = 0; i < lookup->nleaves; i++)
		if (columns->relids[i] != lookup->relids[i] ||
			columns->relfilenumbers[i] != lookup->relfilenumbers[i] ||
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
	{
		const EmogiColumn *column = find_column(columns, &need->needed->columns[i]);

		if (column == NULL || column->kind == EMOGI_COLUMN_ABSENT)
			return false;
	}
	return are_exact(columns, need->lookup);
}

/* Check whether the cache has the graph of a lookup, with columns that a call needs. */
bool
emogi_columns_are_there(const EmogiCacheLookup *lookup, const EmogiNeededColumns *needed)
{
	const Need	need = {lookup, needed};
	const EmogiCached *cached;
	bool		are_there;

	emogi_cache_lock();
	cached = emogi_cache_lookup_find_shared(lookup);
	are_there = cached != NULL && cached->columns != NULL && fit(cached->columns, &need);
	emogi_cache_unlock();
	return are_there;
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
may_fit(EmogiPropertyScan *scan)
{
	const EmogiGraph *graph = &scan->graph;
	Size		bytes = 2 * emogi_property_scan_bytes(scan);

	if (graph->backward.offsets == NULL)
		bytes += graph->forward.nedges * sizeof(uint32) + graph->nvertices * sizeof(uint64);
	return bytes < Min(emogi_limits_allowed_bytes(), emogi_limits_role_bytes()) / LOAD_SHARE;
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
	const bool	is_ordered = scanned->order != NULL;
	uint32	   *places = take(place, nvalues * sizeof *places, MAXIMUM_ALIGNOF);
	char	   *bytes = take(place, emogi_property_values_bytes(scanned->different),
							 MAXIMUM_ALIGNOF);
	uint64	   *hashes = is_ordered ? NULL : take(place, nvalues * sizeof *hashes, MAXIMUM_ALIGNOF);
	uint32	   *order = is_ordered ? NULL : take(place, nvalues * sizeof *order, MAXIMUM_ALIGNOF);

	if (place->block == NULL)
		return;
	emogi_property_values_write(scanned->different, scanned->order, places, bytes);
	if (!is_ordered)
		emogi_property_values_hash(scanned->different, &scanned->identity, hashes);
	column->nvalues = nvalues;
	column->places = places;
	column->bytes = bytes;
	column->is_ordered = is_ordered;
	column->hashes = hashes;
	column->order = order;
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
	const bool	reverse = scan->backward.entries.lists != NULL;
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

		pg_atomic_init_u32(&column.order_state, EMOGI_ORDER_UNKNOWN);
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
		header.in_offsets = take(place, (lists->nvertices + 1) * sizeof(uint64),
								 EMOGI_LINE_BYTES);
		header.in_entries = take(place, lists->forward.nedges * sizeof(uint32), EMOGI_LINE_BYTES);
	}
	header.bytes = place->bytes;
	if (columns != NULL)
		*columns = header;
}

/* What the worker gets to fill in the values of columns, in one block of the arena. */
typedef struct Filling
{
	Size		bytes;
	uint32		count;			/* stored columns */
	EmogiRawProperty *raw_forward;	/* [count] */
	EmogiRawProperty *raw_backward; /* [count] */
	EmogiProperty *forward;		/* [count] */
	EmogiProperty *backward;	/* [count] */
	uint32	   *codes;			/* of all columns with an order */
} Filling;

/* Lay out the block of a filling. */
static void
begin_filling(EmogiCall *call, const EmogiPropertyScan *scan, Filling *filling)
{
	const Size	n = scan->ncolumns;
	Size		ncodes = 0;

	for (int i = 0; i < scan->ncolumns; i++)
		if (scan->columns[i].order != NULL)
			ncodes += emogi_property_values_count(scan->columns[i].different);
	filling->bytes = n * (2 * sizeof(EmogiRawProperty) + 2 * sizeof(EmogiProperty)) +
		ncodes * sizeof(uint32);
	filling->raw_forward = emogi_call_alloc_any(call, filling->bytes);
	filling->raw_backward = filling->raw_forward + n;
	filling->forward = (EmogiProperty *) (filling->raw_backward + n);
	filling->backward = filling->forward + n;
	filling->codes = (uint32 *) (filling->backward + n);
	filling->count = 0;
}

/* Get the values of a column by the entries of lists. */
static EmogiRawProperty
raw_property(const EmogiScannedColumn *column, const EmogiScannedLists *lists, int number,
			 const uint32 *codes)
{
	return (EmogiRawProperty) {.type = column->raw,.values = lists->values[number],
		.nulls = column->has_nulls ? lists->nulls[number] : NULL,.codes = codes};
}

/* Write the codes in the order of the type, by those of the scan; returns the end of them. */
static uint32 *
write_codes(const EmogiScannedColumn *column, uint32 *codes)
{
	const uint32 count = emogi_property_values_count(column->different);

	for (uint32 i = 0; i < count; i++)
		codes[column->order[i]] = i;
	return codes + count;
}

/*
 * Have the worker fill in the values of the stored columns: it gets copies of their descriptions,
 * without the others.
 */
static void
fill(EmogiCall *call, const EmogiPropertyScan *scan, EmogiColumns *columns)
{
	EmogiRequest *request = &call->slot->request;
	const bool	reverse = columns->backward.ncolumns > 0;
	Filling		filling;
	uint32	   *end;

	begin_filling(call, scan, &filling);
	end = filling.codes;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		const EmogiScannedColumn *column = &scan->columns[i];
		const uint32 *codes = column->order != NULL ? end : NULL;

		if (column->kind == EMOGI_COLUMN_ABSENT)
			continue;
		if (codes != NULL)
			end = write_codes(column, end);
		filling.raw_forward[filling.count] = raw_property(column, &scan->forward, i, codes);
		filling.forward[filling.count] = columns->forward.columns[i];
		if (reverse)
		{
			filling.raw_backward[filling.count] = raw_property(column, &scan->backward, i, codes);
			filling.backward[filling.count] = columns->backward.columns[i];
		}
		filling.count++;
	}
	request->kind = EMOGI_REQUEST_COLUMNS;
	request->graph = scan->graph;
	request->columns = (EmogiPropertyLoad) {.ncolumns = filling.count,
		.raw_forward = filling.raw_forward,.forward = filling.forward,
		.raw_backward = reverse ? filling.raw_backward : NULL,.backward = filling.backward,
		.in_offsets = (uint64_t *) columns->in_offsets,
		.in_entries = (uint32_t *) columns->in_entries};
	(void) emogi_call_request(call);
	filling.count = 0;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		if (scan->columns[i].kind == EMOGI_COLUMN_ABSENT)
			continue;
		((EmogiProperty *) columns->forward.columns)[i] = filling.forward[filling.count];
		if (reverse)
			((EmogiProperty *) columns->backward.columns)[i] = filling.backward[filling.count];
		filling.count++;
	}
	emogi_arena_free(filling.raw_forward, filling.bytes);
}

/*
 * Read the columns of a scan, and store them with the graph that the call has pinned. Raises 53200,
 * XX000, and errors of the comparison of values. On error, the caller releases the slot.
 */
static void
load(EmogiCall *call, EmogiPropertyScan *scan, List *leaves, const EmogiCacheLookup *lookup)
{
	EmogiSlot  *slot = call->slot;
	const double start_ms = emogi_pool_now_ms();
	Place		place = {0};
	Size		described_bytes;
	EmogiColumns *columns;

	emogi_call_phase(call, EMOGI_PHASE_SCAN);
	emogi_property_scan_run(call, scan, &emogi_cache_shared->graphs[slot->graph].graph, leaves);
	emogi_call_phase(call, EMOGI_PHASE_CSR);
	lay_out(&place, scan, lookup, slot->graph, &described_bytes);
	place = (Place) {emogi_call_alloc(call, place.bytes)};
	emogi_property_scan_populate(place.block, described_bytes);
	lay_out(&place, scan, lookup, slot->graph, &described_bytes);
	columns = (EmogiColumns *) place.block;
	fill(call, scan, columns);
	emogi_property_scan_free(scan);
	emogi_cache_lock();
	columns->may_share = rings_allow(&emogi_cache_shared->graphs[slot->graph], lookup);
	emogi_cache_unlock();
	columns->load_ms = emogi_pool_now_ms() - start_ms;
	call->record.columns_ms += columns->load_ms;
	emogi_columns_cost_record_load(scan->relid, have_values(slot->columns, lookup) ? NULL :
								   slot->columns);
	emogi_cache_columns_set(slot, columns);
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
}

/* Describe the scan that loads the columns that a call needs. */
static void
describe_scan(EmogiCall *call, const EmogiSource *source, const EmogiCacheLookup *lookup,
			  const EmogiNeededColumns *needed, EmogiPropertyScan *scan)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];

	memset(scan, 0, sizeof *scan);
	scan->relid = source->relid;
	scan->src = source->src;
	scan->dst = source->dst;
	scan->weight = cached->graph.weight_type != EMOGI_WEIGHT_NONE ? cached->key.weight : 0;
	scan->key = source->key;
	scan->graph = cached->graph;
	scan->direction = cached->key.direction;
	choose_columns(source, needed, call->slot->columns, lookup, scan);
}

/*
 * Check whether columns of the graph that a call has pinned can be loaded such that other calls can
 * use them: the rings allow the call's snapshot, and the weights that tell parallel edges apart are
 * still a column of the table.
 */
static bool
can_be_shared(const EmogiSlot *slot, Oid relid, const EmogiCacheLookup *lookup)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[slot->graph];
	HeapTuple	weight;
	bool		allowed;

	emogi_cache_lock();
	allowed = rings_allow(cached, lookup);
	emogi_cache_unlock();
	if (!allowed || cached->graph.weight_type == EMOGI_WEIGHT_NONE)
		return allowed;
	weight = SearchSysCacheAttNum(relid, cached->key.weight);
	if (!HeapTupleIsValid(weight))
		return false;
	ReleaseSysCache(weight);
	return true;
}

/*
 * Have a call read columns of the graph that it has pinned, which is exact for the lookup's
 * snapshot, the active one. source: the table, without conditions; leaves: its heaps, locked.
 * Return false, with nothing read, if the columns must be loaded and loads is false, another call
 * is loading some (*is_busy), or they cannot be loaded for other calls. Raises 53200, XX000, and
 * errors of the comparison of values. On error, the caller releases the slot.
 */
bool
emogi_columns_get(EmogiCall *call, const EmogiSource *source, List *leaves,
				  const EmogiCacheLookup *lookup, const EmogiNeededColumns *needed, bool loads,
				  bool *is_busy)
{
	EmogiSlot  *slot = call->slot;
	const Need	need = {lookup, needed};
	EmogiPropertyScan scan;

	*is_busy = false;
	switch (emogi_cache_columns_begin(slot, loads, fit, &need))
	{
		case EMOGI_COLUMNS_FOUND:
			return true;
		case EMOGI_COLUMNS_BUSY:
			*is_busy = true;
			return false;
		case EMOGI_COLUMNS_LOAD:
			break;
	}
	if (loads && !is_absent(slot->columns, lookup, needed) &&
		can_be_shared(slot, source->relid, lookup))
	{
		describe_scan(call, source, lookup, needed, &scan);
		if (may_fit(&scan))
		{
			load(call, &scan, leaves, lookup);
			return true;
		}
	}
	emogi_cache_columns_release(slot);
	return false;
}
