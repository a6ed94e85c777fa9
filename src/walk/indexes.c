/*
 * indexes.c: the indexes of tables by which a walk finds the edges of a vertex.
 *
 * An index serves that would serve the server itself for `column = value` under the active snapshot: btree or hash, valid, over all
 * rows, with the column in the first place, and of the default operator class of its type, whose equality is that of keys.
 *
 * Nobody is waited for: an index that another session holds a conflicting lock on, to rebuild it say, does not serve. The heaps are
 * locked, so none that was found can be dropped.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "walk/walk.h"

/* Can the keys of a Source be walked from? Which of several spellings of a key is given back depends on all rows: those cannot. */
bool
emogi_walk_may_lead(const EmogiSource *source)
{
	return !source->is_query && source->reverse == 0 && source->key.class != EMOGI_KEY_COMPARED && source->key.nparts == 0;
}

/*
 * Is an index's operator class the default one of a type, in an access method that finds by equality, and its collation one by which
 * equal strings have equal bytes? Gets the equality.
 */
static bool
finds_equals(Relation index, Oid type, EmogiWalkIndex *found)
{
	const bool	is_btree = index->rd_rel->relam == BTREE_AM_OID;
	const Oid	family = index->rd_opfamily[0];
	const Oid	input = index->rd_opcintype[0];
	const Oid	collation = index->rd_indcollation[0];
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_HASH_OPFAMILY);
	Oid			operator;

	if ((!is_btree && index->rd_rel->relam != HASH_AM_OID) || !OidIsValid(family) ||
		family != (is_btree ? cache->btree_opf : cache->hash_opf) || input != (is_btree ? cache->btree_opintype : cache->hash_opintype) ||
		(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
		return false;
	found->strategy = is_btree ? BTEqualStrategyNumber : HTEqualStrategyNumber;
	operator = get_opfamily_member(family, input, input, found->strategy);
	found->equals = OidIsValid(operator) ? get_opcode(operator) : InvalidOid;
	return OidIsValid(found->equals);
}

/* Does an index have all rows that the active snapshot sees? One that came over broken HOT chains has not those of older snapshots. */
static bool
has_all_rows(Relation index)
{
	const Form_pg_index form = index->rd_index;

	return form->indisvalid && form->indisready && form->indislive &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) &&
		(!form->indcheckxmin || TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), TransactionXmin));
}

/* Open an index of a heap if it leads from a column; false when it does not, or is locked. */
static bool
open_index(Oid relid, AttrNumber column, EmogiWalkIndex *found)
{
	Relation	index;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	index = found->index = index_open(relid, NoLock);
	if (index->rd_index->indkey.values[0] == column && has_all_rows(index) && finds_equals(index, found->from_type, found))
		return true;
	index_close(index, AccessShareLock);
	return false;
}

/* Find the index of a heap that leads from one column to another: of several that with the fewest columns, the oldest. */
static void
find_index(Relation heap, AttrNumber from, AttrNumber to, EmogiWalkIndex *found)
{
	TupleDesc	desc = RelationGetDescr(heap);
	EmogiWalkIndex each = {
		.heap = RelationGetRelid(heap),
		.from_type = getBaseType(TupleDescAttr(desc, from - 1)->atttypid),
		.to = to,
		.to_type = getBaseType(TupleDescAttr(desc, to - 1)->atttypid)
	};
	ListCell   *cell;

	*found = each;
	foreach(cell, RelationGetIndexList(heap))
	{
		if (!open_index(lfirst_oid(cell), from, &each))
			continue;
		if (found->index != NULL && found->index->rd_index->indnatts <= each.index->rd_index->indnatts)
			index_close(each.index, AccessShareLock);
		else
		{
			if (found->index != NULL)
				index_close(found->index, AccessShareLock);
			*found = each;
		}
	}
}

/* Close the indexes of one end. */
static void
close_indexes(EmogiWalkIndex *indexes, int count)
{
	for (int i = 0; i < count; i++)
		if (indexes[i].index != NULL)
			index_close(indexes[i].index, AccessShareLock);
	pfree(indexes);
}

/* Find the index of each heap that leads from one column to another; NULL when one heap has none. */
static EmogiWalkIndex *
find_indexes(List *leaves, const char *from, const char *to)
{
	EmogiWalkIndex *indexes = palloc(list_length(leaves) * sizeof *indexes);
	int			count = 0;
	ListCell   *cell;

	foreach(cell, leaves)
	{
		const Oid	relid = lfirst_oid(cell);
		Relation	heap = table_open(relid, NoLock);

		if (!IsCatalogRelation(heap) && heap->rd_rel->relhasindex)
			find_index(heap, get_attnum(relid, from), get_attnum(relid, to), &indexes[count]);
		else
			indexes[count].index = NULL;
		table_close(heap, NoLock);
		if (indexes[count++].index == NULL)
		{
			close_indexes(indexes, count);
			return NULL;
		}
	}
	return indexes;
}

/* Close the indexes of a Source, and give their locks back. */
void
emogi_walk_close(EmogiWalkIndexes *indexes)
{
	if (indexes->by_src != NULL)
		close_indexes(indexes->by_src, indexes->nleaves);
	if (indexes->by_dst != NULL)
		close_indexes(indexes->by_dst, indexes->nleaves);
}

/*
 * Open the indexes by which a walk in some direction can go over the heaps of a Source, which are locked; false when there are none, and
 * none is open. Those of the other direction, where there are any, tell whether a vertex without an edge in this one is in the graph.
 */
bool
emogi_walk_open(const EmogiSource *source, List *leaves, EmogiDirection direction, EmogiWalkIndexes *indexes)
{
	const char *src = get_attname(source->relid, source->src, false);
	const char *dst = get_attname(source->relid, source->dst, false);
	bool		found = false;

	*indexes = (EmogiWalkIndexes) {.nleaves = list_length(leaves)};
	if (direction != EMOGI_IN)
	{
		indexes->by_src = find_indexes(leaves, src, dst);
		if (indexes->by_src == NULL)
			return false;
		found = direction == EMOGI_OUT;
	}
	indexes->by_dst = find_indexes(leaves, dst, src);
	if (direction == EMOGI_IN && indexes->by_dst != NULL)
		indexes->by_src = find_indexes(leaves, src, dst);
	found |= indexes->by_dst != NULL;
	if (!found)
		emogi_walk_close(indexes);
	return found;
}

/* Name the indexes that a walk goes over; of several heaps' those of the first. names: [EMOGI_WALK_NAMES_BYTES]. */
void
emogi_walk_name(const EmogiWalkIndexes *indexes, EmogiDirection direction, char *names)
{
	const char *by_src = direction != EMOGI_IN ? RelationGetRelationName(indexes->by_src[0].index) : "";
	const char *by_dst = direction != EMOGI_OUT ? RelationGetRelationName(indexes->by_dst[0].index) : "";

	snprintf(names, EMOGI_WALK_NAMES_BYTES, "%s%s%s", by_src, direction == EMOGI_BOTH ? ", " : "", by_dst);
}
