/*
 * own_pages.c: which pages with kept changes of the current transaction must be rescanned
 */
#include "postgres.h"

#include "access/relation.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "changes/own_changes.h"
#include "base/compat.h"
#include "base/fault.h"

/* Return true if a page still has the LSN that it had. A pin suffices to read it, as in L6. */
static bool
has_same_lsn(Relation rel, EmogiOwnPage *page)
{
	Buffer		buffer = page->buffer;
	bool		same;

	if (page->lsn == 0)
		return false;
	if (!BufferIsValid(buffer) || !emogi_compat_read_recent(rel, page->block, buffer))
		buffer = ReadBuffer(rel, page->block);
	page->buffer = buffer;
	same = BufferGetLSNAtomic(buffer) == page->lsn;
	ReleaseBuffer(buffer);
	return same;
}

/*
 * Return true if a snapshot sees on a page what the last scan saw: nobody has written to it since
 * (O1), no other transaction in progress on it has ended since, and no command of the current
 * transaction has become visible since.
 */
static bool
may_keep(const EmogiOwnChanges *own, Relation rel, EmogiOwnPage *page, CommandId command)
{
	if (page->undecided && page->others != own->others)
		return false;
	if (page->own && page->last_command >= page->command && command != page->command &&
		!emogi_faults.tracker[EMOGI_TRACKER_OWN_COMMAND])
		return false;
	return has_same_lsn(rel, page);
}

/* Return true if all kept pages are among the pages of a table to be rescanned. */
static bool
are_listed(const EmogiOwnLeaf *table, const EmogiPageRescan *scans)
{
	uint64		at = 0;

	for (int i = 0; i < table->npages; i++)
	{
		while (at < scans->count && scans->blocks[at] < table->pages[i].block)
			at++;
		if (at == scans->count || scans->blocks[at] != table->pages[i].block)
			return false;
	}
	return true;
}

/*
 * Return true if all pages that the tracker knows, that were truncated, and that exist again are
 * among those to be rescanned.
 */
static bool
are_regrown(const EmogiOwnLeaf *table, const EmogiChangedPages *changed)
{
	const BlockNumber end = Min(changed->known->nblocks, changed->nblocks);
	const EmogiPageRescan *scans = &changed->scans;
	uint64		count = 0;

	for (uint64 i = scans->count; table->gone < end && i > 0 && scans->blocks[i - 1] >= table->gone;
		 i--)
		count += scans->blocks[i - 1] < end;
	return table->gone >= end || count == end - table->gone;
}

/* Remove the pages that need no rescan from a table's list. */
static void
skip_unchanged(const EmogiOwnChanges *own, EmogiOwnLeaf *table, EmogiChangedPages *changed)
{
	EmogiPageRescan *scans = &changed->scans;
	const CommandId command = GetActiveSnapshot()->curcid;
	Relation	rel = relation_open(changed->relid, NoLock);
	uint64		count = 0;
	int			at = 0;

	for (uint64 i = 0; i < scans->count; i++)
	{
		const BlockNumber block = scans->blocks[i];

		while (at < table->npages && table->pages[at].block < block)
			at++;
		if (at < table->npages && table->pages[at].block == block &&
			may_keep(own, rel, &table->pages[at], command))
			changed->nskipped_by_lsn++;
		else
			scans->blocks[count++] = block;
	}
	scans->count = count;
	relation_close(rel, NoLock);
}

/*
 * Remove the pages that need no rescan from the lists of all tables; *count is the number that
 * remain. Return false, and drop the kept changes, if they do not belong to these tables (O4).
 */
bool
emogi_own_changes_reuse(EmogiOwnChanges *own, const EmogiChangeTracker *tracker,
						EmogiChangedPages *changed_pages, int nleaves, uint64 *count)
{
	bool		fits = own->nleaves == nleaves && tracker->pages.nleaves == nleaves;

	for (int i = 0; fits && i < nleaves; i++)
		fits = changed_pages[i].known == &tracker->pages.leaves[i] &&
			changed_pages[i].nblocks >= Min(own->leaves[i].gone, changed_pages[i].known->nblocks) &&
			are_listed(&own->leaves[i], &changed_pages[i].scans) &&
			are_regrown(&own->leaves[i], &changed_pages[i]);
	if (!fits)
	{
		emogi_own_changes_drop(own);
		return false;
	}
	*count = 0;
	for (int i = 0; i < nleaves; i++)
	{
		skip_unchanged(own, &own->leaves[i], &changed_pages[i]);
		*count += changed_pages[i].scans.count;
	}
	return true;
}
