/*
 * pages.c: read the edges of one heap table, page by page rather than tuple by tuple.
 *
 * The tuples that the snapshot sees (visibility.c) are decoded while the page is pinned but not
 * locked, because decoding can raise an error and allocate memory in the arena. The pin keeps the
 * tuples in place. pages_decode.c decodes them.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "edges/edges.h"
#include "edges/pages.h"
#include "edges/row_filter.h"
#include "edges/visibility.h"
#include "base/compat.h"

/* Number of pages to prefetch. */
#define PREFETCH_PAGES 16

/* A scan of the pages of a table. */
typedef struct PageReader
{
	Relation	rel;
	Snapshot	snapshot;
	const EmogiTupleLayout *layout;
	EmogiPutPage put;
	EmogiSink  *sink;
	EmogiRowFilter *filter;		/* NULL = all rows are edges */
	MemoryContext scrap;
} PageReader;

static PageReader
open_reader(Relation rel, Snapshot snapshot, const EmogiTupleLayout *layout,
			const EmogiRowFilterPlan *filter, EmogiSink *sink)
{
	return (PageReader) {rel, snapshot, layout, emogi_pages_choose_put(layout, sink), sink,
						 emogi_row_filter_open(filter, rel),
		AllocSetContextCreate(CurrentMemoryContext, "emogi pages", ALLOCSET_SMALL_SIZES)};
}

static void
close_reader(const PageReader *reader)
{
	emogi_row_filter_close(reader->filter);
	MemoryContextDelete(reader->scrap);
}

/* Put the edges of a page, which is pinned, into the sink. page_scan: filled in, unless NULL. */
static void
read_page(const PageReader *reader, Buffer buffer, EmogiPageScan *page_scan)
{
	EmogiSink  *sink = reader->sink;
	uint64		nskipped = sink->nskipped;
	uint64		nedges = sink->nedges;
	EmogiVisiblePage	visible;
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	emogi_visibility_page(&visible, reader->rel, reader->snapshot, buffer, page_scan);
	emogi_compat_count_returned(reader->rel, visible.nitems);
	if (reader->filter != NULL)
		emogi_row_filter_page(reader->filter, &visible, buffer);
	if (page_scan != NULL)
		page_scan->edges = emogi_sink_reserve(sink,
											  (reader->layout->reverse.attnum > 0 ? 2 : 1) *
											  visible.nitems);
	old = MemoryContextSwitchTo(reader->scrap);
	reader->put(&visible, RelationGetDescr(reader->rel), reader->layout, sink);
	MemoryContextSwitchTo(old);
	MemoryContextReset(reader->scrap);
	if (page_scan == NULL)
		return;
	page_scan->nedges = (uint16) (sink->nedges - nedges);
	page_scan->nskipped = (uint16) (sink->nskipped - nskipped);
}

/*
 * Put all edges that a parallel scan returns to this process into a sink, and record its page scans
 * if requested. Raises 22004 for a NULL weight, and the errors of the sink.
 */
void
emogi_pages_read(TableScanDesc scan, const EmogiTupleLayout *layout,
				 const EmogiRowFilterPlan *filter, EmogiSink *sink,
				 const EmogiPageScans *page_scans)
{
	PageReader		reader = open_reader(scan->rs_rd, scan->rs_snapshot, layout, filter, sink);
	Buffer		buffer;

	while ((buffer = emogi_compat_next_page((HeapScanDesc) scan)) != InvalidBuffer)
	{
		BlockNumber block = BufferGetBlockNumber(buffer);

		read_page(&reader, buffer,
				  page_scans->scans != NULL && block < page_scans->nblocks ?
				  &page_scans->scans[block] : NULL);
		ReleaseBuffer(buffer);
	}
	close_reader(&reader);
}

/*
 * Put the edges of some pages of a table, as the active snapshot sees them, into a sink; scans[i]
 * is for blocks[i]. Raises the same.
 */
void
emogi_pages_rescan(Relation rel, const EmogiTupleLayout *layout, const EmogiRowFilterPlan *filter,
				   EmogiSink *sink, const BlockNumber *blocks, EmogiPageScan *scans, uint64 count)
{
	PageReader		reader = open_reader(rel, GetActiveSnapshot(), layout, filter, sink);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);

	for (uint64 i = 0; i < count; i++)
	{
		Buffer		buffer;

		if (i + PREFETCH_PAGES < count)
			PrefetchBuffer(rel, MAIN_FORKNUM, blocks[i + PREFETCH_PAGES]);
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, blocks[i], RBM_NORMAL, strategy);
		read_page(&reader, buffer, &scans[i]);
		ReleaseBuffer(buffer);
	}
	FreeAccessStrategy(strategy);
	close_reader(&reader);
}
