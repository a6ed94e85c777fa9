/*
 * index_nulls.c: proof that a btree index has no entry for NULL in its first column.
 *
 * Then no snapshot that may use the index sees a row with NULL there. An index that sorts NULL last
 * has such entries at the end of its last leaf page, or none. Entries of rows that no snapshot sees
 * only prevent the proof.
 *
 * A serializable transaction needs no predicate lock on the page, because a new row with NULL is no
 * edge.
 */
#include "postgres.h"

#include "catalog/pg_am.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "index_search/index_search_read.h"

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
	buffer = emogi_compat_last_leaf(index, snapshot);
	if (!BufferIsValid(buffer))
		return false;
	are_absent = ends_without_null(index, BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return are_absent;
}
