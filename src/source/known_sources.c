/*
 * known_sources.c: graph arguments that this session has resolved before
 *
 * A resolved argument is used again as long as the catalogs, the user and the search path are the
 * same: it names the same relation, which has the same columns. The relation is locked, and
 * privileges are checked, on every call.
 *
 * A resolved argument also tells which snapshots see the relation as it was resolved, so that the
 * catalogs need not be read under each. If they have not changed since, these are all snapshots
 * that see as ended every transaction that had ended when the relation was found to be visible;
 * within the same transaction, not those of earlier commands. A comparison of transaction ids with
 * those of an entry needs no epoch: long before 2^31 transactions, a vacuum changes the relation's
 * entry in pg_class.
 *
 * Not kept are queries, relations with children, and types that can be altered without a change of
 * the relation.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/catalog_changes.h"
#include "base/compat.h"
#include "source/source.h"

#define KNOWN_SOURCES 8
#define MAX_TEXT_BYTES 1024
#define MAX_RUNNING 64

/* Transactions that had ended when a relation was found to be visible. */
typedef struct SeenBy
{
	bool		is_known;
	bool		with_names;		/* edge names are visible, too */
	TransactionId xmax;
	uint32		nrunning;
	TransactionId running[MAX_RUNNING]; /* [nrunning] */
	TransactionId own;			/* the transaction that has looked; invalid = none was assigned */
	CommandId	command;		/* of that transaction */
} SeenBy;

typedef struct KnownSource
{
	MemoryContext context;		/* NULL = unused */
	char	   *text;			/* graph argument; NULL = given by its OID */
	char	   *columns;		/* then named with it; NULL = none */
	char	   *search_path;
	Oid			userid;
	uint64		nchanges;		/* of the catalogs */
	EmogiSource source;
	SeenBy		seen_by;
} KnownSource;

static KnownSource known_sources[KNOWN_SOURCES];
static int	oldest = 0;

/* Are two strings, or NULLs, equal? */
static bool
are_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Was this argument resolved by this user in the same catalogs and search path? */
static bool
is_valid(const KnownSource *known, const EmogiGraphArgument *graph, bool wants_weight,
		 uint64 nchanges)
{
	return known->context != NULL && known->nchanges == nchanges &&
		known->userid == GetUserId() && known->source.wants_weight == wants_weight &&
		(known->text == NULL) == graph->is_relation &&
		(graph->is_relation ? known->source.relid == graph->relid &&
		 are_equal(known->columns, graph->columns) : strcmp(known->text, graph->text) == 0) &&
		strcmp(known->search_path, namespace_search_path) == 0;
}

/*
 * Get the source of a graph argument that was resolved before, with its relation locked; return
 * false if it must be resolved. The caller has accepted invalidations.
 */
bool
emogi_known_sources_find(const EmogiGraphArgument *graph, bool wants_weight, EmogiSource *source)
{
	const uint64 nchanges = emogi_catalog_changes_count();

	for (int i = 0; i < KNOWN_SOURCES; i++)
	{
		const KnownSource *known = &known_sources[i];
		Oid			relid;
		bool		was_locked;

		if (!is_valid(known, graph, wants_weight, nchanges))
			continue;
		relid = known->source.relid;
		was_locked = emogi_compat_holds_lock(relid, AccessShareLock);
		LockRelationOid(relid, AccessShareLock);
		if (emogi_catalog_changes_count() != nchanges)
		{
			UnlockRelationOid(relid, AccessShareLock);
			return false;
		}
		*source = known->source;
		source->name = copyObject(known->source.name);
		source->graph = graph;
		source->was_locked = was_locked;
		source->known = i + 1;
		return true;
	}
	return false;
}

/* Can a resolved source be kept? */
static bool
may_keep(const EmogiSource *source, Relation rel)
{
	const EmogiGraphArgument *graph = source->graph;
	const char *text = graph->is_relation ? graph->columns : graph->text;

	return !source->is_query && source->guess.column == NULL && source->key.definition == 0 &&
		!rel->rd_rel->relhassubclass && (text == NULL || strlen(text) <= MAX_TEXT_BYTES) &&
		strlen(namespace_search_path) <= MAX_TEXT_BYTES;
}

/*
 * Keep a source that has just been resolved; nchanges: the number of catalog changes before.
 */
