/*
 * pair_query.c: pairs of vertices read from a query.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
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

/* Pairs read so far. */
typedef struct Pairs
{
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;	/* NULL = no changes */
	EmogiKeyIO  *form;
	MemoryContext context;		/* context of `numbers` */
	uint32	   *numbers;		/* [room][2] */
	uint64		count;
	uint64		room;
} Pairs;

/*
 * Return the vertex number of a column's value; EMOGI_NO_VERTEX for NULL and for a vertex that is
 * not in the graph.
 */
static uint32
read_vertex(const Pairs *pairs, HeapTuple row, TupleDesc desc, int column)
{
	bool		is_null;
	Datum		key = SPI_getbinval(row, desc, column, &is_null);
	int64		code;

	if (is_null || emogi_key_coder_has_null(&pairs->form->coder, key))
		return EMOGI_NO_VERTEX;
	code = emogi_key_io_find(pairs->form, pairs->graph, key);
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

/* Ensure room for `more` pairs. Raises 54000 if there are too many. */
static void
make_room(Pairs *pairs, uint64 more)
{
	const uint64 room = Max(Min(2 * pairs->room, emogi_pair_query_max()), pairs->count + more);

	if (pairs->count + more <= pairs->room)
		return;
	if (pairs->count + more > emogi_pair_query_max())
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the query returns more than %llu pairs",
						(unsigned long long) emogi_pair_query_max()),
				 errhint("Request fewer pairs at a time, or raise the lowest of emogi.max_memory, "
						 "emogi.session_memory and emogi.role_memory.")));
	if (pairs->numbers == NULL)
		pairs->numbers = MemoryContextAllocHuge(pairs->context, room * 2 * sizeof(uint32));
	else
		pairs->numbers = repalloc_huge(pairs->numbers, room * 2 * sizeof(uint32));
	pairs->room = room;
}

/* Append the rows that SPI has just fetched, if both vertices are in the graph. */
static void
take_rows(Pairs *pairs)
{
	MemoryContext old = MemoryContextSwitchTo(SPI_tuptable->tuptabcxt);

	make_room(pairs, SPI_processed);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		const uint32 v = read_vertex(pairs, row, SPI_tuptable->tupdesc, 1);
		const uint32 w = v == EMOGI_NO_VERTEX ? v :
			read_vertex(pairs, row, SPI_tuptable->tupdesc, 2);

		if (w == EMOGI_NO_VERTEX)
			continue;
		pairs->numbers[2 * pairs->count] = v;
		pairs->numbers[2 * pairs->count++ + 1] = w;
	}
	MemoryContextSwitchTo(old);
}

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
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	(void) check_query(query, key);
	emogi_snapshot_prepare(query);
	SPI_finish();
}

/*
 * Read the pairs that a query returns, run as the caller under the caller's snapshot: [*npairs][2]
 * vertex numbers, palloc'd, in its order. Rows with a NULL or with a vertex that is not in the
 * graph are skipped. overlay: changes since the graph was built, NULL = none. Raises 42601, 42804
 * and the errors of the query.
 */
uint32 *
emogi_pair_query_read(const EmogiGraph *graph, const EmogiOverlay *overlay, EmogiKeyIO *form,
					  const char *query, uint64 *npairs)
{
	Pairs		pairs = {.graph = graph, .overlay = overlay, .form = form,
						 .context = CurrentMemoryContext};
	const EmogiKeyType *key = &form->coder.key;
	const char *cast = "";
	StringInfoData sql;
	EmogiPreparedQuery reading;
	Portal		portal;
	int			length;

	make_room(&pairs, 1);
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
		take_rows(&pairs);
		SPI_freetuptable(SPI_tuptable);
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
	emogi_snapshot_check(&reading);
	PopActiveSnapshot();
	SPI_finish();
	*npairs = pairs.count;
	return pairs.numbers;
}

/*
 * Return the keys of the vertices of pairs, [npairs][2], for emogi_pair_query_renumber to look up
 * in another graph.
 */
Datum *
emogi_pair_query_keys(const EmogiGraph *graph, const EmogiOverlay *overlay, EmogiKeyIO *form,
					  const uint32 *numbers, uint64 npairs)
{
	const EmogiKeyType *key = &form->coder.key;
	Datum	   *keys = palloc_extended(Max(2 * npairs, 1) * sizeof *keys, MCXT_ALLOC_HUGE);
	int16		length;
	bool		by_value;

	get_typlenbyval(key->type, &length, &by_value);
	for (uint64 i = 0; i < 2 * npairs; i++)
	{
		const int64 code = emogi_overlay_key(graph, overlay, numbers[i]);

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
						  uint64 npairs, uint32 *numbers)
{
	uint64		count = 0;

	for (uint64 i = 0; i < npairs; i++)
	{
		const uint32 v = emogi_graph_vertex(graph, emogi_key_io_find(form, graph, keys[2 * i]));
		const uint32 w = emogi_graph_vertex(graph, emogi_key_io_find(form, graph, keys[2 * i + 1]));

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (v == EMOGI_NO_VERTEX || w == EMOGI_NO_VERTEX)
			continue;
		numbers[2 * count] = v;
		numbers[2 * count++ + 1] = w;
	}
	return count;
}
