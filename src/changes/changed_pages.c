/*
 * changed_pages.c: find the pages of a table that a snapshot may see differently from a change
 * tracker's base snapshot
 *
 * Order matters: first take the snapshot, then read the number of blocks, then the visibility map,
 * then the pages. Anything written later belongs to transactions that the snapshot does not see.
 * The rules L1 to L12 are in docs/design/incremental-graphs.md.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "storage/bufmgr.h"

#include "edges/row_filter.h"
#include "changes/changes.h"
#include "base/compat.h"
#include "base/fault.h"

/* ---- the visibility map ---- */

/*
 * Extract the all-visible bits of 32 pages from a word of the visibility map, which has two bits
 * per page.
 */
static inline uint64
take_bits(uint64 word)
{
	uint64		bits = word & UINT64CONST(0x5555555555555555);

	StaticAssertStmt(VISIBILITYMAP_ALL_VISIBLE == 1, "the all-visible bit is the lower one");
	bits = (bits | bits >> 1) & UINT64CONST(0x3333333333333333);
	bits = (bits | bits >> 2) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	bits = (bits | bits >> 4) & UINT64CONST(0x00FF00FF00FF00FF);
	bits = (bits | bits >> 8) & UINT64CONST(0x0000FFFF0000FFFF);
	return (bits | bits >> 16) & UINT64CONST(0x00000000FFFFFFFF);
}

/*
 * Load the 8 map bytes of 32 pages starting at page i, the first byte in the lowest bits; bytes
 * behind page `end` count as 0.
 */
static inline uint64
load_word(const uint8 *bytes, BlockNumber i, BlockNumber end)
{
	uint64		word = 0;

	if (end - i >= 32)
	{
		memcpy(&word, bytes + i / 4, sizeof word);
#ifdef WORDS_BIGENDIAN
		word = pg_bswap64(word);
#endif
		return word;
	}
	for (BlockNumber at = i; at < end; at += 4)
		word |= (uint64) bytes[at / 4] << (at - i) * 2;
	return word;
}

/*
 * Are all of 64 pages all-visible? Most are. bytes: of the map, of the first of these pages. The
 * order of the bytes makes no difference.
 */
static inline bool
are_all_visible(const uint8 *bytes)
{
	uint64		words[2];

	memcpy(words, bytes, sizeof words);
	return (words[0] & words[1] & UINT64CONST(0x5555555555555555)) ==
		UINT64CONST(0x5555555555555555);
}

/* Copy the bits of a locked map page, for the pages from `first` on. */
static void
copy_bits(const uint8 *bytes, BlockNumber first, EmogiChangedPages *changed)
{
	const BlockNumber end = Min(changed->nblocks - first, EMOGI_GROUP_PAGES);
	uint64	   *map = changed->map;
	BlockNumber i = 0;

	while (i < end)
	{
		const BlockNumber block = first + i;

		if (block % 64 == 0 && end - i >= 64 && are_all_visible(bytes + i / 4))
		{
			map[block / 64] = PG_UINT64_MAX;
			i += 64;
			continue;
		}
		map[block / 64] |= take_bits(load_word(bytes, i, end)) << block % 64;
		i += 32;
	}
}

/*
 * Read the identity of a table, its number of blocks (L2), then copy its visibility map. The bits
 * and the LSN of a map page are read under one lock, because they belong together (L3).
 */
