/*
 * pair_query.c: pairs of vertices read from a query, or from a list of integers (pair_values.c)
 */
#include "postgres.h"

#include "executor/spi.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "function/function.h"
#include "base/limits.h"

/* Memory per pair, in bytes. */
#define PAIR_BYTES 16

/* Rows fetched at a time. */
#define FETCH_ROWS 10000

/* Pairs read so far: as keys, or as numbers of vertices of a graph. */
typedef struct Pairs
{
	const EmogiGraph *graph;	/* NULL = keys are read */
	const EmogiOverlay *overlay;	/* NULL = no changes */
	EmogiKeyIO  *form;
	MemoryContext context;		/* of the arrays */
	EmogiVertexPair *items;		/* [room] */
	Datum	   *keys;			/* [room][2] */
	uint64		count;
	uint64		room;
} Pairs;

/*
 * Return the vertex number of a key; EMOGI_NO_VERTEX, with a notice, if it is not in the graph.
 */
static uint32
find_vertex(const Pairs *pairs, Datum key)
{
	const int64 code = emogi_key_io_find(pairs->form, pairs->graph, key);

	if (emogi_local_search_has_vertex(pairs->graph, pairs->overlay, code))
		return emogi_overlay_vertex(pairs->graph, pairs->overlay, code);
	emogi_vertices_notice_missing("vertex", pairs->form, key);
	return EMOGI_NO_VERTEX;
}

/*
 * Return the max number of pairs. They may use half of the backend's memory; their results use the
 * rest.
 */
uint64
emogi_pair_query_max(void)
{
	return Min(emogi_limits_backend_bytes() / 2, MaxAllocHugeSize) / PAIR_BYTES;
}

/* Allocate or enlarge an array of pairs. */
static void *
enlarge(const Pairs *pairs, void *array, uint64 room, Size element)
{
	return array == NULL ? MemoryContextAllocHuge(pairs->context, room * element) :
		repalloc_huge(array, room * element);
}

/* Ensure room for `more` pairs. Raises 54000 if there are too many. */
static void
make_room(Pairs *pairs, uint64 more)
{
	uint64		room;

	if (pairs->count + more <= pairs->room)
		return;
	if (pairs->count + more > emogi_pair_query_max())
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the query returns more than %llu pairs",
						(unsigned long long) emogi_pair_query_max()),
				 errhint("Request fewer pairs at a time, or raise the lowest of emogi.max_memory, "
						 "emogi.session_memory and emogi.role_memory.")));
	room = Max(Min(2 * pairs->room, emogi_pair_query_max()), pairs->count + more);
	if (pairs->graph != NULL)
		pairs->items = enlarge(pairs, pairs->items, room, sizeof *pairs->items);
	else
		pairs->keys = enlarge(pairs, pairs->keys, room, 2 * sizeof *pairs->keys);
	pairs->room = room;
}

/* Append a pair, if both vertices are in the graph. */
static void
add_numbers(Pairs *pairs, Datum from, Datum to)
{
	const uint32 v = find_vertex(pairs, from);
	const uint32 w = v == EMOGI_NO_VERTEX ? v : find_vertex(pairs, to);

	if (w != EMOGI_NO_VERTEX)
		pairs->items[pairs->count++] = (EmogiVertexPair) {v, w};
}

/* Append copies of two keys. */
static void
add_keys(Pairs *pairs, Datum from, Datum to)
{
	MemoryContext old = MemoryContextSwitchTo(pairs->context);
	int16		length;
	bool		by_value;

	get_typlenbyval(pairs->form->coder.key.type, &length, &by_value);
	pairs->keys[2 * pairs->count] = datumCopy(from, by_value, length);
	pairs->keys[2 * pairs->count++ + 1] = datumCopy(to, by_value, length);
	MemoryContextSwitchTo(old);
}

