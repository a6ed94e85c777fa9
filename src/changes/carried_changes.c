/*
 * carried_changes.c: kept changes of a transaction that has committed, for the next transactions of
 * the session
 *
 * A session that inserts rows and searches in short transactions would otherwise refresh the change
 * tracker in each of them. If nobody else has changed the tables, the next call finds the rows that
 * its session has inserted since its last call, as within one transaction (own_rows.c). Anything
 * else ends with a refresh. Rule O11: docs/design/incremental-graphs.md, "Own changes".
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/relcache.h"

#include "changes/own_changes.h"

/* Limits of what is carried: a refresh stores the changes for all sessions. */
#define MAX_CARRIED_TABLES 16
#define MAX_CARRIED_CHANGES 512
#define MAX_CARRIED_PAGES 512

/*
 * Add the rows that the current transaction, which is about to commit, has inserted since the last
 * call to those that the next call has to find. Return false if it has done more to the table.
 */
static bool
carry_table(EmogiOwnLeaf *table)
{
	Relation	rel = RelationIdGetRelation(table->relid);
	EmogiRowCounts now = {false};

	if (!RelationIsValid(rel))
		return false;
	emogi_own_rows_count(rel, &now);
	RelationClose(rel);
	if (!now.is_counted || !table->counts.is_counted || now.settings != table->counts.settings ||
		now.nchanged != table->counts.nchanged)
		return false;
	/* relative to the counts of a new transaction, which begin at 0 */
	table->counts.ninserted -= now.ninserted;
	table->counts.nchanged = 0;
	return true;
}

/* Count the pages that are kept with their edges. */
static uint64
count_pages(const EmogiOwnChanges *own)
{
	uint64		npages = 0;

	for (int i = 0; i < own->nleaves; i++)
		npages += own->leaves[i].npages;
	return npages;
}

/*
 * Keep the changes beyond the current transaction, which is about to commit. Return false if they
 * must be dropped.
 */
static bool
keep(EmogiOwnChanges *own)
{
	const FullTransactionId xid = GetTopFullTransactionIdIfAny();
	bool		has_written = false;

	if (own->broken || own->is_following || !own->is_all_seen ||
		own->nleaves > MAX_CARRIED_TABLES || own->changes.count > MAX_CARRIED_CHANGES ||
		count_pages(own) > MAX_CARRIED_PAGES)
		return false;
	for (int i = 0; i < own->nleaves; i++)
		if (emogi_recent_writers_changed_by_me(own->leaves[i].relid))
		{
			if (!carry_table(&own->leaves[i]))
				return false;
			has_written = true;
		}
	if (has_written && own->ncarried == EMOGI_MAX_CARRIED_XIDS)
		return false;
	if (has_written)
		own->carried[own->ncarried++] = U64FromFullTransactionId(xid);
	own->is_carried = own->is_first = true;
	own->command = FirstCommandId;
	return true;
}

/* Keep changes at the end of a transaction that commits; drop all others. */
static void
at_end_of_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE ||
		event == XACT_EVENT_ABORT)
		emogi_own_changes_end(event == XACT_EVENT_PRE_COMMIT ? keep : NULL);
}

/*
 * Register the transaction callback; called once, before other callbacks of this library are
 * registered. It runs after those, and after callbacks of libraries that were loaded later, which
 * may write. Callbacks of libraries that were loaded earlier run after it; rows that they write at
 * PRE_COMMIT are not counted (O11).
 */
void
emogi_carried_changes_init(void)
{
	RegisterXactCallback(at_end_of_transaction, NULL);
}
