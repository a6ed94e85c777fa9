/*
 * changed_pages.c: which pages of a table a snapshot may see otherwise than the base of a live state does.
 *
 * Order matters: the snapshot comes first, then the number of blocks, then the map, then the pages. What is written later is
 * by transactions that the snapshot does not see. Rules by their numbers in docs/design.md.
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

#define PAGES_PER_CHECK 4096

/*
 * Can the changes of a table be followed (L1)? Every change of a page must be logged. And the own transaction must not have made its
 * file: there it may have put rows that are frozen at once, and cut the file off and filled it again.
 */
bool
emogi_changed_pages_can_follow(Relation rel)
{
	return rel->rd_tableam == GetHeapamTableAmRoutine() && RelationNeedsWAL(rel) && !IsCatalogRelation(rel) &&
		!emogi_compat_has_own_file(rel);
}

/* ---- the map ---- */

/* Get the all-visible bits of as many pages as bytes of the map are in a word, four each, of the two bits that each page has. */
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

/* Get the bytes of the map for 32 pages from one on, the first byte in the lowest bits; what lies behind `end` pages is 0. */
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

/* Copy the bits of a map page, which is locked, for the pages from `first` on. */
static void
copy_bits(const uint8 *bytes, BlockNumber first, EmogiChangedPages *discovery)
{
	BlockNumber end = Min(discovery->nblocks - first, EMOGI_GROUP_PAGES);

	for (BlockNumber i = 0; i < end; i += 32)
	{
		uint64		bits = take_bits(load_word(bytes, i, end));

		discovery->map[(first + i) / 64] |= bits << (first + i) % 64;
	}
}

/* Read what a leaf is, its number of blocks (L2), then copy the map: bits and LSN of a map page belong together (L3). */
void
emogi_changed_pages_map(Relation rel, const EmogiSource *source, EmogiChangedPages *discovery)
{
	Buffer		buffer = InvalidBuffer;
	EmogiTupleLayout layout;
	uint64		ngroups;

	emogi_fault_sleep(EMOGI_AT_LIVE_MAP);
	discovery->relid = RelationGetRelid(rel);
	discovery->relfilenumber = emogi_compat_relfilenumber(rel);
	emogi_heap_scan_columns(&layout, rel, source);
	discovery->src = layout.src.attnum;
	discovery->dst = layout.dst.attnum;
	discovery->weight = layout.weight.attnum;
	discovery->reverse = layout.reverse.attnum;
	(void) emogi_row_filter_columns(source, rel, discovery->filter);
	discovery->nblocks = RelationGetNumberOfBlocks(rel);
	ngroups = emogi_changed_pages_groups(discovery->nblocks);
	discovery->vacuums = emogi_vacuums_ended(discovery->relid);
	discovery->map = palloc0((discovery->nblocks / 64 + 1) * sizeof(uint64));
	discovery->group_lsn = palloc0((ngroups + 1) * sizeof(uint64));
	for (uint64 group = 0; group < ngroups; group++)
	{
		BlockNumber first = (BlockNumber) (group * EMOGI_GROUP_PAGES);
		Page		page;

		(void) visibilitymap_get_status(rel, first, &buffer);
		if (!BufferIsValid(buffer))
			continue;
		page = BufferGetPage(buffer);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		copy_bits((const uint8 *) PageGetContents(page), first, discovery);
		discovery->group_lsn[group] = PageGetLSN(page);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	if (BufferIsValid(buffer))
		ReleaseBuffer(buffer);
	if (emogi_vacuums_at_work(discovery->relid) || emogi_vacuums_ended(discovery->relid) != discovery->vacuums)
		discovery->vacuums = EMOGI_VACUUMS_UNKNOWN;
	emogi_fault_sleep(EMOGI_AT_LIVE_PAGES);
}

/* ---- the pages ---- */

/* A leaf whose pages are compared with what is known of them. */
typedef struct Comparison
{
	Relation	rel;
	const EmogiTrackedPages *pages;
	const EmogiTrackedTable *known;
	uint64		older_than;		/* L7: a page with this transaction or a later one is looked at; PG_UINT64_MAX = the snapshot
								 * contains the base */
	BufferAccessStrategy strategy;
	EmogiChangedPages *discovery;
	bool		no_vacuum;		/* has set a bit since the base's map was copied */
	bool		no_vacuum_before;	/* ... since that of discovery->before was */
} Comparison;

/* Do not believe the map of a page that does not itself say that all see all of it: no writer would clear that bit (L9). */
static inline void
distrust(EmogiChangedPages *discovery, BlockNumber block)
{
	if (!emogi_faults.live[EMOGI_LIVE_DISTRUST])
		discovery->map[block / 64] &= ~(UINT64CONST(1) << block % 64);
}

/* Has a page the LSN that it had (L6)? Content that was never logged has none that could be compared. */
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
		buffer = ReadBufferExtended(comparison->rel, MAIN_FORKNUM, block, RBM_NORMAL, comparison->strategy);
	comparison->pages->buffer[page] = buffer;
	same = BufferGetLSNAtomic(buffer) == lsn || emogi_faults.live[EMOGI_LIVE_PAGE_LSN];
	if (!PageIsAllVisible(BufferGetPage(buffer)))
		distrust(comparison->discovery, block);
	ReleaseBuffer(buffer);
	return same;
}

