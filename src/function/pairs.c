/*
 * pairs.c: pairs of vertices, from a query that returns them.
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

/* What is noted of a pair. */
#define PAIR_BYTES 16

/* Rows fetched at a time. */
#define FETCH_ROWS 10000

/* Pairs that have been read. */
typedef struct Pairs
{
	const EmogiGraph *graph;
	const EmogiOverlay *patch;	/* NULL = nothing has changed */
	EmogiForm  *form;
	MemoryContext context;		/* of numbers */
	uint32	   *numbers;		/* [room][2] */
	uint64		count;
	uint64		room;
} Pairs;

/* Find the number of the vertex in a column; EMOGI_NO_VERTEX for NULL and for what is no vertex of the graph. */
static uint32
number_of(const Pairs *pairs, HeapTuple row, TupleDesc desc, int column)
{
	bool		is_null;
	Datum		key = SPI_getbinval(row, desc, column, &is_null);
	int64		code;

	if (is_null || emogi_key_coder_has_null(&pairs->form->coder, key))
		return EMOGI_NO_VERTEX;
	code = emogi_form_find(pairs->form, pairs->graph, key);
	if (emogi_local_search_has_vertex(pairs->graph, pairs->patch, code))
		return emogi_overlay_vertex(pairs->graph, pairs->patch, code);
	emogi_vertices_notice_missing("vertex", pairs->form, key);
	return EMOGI_NO_VERTEX;
}

/* Get how many pairs there may be: the other half is for what is found of them. */
uint64
emogi_pairs_most(void)
{
	return Min(emogi_limits_backend_bytes() / 2, MaxAllocHugeSize) / PAIR_BYTES;
}

/* Make room for so many more. Raises 54000 for too many. */
static void
make_room(Pairs *pairs, uint64 more)
{
	const uint64 room = Max(Min(2 * pairs->room, emogi_pairs_most()), pairs->count + more);

	if (pairs->count + more <= pairs->room)
		return;
	if (pairs->count + more > emogi_pairs_most())
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the query returns more than %llu pairs", (unsigned long long) emogi_pairs_most()),
				 errhint("Ask for fewer pairs at a time, or raise emogi.max_memory, emogi.session_memory or emogi.role_memory, whichever allows least.")));
	if (pairs->numbers == NULL)
		pairs->numbers = MemoryContextAllocHuge(pairs->context, room * 2 * sizeof(uint32));
	else
		pairs->numbers = repalloc_huge(pairs->numbers, room * 2 * sizeof(uint32));
	pairs->room = room;
}

/* Take over the rows that SPI has just fetched: those of two vertices of the graph. */
static void
take_rows(Pairs *pairs)
{
	MemoryContext old = MemoryContextSwitchTo(SPI_tuptable->tuptabcxt);

	make_room(pairs, SPI_processed);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		const uint32 v = number_of(pairs, row, SPI_tuptable->tupdesc, 1);
		const uint32 w = v == EMOGI_NO_VERTEX ? v : number_of(pairs, row, SPI_tuptable->tupdesc, 2);

		if (w == EMOGI_NO_VERTEX)
			continue;
		pairs->numbers[2 * pairs->count] = v;
		pairs->numbers[2 * pairs->count++ + 1] = w;
	}
	MemoryContextSwitchTo(old);
}

/* See that query text is one SELECT of two vertices, inside SPI; get its length without a semicolon. */
static int
check_query(const char *query, const EmogiKeyType *key)
{
	TupleDesc	desc;
	const int	length = emogi_query_describe_two(query, EMOGI_PAIRS_QUERY, "SELECT vertex1, vertex2 FROM ...", &desc);

	emogi_values_check_vertex(desc, 0, key);
	emogi_values_check_vertex(desc, 1, key);
	return length;
}

/* Raise the error that emogi_pairs_query would raise for the form of a query; does not run it. key: of the Graph, or not known. */
void
emogi_pairs_check(const char *query, const EmogiKeyType *key)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	(void) check_query(query, key);
	emogi_snapshot_prepare(query);
	SPI_finish();
}

/*
 * Read the pairs that a query returns, run as the caller under the caller's snapshot: [*npairs][2] vertex numbers, palloc'd, in its order.
 * Rows with a NULL, or with what is no vertex of the graph, are passed over. patch: what has changed in that, NULL = nothing. Raises 42601, 42804 and whatever the query raises.
 */
uint32 *
emogi_pairs_query(const EmogiGraph *graph, const EmogiOverlay *patch, EmogiForm *form, const char *query, uint64 *npairs)
{
	Pairs		pairs = {.graph = graph, .patch = patch, .form = form, .context = CurrentMemoryContext};
	const EmogiKeyType *key = &form->coder.key;
	const char *cast = "";
	StringInfoData sql;
	EmogiReading reading;
	Portal		portal;
	int			length;

	make_room(&pairs, 1);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	length = check_query(query, key);
	if (key->nparts == 0)
		cast = psprintf("::%s", format_type_extended(key->type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
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

/* Get the keys of the vertices of pairs, [npairs][2], as emogi_pairs_renumber takes them: with another Graph they are found again. */
Datum *
emogi_pairs_keys(const EmogiGraph *graph, const EmogiOverlay *patch, EmogiForm *form, const uint32 *numbers, uint64 npairs)
{
	const EmogiKeyType *key = &form->coder.key;
	Datum	   *keys = palloc_extended(Max(2 * npairs, 1) * sizeof *keys, MCXT_ALLOC_HUGE);
	int16		length;
	bool		by_value;

	get_typlenbyval(key->type, &length, &by_value);
	for (uint64 i = 0; i < 2 * npairs; i++)
	{
		const int64 code = emogi_overlay_key(graph, patch, numbers[i]);

		keys[i] = key->class == EMOGI_KEY_INTEGER ? Int64GetDatum(code) : datumCopy(emogi_form_key(form, graph, code), by_value, length);
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return keys;
}

/* Number the vertices of pairs anew, by their keys. Those that the Graph does not have go; get how many are left. */
uint64
emogi_pairs_renumber(const EmogiGraph *graph, EmogiForm *form, const Datum *keys, uint64 npairs, uint32 *numbers)
{
	uint64		count = 0;

	for (uint64 i = 0; i < npairs; i++)
	{
		const uint32 v = emogi_graph_vertex(graph, emogi_form_find(form, graph, keys[2 * i]));
		const uint32 w = emogi_graph_vertex(graph, emogi_form_find(form, graph, keys[2 * i + 1]));

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (v == EMOGI_NO_VERTEX || w == EMOGI_NO_VERTEX)
			continue;
		numbers[2 * count] = v;
		numbers[2 * count++ + 1] = w;
	}
	return count;
}