void
emogi_changed_pages_copy_map(Relation rel, const EmogiSource *source, EmogiChangedPages *changed)
{
	Buffer		buffer = InvalidBuffer;
	EmogiTupleLayout layout;
	uint64		ngroups;

	emogi_fault_sleep(EMOGI_FAULT_AT_REFRESH_MAP);
	changed->relid = RelationGetRelid(rel);
	changed->relfilenumber = emogi_compat_relfilenumber(rel);
	emogi_heap_scan_columns(&layout, rel, source);
	changed->src = layout.src.attnum;
	changed->dst = layout.dst.attnum;
	changed->weight = layout.weight.attnum;
	changed->reverse = layout.reverse.attnum;
	(void) emogi_row_filter_columns(source, rel, changed->filter);
	changed->nblocks = RelationGetNumberOfBlocks(rel);
	ngroups = emogi_changed_pages_groups(changed->nblocks);
	changed->vacuums = emogi_vacuums_ended(changed->relid);
	changed->map = palloc0((changed->nblocks / 64 + 1) * sizeof(uint64));
	changed->group_lsn = palloc0((ngroups + 1) * sizeof(uint64));
	for (uint64 group = 0; group < ngroups; group++)
	{
		BlockNumber first = (BlockNumber) (group * EMOGI_GROUP_PAGES);
		Page		page;

		(void) visibilitymap_get_status(rel, first, &buffer);
		if (!BufferIsValid(buffer))
			continue;
		page = BufferGetPage(buffer);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		copy_bits((const uint8 *) PageGetContents(page), first, changed);
		changed->group_lsn[group] = PageGetLSN(page);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	if (BufferIsValid(buffer))
		ReleaseBuffer(buffer);
	if (emogi_vacuums_may_be_running(changed->relid) ||
		emogi_vacuums_ended(changed->relid) != changed->vacuums)
		changed->vacuums = EMOGI_VACUUMS_UNKNOWN;
	emogi_fault_sleep(EMOGI_FAULT_AT_REFRESH_PAGES);
}

/* ---- the pages ---- */

/* A table whose pages are compared with what the change tracker knows of them. */
typedef struct Comparison
{
	Relation	rel;
	const EmogiTrackedPages *pages;
	const EmogiTrackedTable *known;
	uint64		older_than;		/* L7: rescan pages with this transaction or a later one;
								 * PG_UINT64_MAX = the snapshot contains the base */
	BufferAccessStrategy strategy;
	EmogiChangedPages *changed;
	bool		no_vacuum;		/* no vacuum has set a bit since the base's map was copied */
	bool		no_vacuum_before;	/* no vacuum has set a bit since changed->before was copied */
} Comparison;

/*
 * Clear the copied map bit of a page that is not itself marked all-visible, because no writer would
 * clear that bit (L9).
 */
static inline void
distrust_map(EmogiChangedPages *changed, BlockNumber block)
{
	if (!emogi_faults.tracker[EMOGI_TRACKER_DISTRUST])
		changed->map[block / 64] &= ~(UINT64CONST(1) << block % 64);
}

/*
 * Return true if a page still has the LSN that it had (L6). Content that was never logged has no
 * LSN to compare.
 */
static bool
has_same_lsn(const Comparison *comparison, BlockNumber block)
{
	uint64		page = comparison->known->first + block;
	uint64		lsn = comparison->pages->lsn[page];
	Buffer		buffer = comparison->pages->buffer[page];
	bool		same;

	if (lsn == 0)
		return false;
	if (!BufferIsValid(buffer) || !emogi_compat_read_recent(comparison->rel, block, buffer))
		buffer = ReadBufferExtended(comparison->rel, MAIN_FORKNUM, block, RBM_NORMAL,
									comparison->strategy);
	comparison->pages->buffer[page] = buffer;
	same = BufferGetLSNAtomic(buffer) == lsn || emogi_faults.tracker[EMOGI_TRACKER_PAGE_LSN];
	if (!PageIsAllVisible(BufferGetPage(buffer)))
		distrust_map(comparison->changed, block);
	ReleaseBuffer(buffer);
	return same;
}

/* Compare a page that the map does not prove unchanged; list it if it must be rescanned. */
static void
compare_page(const Comparison *comparison, BlockNumber block)
{
	const EmogiTrackedPages *pages = comparison->pages;
	EmogiChangedPages *changed = comparison->changed;
	uint64		page = comparison->known->first + block;

	if (pages->lsn[page] != EMOGI_UNDECIDED && pages->newest[page] < comparison->older_than &&
		has_same_lsn(comparison, block))
		changed->nskipped_by_lsn++;
	else
		changed->scans.blocks[changed->scans.count++] = block;
}

/*
 * Get the bits of the pages that matched the tracker in an earlier call of this transaction and
 * that the map proves unchanged since (O5). Covers the same 64 pages as unchanged_by_map.
 */
static inline uint64
unchanged_by_last_map(const Comparison *comparison, BlockNumber first)
{
	const EmogiChangedPages *changed = comparison->changed;
	const EmogiMapCopy *before = changed->before;
	const uint64 group = first / EMOGI_GROUP_PAGES;

	if (before == NULL || first >= before->nblocks || comparison->older_than != PG_UINT64_MAX ||
		!(changed->group_lsn[group] == before->group_lsn[group] || comparison->no_vacuum_before))
		return 0;
	return changed->map[first / 64] & before->trusted[first / 64];
}

/* May the map prove the pages of a group unchanged (L5)? */
static bool
may_map_prove(const Comparison *comparison, uint64 group)
{
	bool		same = comparison->changed->group_lsn[group] ==
		comparison->pages->group_lsn[comparison->known->first_group + group] &&
		!emogi_faults.tracker[EMOGI_TRACKER_BY_LSN];

	return comparison->older_than == PG_UINT64_MAX &&
		(same || comparison->no_vacuum || emogi_faults.tracker[EMOGI_TRACKER_MAP_LSN]);
}

/*
 * Get the bits of the pages that the map proves unchanged (L5), for the 64 pages of a word that lie
 * in one group.
 */
static inline uint64
unchanged_by_map(const Comparison *comparison, BlockNumber first)
{
	if (!may_map_prove(comparison, first / EMOGI_GROUP_PAGES))
		return 0;
	return comparison->changed->map[first / 64] &
		comparison->pages->trusted[(comparison->known->first + first) / 64];
}

/*
 * Skip words of 64 pages that the map proves unchanged, from a page on, in its group, of which
 * pages before `end` are known. Return the first page that is left.
 */
static BlockNumber
skip_unchanged(const Comparison *comparison, BlockNumber block, BlockNumber end)
{
	const uint64 *map = comparison->changed->map;
	const uint64 *trusted = &comparison->pages->trusted[comparison->known->first / 64];
	const BlockNumber first = block;

	if (block % 64 != 0 || !may_map_prove(comparison, block / EMOGI_GROUP_PAGES))
		return block;
	while (end - block >= 64 && (map[block / 64] & trusted[block / 64]) == PG_UINT64_MAX)
		block += 64;
	comparison->changed->nskipped_by_map += block - first;
	return block;
}

/* Compare the pages [first, end), which belong to one word and one group. */
static void
compare_word(const Comparison *comparison, BlockNumber first, BlockNumber end)
{
	uint64		unchanged = unchanged_by_map(comparison, first) |
		unchanged_by_last_map(comparison, first);

	if (unchanged == PG_UINT64_MAX && end - first == 64)
	{
		comparison->changed->nskipped_by_map += 64;
		return;
	}
	for (BlockNumber block = first; block < end; block++)
	{
		if (unchanged >> block % 64 & 1)
			comparison->changed->nskipped_by_map++;
		else
			compare_page(comparison, block);
	}
}

/*
 * List the pages of a table that must be rescanned: all of them if the table is not known. Its map
 * must have been copied. older_than: see Comparison. Clears the map bits of pages that are not
 * themselves all-visible.
 */
void
emogi_changed_pages_find(Relation rel, const EmogiTrackedPages *pages, uint64 older_than,
						 EmogiChangedPages *changed)
{
	Comparison	comparison =
		{rel, pages, changed->known, older_than, GetAccessStrategy(BAS_BULKREAD), changed};
	BlockNumber nknown = changed->known != NULL ?
		Min(changed->known->nblocks, changed->nblocks) : 0;
	BlockNumber end;

	comparison.no_vacuum = changed->known != NULL && changed->vacuums != EMOGI_VACUUMS_UNKNOWN &&
		changed->vacuums == changed->known->vacuums;
	comparison.no_vacuum_before = changed->before != NULL &&
		changed->vacuums != EMOGI_VACUUMS_UNKNOWN && changed->vacuums == changed->before->vacuums;
	changed->scans = (EmogiPageRescan) {.relid = changed->relid};
	changed->scans.blocks = palloc_extended(Max(changed->nblocks, 1) * sizeof(BlockNumber),
											MCXT_ALLOC_HUGE);
	for (BlockNumber block = 0; block < nknown; block = end)
	{
		BlockNumber group_end = (block / EMOGI_GROUP_PAGES + 1) * EMOGI_GROUP_PAGES;

		group_end = Min(nknown, group_end);
		block = skip_unchanged(&comparison, block, group_end);
		end = Min(group_end, (block / 64 + 1) * 64);
		if (block < end)
			compare_word(&comparison, block, end);
		CHECK_FOR_INTERRUPTS();
	}
	for (BlockNumber block = nknown; block < changed->nblocks; block++)
		changed->scans.blocks[changed->scans.count++] = block;
	FreeAccessStrategy(comparison.strategy);
}