/* Compare a page that the map does not vouch for; list it when it must be looked at. */
static void
compare_page(const Comparison *comparison, BlockNumber block)
{
	const EmogiTrackedPages *pages = comparison->pages;
	EmogiChangedPages *discovery = comparison->discovery;
	uint64		page = comparison->known->first + block;

	if (pages->lsn[page] != EMOGI_UNDECIDED && pages->newest[page] < comparison->older_than && has_same_lsn(comparison, block))
		discovery->nby_lsn++;
	else
		discovery->looks.blocks[discovery->looks.count++] = block;
}

/* Get the bits of the pages that were as the state has them before, and that the map vouches for since (O5), likewise. */
static inline uint64
vouched_before(const Comparison *comparison, BlockNumber first)
{
	const EmogiChangedPages *discovery = comparison->discovery;
	const EmogiVouching *before = discovery->before;
	const uint64 group = first / EMOGI_GROUP_PAGES;

	if (before == NULL || first >= before->nblocks || comparison->older_than != PG_UINT64_MAX ||
		!(discovery->group_lsn[group] == before->group_lsn[group] || comparison->no_vacuum_before))
		return 0;
	return discovery->map[first / 64] & before->trusted[first / 64];
}

/* Get the bits of the pages that the map vouches for (L5), of the 64 of a word that lie in a group. */
static inline uint64
vouched_for(const Comparison *comparison, BlockNumber first)
{
	const EmogiTrackedPages *pages = comparison->pages;
	const EmogiTrackedTable *known = comparison->known;
	uint64		group = first / EMOGI_GROUP_PAGES;
	bool		same = comparison->discovery->group_lsn[group] == pages->group_lsn[known->first_group + group] &&
		!emogi_faults.live[EMOGI_LIVE_BY_LSN];

	if (comparison->older_than != PG_UINT64_MAX ||
		!(same || comparison->no_vacuum || emogi_faults.live[EMOGI_LIVE_MAP_LSN]))
		return 0;
	return comparison->discovery->map[first / 64] & pages->trusted[(known->first + first) / 64];
}

/* Compare the pages [first, end), which are of one word and one group. */
static void
compare_word(const Comparison *comparison, BlockNumber first, BlockNumber end)
{
	uint64		vouched = vouched_for(comparison, first) | vouched_before(comparison, first);

	if (vouched == PG_UINT64_MAX && end - first == 64)
	{
		comparison->discovery->nby_map += 64;
		return;
	}
	for (BlockNumber block = first; block < end; block++)
	{
		if (vouched >> block % 64 & 1)
			comparison->discovery->nby_map++;
		else
			compare_page(comparison, block);
	}
}

/*
 * List the pages of a leaf, whose map has been copied, that must be looked at; of a leaf that is not known all. older_than: see
 * Comparison. The map loses the bits of pages that do not say the same.
 */
void
emogi_changed_pages_pages(Relation rel, const EmogiTrackedPages *pages, uint64 older_than, EmogiChangedPages *discovery)
{
	Comparison	comparison = {rel, pages, discovery->known, older_than, GetAccessStrategy(BAS_BULKREAD), discovery};
	BlockNumber nknown = discovery->known != NULL ? Min(discovery->known->nblocks, discovery->nblocks) : 0;
	BlockNumber end;

	comparison.no_vacuum = discovery->known != NULL && discovery->vacuums != EMOGI_VACUUMS_UNKNOWN &&
		discovery->vacuums == discovery->known->vacuums;
	comparison.no_vacuum_before = discovery->before != NULL && discovery->vacuums != EMOGI_VACUUMS_UNKNOWN &&
		discovery->vacuums == discovery->before->vacuums;
	discovery->looks = (EmogiPageRescan) {.relid = discovery->relid};
	discovery->looks.blocks = palloc_extended(Max(discovery->nblocks, 1) * sizeof(BlockNumber), MCXT_ALLOC_HUGE);
	for (BlockNumber block = 0; block < nknown; block = end)
	{
		BlockNumber group_end = (block / EMOGI_GROUP_PAGES + 1) * EMOGI_GROUP_PAGES;

		end = Min(Min(nknown, group_end), (block / 64 + 1) * 64);
		compare_word(&comparison, block, end);
		if (block % PAGES_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
	}
	for (BlockNumber block = nknown; block < discovery->nblocks; block++)
		discovery->looks.blocks[discovery->looks.count++] = block;
	FreeAccessStrategy(comparison.strategy);
}
