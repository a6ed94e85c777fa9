/*
 * kept_indexes.c: indexes and scans that the searches of a plan node leave open for each other
 *
 * A plan node that is rescanned with other arguments, as in a LATERAL join, runs a search each
 * time. To find and open the indexes, and to prepare the conditions, takes longer than to read the
 * edges of a few vertices. So a node keeps them open between its searches, as PostgreSQL's index
 * scan does between rescans, and closes them at the end of the plan.
 *
 * They serve the next search if the source and its query have the same columns, conditions and
 * heaps, and if the catalogs have not changed. Between searches, no page of an index or heap is
 * pinned. An index that a subtransaction has created or rewritten is not kept open, because its
 * rollback removes it.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "analysis/analysis.h"
#include "base/compat.h"
#include "index_search/kept_indexes.h"

/* Make a place for indexes, in the current memory context, with the current resource owner. */
EmogiKeptIndexes *
emogi_kept_indexes_create(void)
{
	EmogiKeptIndexes *kept = palloc0(sizeof *kept);

	kept->context = AllocSetContextCreate(CurrentMemoryContext, "emogi kept indexes",
										  ALLOCSET_DEFAULT_SIZES);
	kept->owner = CurrentResourceOwner;
	return kept;
}

/* Close what is open, if anything. */
void
emogi_kept_indexes_close(EmogiKeptIndexes *kept)
{
	ResourceOwner old_owner = CurrentResourceOwner;

	if (kept == NULL || kept->changes == 0)
		return;
	CurrentResourceOwner = kept->owner;
	kept->changes = 0;
	kept->repeat = NULL;
	kept->readers.is_kept = false;
	emogi_index_readers_close(&kept->readers);
	kept->readers = (EmogiIndexReaders) {0};
	emogi_index_search_release(&kept->indexes);
	CurrentResourceOwner = old_owner;
	MemoryContextReset(kept->context);
}

/* Were the indexes opened for the same edges in the same direction? */
static bool
fits(const EmogiKeptIndexes *kept, const EmogiSource *source, const List *leaves,
	 const EmogiIndexSearch *search)
{
	return kept->changes == emogi_analysis_count_changes() &&
		kept->relid == source->relid && kept->columns[0] == source->src &&
		kept->columns[1] == source->dst && kept->columns[2] == source->weight &&
		kept->columns[3] == source->reverse && kept->direction == search->direction &&
		kept->is_filtered == (source->filter != NULL) &&
		(source->filter == NULL ||
		 memcmp(kept->fingerprint, source->filter->analysis->fingerprint,
				sizeof kept->fingerprint) == 0) &&
		equal(kept->leaves, leaves);
}

/* Note what indexes will be opened for, and copy the conditions. */
static void
describe(EmogiKeptIndexes *kept, const EmogiSource *source, const List *leaves,
		 const EmogiIndexSearch *search)
{
	const AttrNumber columns[] = {source->src, source->dst, source->weight, source->reverse};

	kept->relid = source->relid;
	memcpy(kept->columns, columns, sizeof columns);
	kept->direction = search->direction;
	kept->is_filtered = source->filter != NULL;
	if (kept->is_filtered)
		memcpy(kept->fingerprint, source->filter->analysis->fingerprint,
			   sizeof kept->fingerprint);
	kept->leaves = list_copy(leaves);
	kept->source = *source;
	kept->source.filter = NULL;
	kept->indexes = (EmogiSearchIndexes) {.filter = emogi_row_filter_plan(source),.kept = kept};
	kept->indexes.filter.quals = copyObject(kept->indexes.filter.quals);
}

/* Open indexes that are kept; false, with none open, if the search lacks some. */
static bool
open_kept(EmogiKeptIndexes *kept, const EmogiSource *source, List *leaves,
		  const EmogiIndexSearch *search)
{
	MemoryContext old = MemoryContextSwitchTo(kept->context);
	ResourceOwner old_owner = CurrentResourceOwner;
	bool		is_open;

	MemoryContextReset(kept->context);
	CurrentResourceOwner = kept->owner;
	describe(kept, source, leaves, search);
	is_open = emogi_index_search_find(source, leaves, search, &kept->indexes);
	kept->indexes.source = &kept->source;
	if (is_open)
		kept->changes = emogi_analysis_count_changes();
	CurrentResourceOwner = old_owner;
	MemoryContextSwitchTo(old);
	return is_open;
}

/* May a rollback to a savepoint remove an index of one direction? */
static bool
is_removable(const EmogiSearchIndex *indexes, int nleaves)
{
	for (int i = 0; i < nleaves && indexes != NULL; i++)
		if (emogi_compat_has_subtransaction_file(indexes[i].index))
			return true;
	return false;
}

/*
 * Open the indexes for a search over the heaps of a source, which are locked, or use those that
 * earlier searches have left open; false if the search lacks some.
 */
bool
emogi_index_search_open(const EmogiSource *source, List *leaves, const EmogiIndexSearch *search,
						EmogiSearchIndexes *indexes)
{
	EmogiKeptIndexes *kept = search->kept;

	if (kept != NULL && !fits(kept, source, leaves, search))
	{
		emogi_kept_indexes_close(kept);
		if (!open_kept(kept, source, leaves, search))
			return false;
		if (is_removable(kept->indexes.by_src, kept->indexes.nleaves) ||
			is_removable(kept->indexes.by_dst, kept->indexes.nleaves))
		{
			emogi_kept_indexes_close(kept);
			kept = NULL;
		}
	}
	if (kept == NULL)
	{
		*indexes = (EmogiSearchIndexes) {.filter = emogi_row_filter_plan(source)};
		return emogi_index_search_find(source, leaves, search, indexes);
	}
	*indexes = kept->indexes;
	indexes->source = source;
	return emogi_index_search_suffices(indexes, search);
}

/* Close a source's indexes, unless they are kept. */
void
emogi_index_search_close(EmogiSearchIndexes *indexes)
{
	if (indexes->kept == NULL)
		emogi_index_search_release(indexes);
}
