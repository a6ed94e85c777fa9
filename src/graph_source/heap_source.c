/*
 * heap_source.c: graphs of tables, partitioned ones and those with children too, whose pages are
 * read here
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"

#include "base/arena.h"
#include "graph_source/graph_source.h"

/*
 * Reject a graph without reading it if its edges alone are estimated at this multiple of the
 * budget.
 */
#define EMOGI_EXCESS_FACTOR 8.0

/* Recognize a relation all of whose rows are in heaps. */
static bool
takes_relation(EmogiGraphSource *source, List *relids)
{
	return emogi_heap_scan_list(source->source, relids, &source->tables);
}

/* Estimate the rows of the heaps, as the planner does. */
static double
estimate_rows(const EmogiGraphSource *source)
{
	double		rows = 0;
	ListCell   *cell;

	foreach(cell, source->tables)
	{
		Relation	rel = table_open(lfirst_oid(cell), NoLock);
		BlockNumber pages;
		double		tuples;
		double		visible;

		table_relation_estimate_size(rel, NULL, &pages, &tuples, &visible);
		rows += tuples;
		table_close(rel, NoLock);
	}
	return rows;
}

/*
 * Set the expected number of rows of a scan, and reject a hopeless one: its edges are estimated by
 * the planner at several times the allowed memory. Smaller excesses are found by trying.
 */
static void
announce_scan(EmogiCall *call, const EmogiGraphSource *rows)
{
	const EmogiSource *source = rows->source;
	double		nrows = estimate_rows(rows);
	double		bytes = nrows * (source->reverse > 0 ? 2 : 1) *
		(source->weight > 0 ? sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge));
	double		allowed = (double) emogi_arena_budget_bytes();

	call->slot->control.done = 0;
	call->slot->control.total = (uint64) Max(nrows, 0);
	if (bytes > EMOGI_EXCESS_FACTOR * allowed && source->filter == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("emogi.max_memory is too small for this graph"),
				 errdetail("About %.0f bytes are needed for some %.0f edges alone; "
						   "emogi.max_memory allows %.0f.",
						   bytes, nrows, allowed),
				 errhint("Raise emogi.max_memory (%dMB now) and restart the server, "
						 "or select fewer edges. If the table has far fewer rows, ANALYZE it.",
						 emogi_max_memory_mb)));
}

/* Read the heaps. A relation without any has no edges. */
static void
scan(EmogiCall *call, EmogiGraphSource *source, EmogiWeights weights, bool careful,
	 const struct EmogiPageScans *notes)
{
	if (source->tables == NIL)
		return;
	announce_scan(call, source);
	emogi_heap_scan_tables(call, source->source, source->tables, weights, careful, notes);
}

static const EmogiSource *
indexed(const EmogiGraphSource *source)
{
	return source->source;
}

const EmogiGraphSourceKind emogi_graph_source_heaps = {
	.name = "heap",
	.takes_relation = takes_relation,
	.scan = scan,
	.indexed = indexed,
	.estimate_rows = estimate_rows,
	.is_of_tables = true
};

/* Get the source of a relation, perhaps a filtered one, whose rows are in these heaps, locked. */
EmogiGraphSource
emogi_graph_source_of_heaps(const EmogiSource *resolved, List *tables)
{
	return (EmogiGraphSource) {.kind = &emogi_graph_source_heaps,.source = resolved,
							   .tables = tables};
}
