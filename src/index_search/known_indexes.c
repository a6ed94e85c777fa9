/*
 * known_indexes.c: the indexes that this session has found for the columns of a heap
 *
 * The catalogs tell which index leads from a column, unless it also depends on the snapshot, or on
 * conditions that set other columns of an index equal to constants. Reading the catalogs takes
 * longer than counting the edges of a vertex. So a session remembers the indexes of a few heaps
 * until an invalidation arrives. Locks are taken anew for each search.
 */
#include "postgres.h"

#include "access/genam.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "analysis/analysis.h"
#include "index_search/index_search_read.h"

/* Heaps whose indexes a session remembers */
#define MAX_HEAPS 16

/* The indexes of a heap for a source's columns. */
typedef struct KnownIndexes
{
	uint64		changes;		/* emogi_analysis_count_changes(); 0 = unused */
	Oid			relid;			/* of the source */
	AttrNumber	columns[4];		/* of the source: endpoints and costs */
	bool		suits_conditions;	/* the choice is the same with any conditions */
	EmogiSearchIndex by_src;	/* .index NULL, no prefix */
	EmogiSearchIndex by_dst;
	Oid			indexes[2];		/* of these; InvalidOid = there is none */
} KnownIndexes;

/* Hashed by the last bits of the heaps' OIDs */
static KnownIndexes known_heaps[MAX_HEAPS];

/* Are these the indexes of a heap for the columns of this source? */
static bool
fits(const KnownIndexes *known, const EmogiSource *source, bool has_conditions, Oid heap)
{
	return known->changes != 0 && known->by_src.heap == heap && known->relid == source->relid &&
		(known->suits_conditions || !has_conditions) &&
		known->columns[0] == source->src && known->columns[1] == source->dst &&
		known->columns[2] == source->weight && known->columns[3] == source->reverse;
}

/* Unlock the first indexes. */
static void
unlock(const KnownIndexes *known, int count)
{
	for (int i = 0; i < count; i++)
		if (OidIsValid(known->indexes[i]))
			UnlockRelationOid(known->indexes[i], AccessShareLock);
}

/* Lock the indexes, if that is possible without waiting. */
static bool
lock(const KnownIndexes *known)
{
	for (int i = 0; i < (int) lengthof(known->indexes); i++)
	{
		if (!OidIsValid(known->indexes[i]) ||
			ConditionalLockRelationOid(known->indexes[i], AccessShareLock))
			continue;
		unlock(known, i);
		return false;
	}
	return true;
}

/* Open an index, which is locked; NULL if there is none. */
static Relation
open_index(Oid relid)
{
	return OidIsValid(relid) ? index_open(relid, NoLock) : NULL;
}

/*
 * Lock and open the indexes of a heap that an earlier search has found; return false, with none
 * open, if they are unknown or locked.
 */
bool
emogi_known_indexes_open(const EmogiSource *source, bool has_conditions, Oid heap,
						 EmogiSearchIndex *by_src, EmogiSearchIndex *by_dst)
{
	KnownIndexes *known = &known_heaps[heap % MAX_HEAPS];

	if (!fits(known, source, has_conditions, heap) || !lock(known))
		return false;
	/* after the locks: what has changed until now may be an index that is locked */
	if (known->changes != emogi_analysis_count_changes())
	{
		unlock(known, (int) lengthof(known->indexes));
		known->changes = 0;
		return false;
	}
	*by_src = known->by_src;
	*by_dst = known->by_dst;
	by_src->index = open_index(known->indexes[0]);
	by_dst->index = open_index(known->indexes[1]);
	return true;
}

/*
 * Remember the indexes of a heap, which were found regardless of the snapshot and of conditions,
 * while the catalogs had this number of changes. suits_conditions: no condition would have led to
 * other indexes; otherwise there was none.
 */
void
emogi_known_indexes_note(const EmogiSource *source, uint64 changes, bool suits_conditions,
						 const EmogiSearchIndex *by_src, const EmogiSearchIndex *by_dst)
{
	const AttrNumber columns[] = {source->src, source->dst, source->weight, source->reverse};
	KnownIndexes *known = &known_heaps[by_src->heap % MAX_HEAPS];

	if (changes != emogi_analysis_count_changes())
		return;
	*known = (KnownIndexes) {.changes = changes,.relid = source->relid,
							 .suits_conditions = suits_conditions,.by_src = *by_src,
							 .by_dst = *by_dst};
	memcpy(known->columns, columns, sizeof columns);
	known->indexes[0] = by_src->index != NULL ? RelationGetRelid(by_src->index) : InvalidOid;
	known->indexes[1] = by_dst->index != NULL ? RelationGetRelid(by_dst->index) : InvalidOid;
	known->by_src.index = known->by_dst.index = NULL;
}