/* Append the rows that SPI has just fetched. A row with a NULL is no pair. */
static void
take_rows(Pairs *pairs)
{
	MemoryContext old = MemoryContextSwitchTo(SPI_tuptable->tuptabcxt);

	make_room(pairs, SPI_processed);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Datum		keys[2];
		bool		is_null = false;

		for (int end = 0; end < 2 && !is_null; end++)
		{
			keys[end] = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, end + 1,
									  &is_null);
			is_null = is_null || emogi_key_coder_has_null(&pairs->form->coder, keys[end]);
		}
		if (!is_null)
			(pairs->graph != NULL ? add_numbers : add_keys) (pairs, keys[0], keys[1]);
	}
	MemoryContextSwitchTo(old);
}

/* ---- lists of integers ---- */

/* Append a pair of a list; an EmogiTakePair. */
static void
take_pair(void *pairs, int64 from, int64 to)
{
	Pairs	   *all = pairs;

	make_room(all, 1);
	(all->graph != NULL ? add_numbers : add_keys) (all, Int64GetDatum(from), Int64GetDatum(to));
}

/* Return true if query text is a list of integers, like the vertices of the graph. */
static bool
is_list(const char *query, const EmogiKeyType *key)
{
	return OidIsValid(key->type) && key->class == EMOGI_KEY_INTEGER &&
		emogi_pair_values_read(query, NULL, NULL);
}

/* ---- queries ---- */

/*
 * Check, inside SPI, that query text is one SELECT of two vertices; return its length without the
 * semicolon.
 */
static int
check_query(const char *query, const EmogiKeyType *key)
{
	TupleDesc	desc;
	const int	length = emogi_query_describe_two(query, EMOGI_PAIRS_QUERY,
												  "SELECT vertex1, vertex2 FROM ...", &desc);

	emogi_start_values_check_vertex(desc, 0, key);
	emogi_start_values_check_vertex(desc, 1, key);
	return length;
}

/*
 * Raise the errors of emogi_pair_query_read for an invalid query, without running it. key: key type
 * of the graph, which may be unknown.
 */
void
emogi_pair_query_check(const char *query, const EmogiKeyType *key)
{
	if (is_list(query, key))
		return;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	(void) check_query(query, key);
	emogi_snapshot_prepare(query);
	SPI_finish();
}

/*
 * Read the pairs that a query returns, run as the caller under the caller's snapshot, in its order.
 * Raises 42601, 42804 and the errors of the query.
 */
