/*
 * index_nulls.c: proof that a btree index has no entry for NULL in its first column.
 *
 * Then no snapshot that may use the index sees a row with NULL there. An index that sorts NULL last
 * has such entries at the end of its last leaf page, or none. Entries of rows that no snapshot sees
 * only prevent the proof.
 *
 * A session remembers the number of that page for a few indexes. It is only a hint, which saves the
 * descent: the page itself shows, under the same lock as its last entry, whether it is still the
 * last leaf. Changes of the catalogs, of which one precedes each new file of an index, remove it.
 *
 * A serializable transaction needs no predicate lock on the page, because a new row with NULL is no
 * edge.
 */
#include "postgres.h"

#include "catalog/pg_am.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "analysis/analysis.h"
#include "base/compat.h"
#include "index_search/index_search_read.h"

/* Indexes whose last leaf a session remembers */
#define MAX_INDEXES 16

typedef struct LastLeaf
{
	Oid			index;
	Oid			file;			/* relfilenumber */
	uint64		changes;		/* emogi_analysis_count_changes(); 0 = unused */
	BlockNumber block;
} LastLeaf;

/* Hashed by the last bits of the indexes' OIDs */
static LastLeaf last_leaves[MAX_INDEXES];

/* Is a page, which is locked, the last leaf of its index? */
static bool
is_last_leaf(Page page)
{
	const BTPageOpaque opaque = PageIsNew(page) ? NULL :
		(BTPageOpaque) PageGetSpecialPointer(page);

	return opaque != NULL && P_ISLEAF(opaque) && P_RIGHTMOST(opaque) && !P_IGNORE(opaque);
}

/*
 * Get the last leaf page of an index as this session remembers it, locked for reading and pinned;
 * InvalidBuffer = it is unknown.
 */
static Buffer
get_known_leaf(Relation index, const LastLeaf *known, uint64 changes)
{
	Buffer		buffer;

	if (known->index != RelationGetRelid(index) || known->changes != changes ||
		known->file != emogi_compat_relfilenumber(index))
		return InvalidBuffer;
	buffer = ReadBuffer(index, known->block);
	LockBuffer(buffer, BT_READ);
	if (is_last_leaf(BufferGetPage(buffer)))
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/* Get the last leaf page of an index, likewise; InvalidBuffer = the index is empty. */
static Buffer
get_last_leaf(Relation index, Snapshot snapshot)
{
	LastLeaf   *known = &last_leaves[RelationGetRelid(index) % MAX_INDEXES];
	const uint64 changes = emogi_analysis_count_changes();
	Buffer		buffer = get_known_leaf(index, known, changes);

	if (BufferIsValid(buffer))
		return buffer;
	buffer = emogi_compat_last_leaf(index, snapshot);
	if (BufferIsValid(buffer))
		*known = (LastLeaf) {.index = RelationGetRelid(index),
							 .file = emogi_compat_relfilenumber(index),.changes = changes,
							 .block = BufferGetBlockNumber(buffer)};
	return buffer;
}

/* Is the last entry of an index's last leaf page not NULL? */
static bool
ends_without_null(Relation index, Page page)
{
	const OffsetNumber last = PageGetMaxOffsetNumber(page);
	bool		is_null;

	if (last < P_FIRSTDATAKEY((BTPageOpaque) PageGetSpecialPointer(page)))
		return false;
	(void) index_getattr((IndexTuple) PageGetItem(page, PageGetItemId(page, last)), 1,
						 RelationGetDescr(index), &is_null);
	return !is_null;
}

/*
 * Prove that an index, which is open and locked, has no entry for NULL in its first column, for the
 * rows that a snapshot sees; false = unknown.
 */
bool
emogi_index_nulls_are_absent(Relation index, Snapshot snapshot)
{
	Buffer		buffer;
	bool		are_absent;

	if (index->rd_rel->relam != BTREE_AM_OID || RelationGetIndexPredicate(index) != NIL ||
		(index->rd_indoption[0] & INDOPTION_NULLS_FIRST) != 0)
		return false;
	buffer = get_last_leaf(index, snapshot);
	if (!BufferIsValid(buffer))
		return false;
	are_absent = ends_without_null(index, BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return are_absent;
}
