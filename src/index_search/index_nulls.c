/*
 * index_nulls.c: proof that a btree index has no entry for NULL in its first column.
 *
 * Then no snapshot that may use the index sees a row with NULL there. An index that sorts NULL last
 * has such entries at the end of its last leaf page, or none. A session remembers the number of
 * that page, which is only a hint: whether it still is the last leaf is read from the page itself,
 * under the same lock as its last entry. Entries of rows that no snapshot sees only prevent the
 * proof.
 *
 * A serializable transaction needs no predicate lock on the page, because a new row with NULL is no
 * edge. It does not look for the page, because the scan would lock it, and conflict with every
 * writer of new keys.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "index_search/index_search_read.h"

/* Indexes whose last leaf a session remembers */
#define MAX_INDEXES 64

/* Places in the table of hints where one for an index may be */
#define MAX_PROBES 4

typedef struct LastLeaf
{
	Oid			index;			/* InvalidOid = unused */
	BlockNumber block;
} LastLeaf;

static LastLeaf last_leaves[MAX_INDEXES];

/* Find the place of an index's hint, perhaps that of another index. */
static LastLeaf *
find_hint(Oid index)
{
	for (uint32 i = 0; i < MAX_PROBES; i++)
		if (last_leaves[(index + i) % MAX_INDEXES].index == index)
			return &last_leaves[(index + i) % MAX_INDEXES];
	for (uint32 i = 0; i < MAX_PROBES; i++)
		if (!OidIsValid(last_leaves[(index + i) % MAX_INDEXES].index))
			return &last_leaves[(index + i) % MAX_INDEXES];
	return &last_leaves[index % MAX_INDEXES];
}

/*
 * Does a page, which is locked, show that its index has no NULL: is it the last leaf, and its last
 * entry not NULL? *is_last: whether it is the last leaf.
 */
static bool
shows_no_null(Relation index, Page page, bool *is_last)
{
	const BTPageOpaque opaque = (BTPageOpaque) PageGetSpecialPointer(page);
	const OffsetNumber last = PageGetMaxOffsetNumber(page);
	bool		is_null;

	*is_last = P_ISLEAF(opaque) && P_RIGHTMOST(opaque) && !P_IGNORE(opaque);
	if (!*is_last || last < P_FIRSTDATAKEY(opaque))
		return false;
	(void) index_getattr((IndexTuple) PageGetItem(page, PageGetItemId(page, last)), 1,
						 RelationGetDescr(index), &is_null);
	return !is_null;
}

/* Does a page of an index show that the index has no NULL? *is_last: likewise. */
static bool
read_page(Relation index, BlockNumber block, bool *is_last)
{
	Buffer		buffer;
	Page		page;
	bool		shows;

	*is_last = false;
	if (block == BTREE_METAPAGE || block >= RelationGetNumberOfBlocks(index))
		return false;
	buffer = ReadBuffer(index, block);
	LockBuffer(buffer, BT_READ);
	page = BufferGetPage(buffer);
	shows = !PageIsNew(page) &&
		PageGetSpecialSize(page) == MAXALIGN(sizeof(BTPageOpaqueData)) &&
		shows_no_null(index, page, is_last);
	UnlockReleaseBuffer(buffer);
	return shows;
}

/* Find the last leaf page of an index: that of its last entry. InvalidBlockNumber = none. */
static BlockNumber
find_last_leaf(Relation heap, Relation index, Snapshot snapshot)
{
	IndexScanDesc scan = emogi_compat_begin_index(heap, index, snapshot, 0);
	BlockNumber block = InvalidBlockNumber;

	index_rescan(scan, NULL, 0, NULL, 0);
	if (index_getnext_tid(scan, BackwardScanDirection) != NULL)
		block = ((BTScanOpaque) scan->opaque)->currPos.currPage;
	index_endscan(scan);
	return block;
}

/*
 * Prove that an index of a heap, both open and locked, has no entry for NULL in its first column,
 * for the rows that a snapshot sees; false = unknown.
 */
bool
emogi_index_nulls_are_absent(Relation heap, Relation index, Snapshot snapshot)
{
	const Oid	oid = RelationGetRelid(index);
	LastLeaf   *hint;
	bool		is_last = false;
	bool		shows = false;

	if (index->rd_rel->relam != BTREE_AM_OID || RelationGetIndexPredicate(index) != NIL ||
		(index->rd_indoption[0] & INDOPTION_NULLS_FIRST) != 0)
		return false;
	hint = find_hint(oid);
	if (hint->index == oid)
		shows = read_page(index, hint->block, &is_last);
	if (!is_last && !IsolationIsSerializable())
	{
		*hint = (LastLeaf) {oid, find_last_leaf(heap, index, snapshot)};
		if (hint->block != InvalidBlockNumber)
			shows = read_page(index, hint->block, &is_last);
	}
	return shows;
}