void
emogi_known_sources_keep(EmogiSource *source, Relation rel, uint64 nchanges)
{
	const EmogiGraphArgument *graph = source->graph;
	KnownSource *known = &known_sources[oldest];
	MemoryContext context;
	MemoryContext old;

	if (!may_keep(source, rel) || emogi_catalog_changes_count() != nchanges)
		return;
	oldest = (oldest + 1) % KNOWN_SOURCES;
	if (known->context != NULL)
		MemoryContextDelete(known->context);
	memset(known, 0, sizeof *known);
	context = AllocSetContextCreate(TopMemoryContext, "emogi source", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	known->text = graph->is_relation ? NULL : pstrdup(graph->text);
	known->columns = graph->columns != NULL ? pstrdup(graph->columns) : NULL;
	known->search_path = pstrdup(namespace_search_path);
	known->userid = GetUserId();
	known->nchanges = nchanges;
	known->source = *source;
	known->source.name = copyObject(source->name);
	known->source.graph = NULL;
	MemoryContextSwitchTo(old);
	known->context = context;
	source->known = (int) (known - known_sources) + 1;
}

/* Get the entry of a source; NULL if there is none, or the catalogs have changed since. */
static KnownSource *
entry_of(const EmogiSource *source)
{
	KnownSource *known = source->known > 0 ? &known_sources[source->known - 1] : NULL;

	return known != NULL &&
		is_valid(known, source->graph, source->wants_weight, emogi_catalog_changes_count()) ?
		known : NULL;
}

/* Does a snapshot see this transaction, which is running, as one that had ended? */
static bool
had_ended(const SeenBy *seen_by, TransactionId xid)
{
	if (!TransactionIdPrecedes(xid, seen_by->xmax))
		return false;
	for (uint32 i = 0; i < seen_by->nrunning; i++)
		if (seen_by->running[i] == xid)
			return false;
	return true;
}

/*
 * Does a snapshot see as ended all transactions that had ended? Subtransactions end with the
 * transactions that the snapshot lists.
 */
static bool
contains(Snapshot snapshot, const SeenBy *seen_by)
{
	if (snapshot->snapshot_type != SNAPSHOT_MVCC || snapshot->takenDuringRecovery ||
		TransactionIdPrecedes(snapshot->xmax, seen_by->xmax))
		return false;
	if (!TransactionIdPrecedes(snapshot->xmin, seen_by->xmax))
		return true;
	for (uint32 i = 0; i < snapshot->xcnt; i++)
		if (had_ended(seen_by, snapshot->xip[i]))
			return false;
	return true;
}

/*
 * Is it known that the active snapshot sees the relation of a source as it was resolved, and that
 * the relation has no children?
 */
bool
emogi_known_sources_are_seen(const EmogiSource *source)
{
	const KnownSource *known = entry_of(source);
	const Snapshot snapshot = GetActiveSnapshot();
	const SeenBy *seen_by = known != NULL ? &known->seen_by : NULL;

	return seen_by != NULL && seen_by->is_known &&
		(seen_by->with_names || !source->graph->reads_names) && contains(snapshot, seen_by) &&
		(!TransactionIdIsValid(seen_by->own) || seen_by->own != GetTopTransactionIdIfAny() ||
		 snapshot->curcid >= seen_by->command);
}

/* Note that the active snapshot sees the relation of a source, which has no children. */
void
emogi_known_sources_note_seen(const EmogiSource *source)
{
	KnownSource *known = entry_of(source);
	Snapshot	now;
	SeenBy	   *seen_by;

	if (known == NULL || RecoveryInProgress())
		return;
	/* as new as what the catalog caches have */
	now = GetNonHistoricCatalogSnapshot(InvalidOid);
	if (now->xcnt > MAX_RUNNING || now->takenDuringRecovery)
		return;
	seen_by = &known->seen_by;
	seen_by->with_names = source->graph->reads_names;
	seen_by->xmax = now->xmax;
	seen_by->nrunning = now->xcnt;
	memcpy(seen_by->running, now->xip, now->xcnt * sizeof(TransactionId));
	seen_by->own = GetTopTransactionIdIfAny();
	seen_by->command = GetCurrentCommandId(false);
	seen_by->is_known = true;
}