static void
run_query(Pairs *pairs, const char *query)
{
	const EmogiKeyType *key = &pairs->form->coder.key;
	const char *cast = "";
	StringInfoData sql;
	EmogiPreparedQuery reading;
	Portal		portal;
	int			length;

	if (is_list(query, key))
	{
		(void) emogi_pair_values_read(query, take_pair, pairs);
		return;
	}
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	length = check_query(query, key);
	if (key->nparts == 0)
		cast = psprintf("::%s",
						format_type_extended(key->type, -1,
											 FORMAT_TYPE_TYPEMOD_GIVEN |
											 FORMAT_TYPE_FORCE_QUALIFY));
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT q.v%s, q.w%s FROM (", cast, cast);
	appendBinaryStringInfo(&sql, query, length);
	appendStringInfoString(&sql, "\n) AS q(v, w)");
	reading = emogi_snapshot_open(sql.data, 0, NULL, 0);
	portal = SPI_cursor_open(NULL, reading.plan, NULL, NULL, true);
	do
	{
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		take_rows(pairs);
		SPI_freetuptable(SPI_tuptable);
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
	emogi_snapshot_check(&reading);
	PopActiveSnapshot();
	SPI_finish();
}

/*
 * Read the keys of a task's pairs, before there is a graph: emogi_pair_query_read looks them up and
 * does not run the query again. Raises the errors of run_query.
 */
void
emogi_pair_query_read_keys(EmogiTask *task)
{
	Pairs		pairs = {.form = task->form,.context = CurrentMemoryContext};

	make_room(&pairs, 1);
	run_query(&pairs, task->pairs);
	task->pair_keys = pairs.keys;
	task->npair_keys = pairs.count;
}

/*
 * Read the pairs that a task's query returns: [*npairs], palloc'd, in its order. Rows with a NULL or with a vertex that is not in the graph are skipped. overlay: changes since
 * the graph was built, NULL = none. Raises the errors of run_query.
 */
EmogiVertexPair *
emogi_pair_query_read(const EmogiGraph *graph, const EmogiOverlay *overlay, const EmogiTask *task,
					  uint64 *npairs)
{
	Pairs		pairs = {.graph = graph,.overlay = overlay,.form = task->form,
						 .context = CurrentMemoryContext};

	make_room(&pairs, Max(task->npair_keys, 1));
	if (task->pair_keys == NULL)
		run_query(&pairs, task->pairs);
	for (uint64 i = 0; i < task->npair_keys; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_numbers(&pairs, task->pair_keys[2 * i], task->pair_keys[2 * i + 1]);
	}
	*npairs = pairs.count;
	return pairs.items;
}

/* ---- order ---- */

/* Compare pairs by vertex numbers. */
static int
compare_pairs(const void *a, const void *b)
{
	const EmogiVertexPair *x = a;
	const EmogiVertexPair *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Compare pairs of a graph with an overlay by the keys of their vertices; arg: Pairs. */
static int
compare_pairs_with_overlay(const void *a, const void *b, void *arg)
{
	const Pairs *pairs = arg;
	const EmogiVertexPair *x = a;
	const EmogiVertexPair *y = b;

	if (x->from != y->from)
		return emogi_overlay_before(pairs->graph, pairs->overlay, x->from, y->from) ? -1 : 1;
	if (x->to != y->to)
		return emogi_overlay_before(pairs->graph, pairs->overlay, x->to, y->to) ? -1 : 1;
	return 0;
}

/* Sort pairs in ascending order of keys, and drop duplicates; return how many are left. */
uint64
emogi_pair_query_sort(const EmogiGraph *graph, const EmogiOverlay *overlay, EmogiVertexPair *pairs,
					  uint64 npairs)
{
	Pairs		sorting = {.graph = graph,.overlay = overlay};

	if (overlay != NULL)
		qsort_arg(pairs, npairs, sizeof *pairs, compare_pairs_with_overlay, &sorting);
	else
		qsort(pairs, npairs, sizeof *pairs, compare_pairs);
	return qunique(pairs, npairs, sizeof *pairs, compare_pairs);
}

/* ---- keys ---- */

/*
 * Return the keys of the vertices of pairs, [npairs][2], for emogi_pair_query_renumber to look up
 * in another graph.
 */
Datum *
emogi_pair_query_keys(const EmogiGraph *graph, const EmogiOverlay *overlay, EmogiKeyIO *form,
					  const EmogiVertexPair *pairs, uint64 npairs)
{
	const EmogiKeyType *key = &form->coder.key;
	Datum	   *keys = palloc_extended(Max(2 * npairs, 1) * sizeof *keys, MCXT_ALLOC_HUGE);
	int16		length;
	bool		by_value;

	get_typlenbyval(key->type, &length, &by_value);
	for (uint64 i = 0; i < 2 * npairs; i++)
	{
		const EmogiVertexPair *pair = &pairs[i / 2];
		const int64 code = emogi_overlay_key(graph, overlay, i % 2 == 0 ? pair->from : pair->to);

		keys[i] = key->class == EMOGI_KEY_INTEGER ? Int64GetDatum(code) :
			datumCopy(emogi_key_io_key(form, graph, code), by_value, length);
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return keys;
}

/*
 * Renumber the vertices of pairs by looking up their keys in a graph. Pairs with a vertex that is
 * not in the graph are removed; return how many are left.
 */
uint64
emogi_pair_query_renumber(const EmogiGraph *graph, EmogiKeyIO *form, const Datum *keys,
						  uint64 npairs, EmogiVertexPair *pairs)
{
	uint64		count = 0;

	for (uint64 i = 0; i < npairs; i++)
	{
		const uint32 v = emogi_graph_vertex(graph, emogi_key_io_find(form, graph, keys[2 * i]));
		const uint32 w = emogi_graph_vertex(graph, emogi_key_io_find(form, graph, keys[2 * i + 1]));

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (v != EMOGI_NO_VERTEX && w != EMOGI_NO_VERTEX)
			pairs[count++] = (EmogiVertexPair) {v, w};
	}
	return count;
}
