/*
 * loader.c: background worker that loads the graphs of emogi.prewarm in one database, and exits.
 *
 * It is connected as the bootstrap superuser, and reads each relation as its owner, in a
 * security-restricted operation, like REFRESH MATERIALIZED VIEW. Among user-defined queries it only
 * runs views whose graphs are shared by all users; other views are refused before they are read.
 * The database's search path is only used to find the relations of the list. Unqualified names in
 * functions of a view are looked up in pg_catalog; otherwise a role that can create functions in a
 * schema of that path could have one run as the view's owner.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "prewarm/prewarm.h"
#include "base/compat.h"
#include "base/sql_version.h"

/*
 * If transactions in progress have changed a table, its graph may temporarily not be sharable
 * (docs/design/cache.md, "Registration (rule R)"). Retry this often, one second apart.
 */
#define MAX_RETRIES 10
#define RETRY_MS 1000

PGDLLEXPORT void emogi_prewarm_loader_main(Datum arg);

/* Log that an entry is not loaded, and why. detail, hint: NULL = none. */
void
emogi_prewarm_warn(const EmogiPrewarmEntry *entry, int sqlstate, const char *why,
				   const char *detail, const char *hint)
{
	ereport(WARNING,
			(errcode(sqlstate),
			 errmsg("emogi.prewarm: the graph of \"%s\" of database \"%s\" is not loaded: %s",
					entry->text, entry->database, why),
			 detail != NULL ? errdetail("%s", detail) : 0,
			 hint != NULL ? errhint("%s", hint) : 0));
}

/*
 * Find the function emogi_prewarm in the schema of the extension. Raises 42704, and 55000 if the
 * extension has another version.
 */
static Oid
find_function(void)
{
	Oid			extension = get_extension_oid("emogi", true);
	Oid			found = InvalidOid;
	CatCList   *functions = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum("emogi_prewarm"));

	for (int i = 0; i < functions->n_members && OidIsValid(extension); i++)
	{
		Oid			function = ((Form_pg_proc) GETSTRUCT(&functions->members[i]->tuple))->oid;

		if (getExtensionOfObject(ProcedureRelationId, function) == extension)
			found = function;
	}
	ReleaseSysCacheList(functions);
	if (!OidIsValid(found))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension emogi does not exist in the database"),
				 errhint("Run CREATE EXTENSION emogi in the database.")));
	emogi_sql_version_require();
	return found;
}

/*
 * Find the relation of an entry by the search path with which sessions of the database start.
 * Raises 42P01.
 */
static Oid
find_relation(const EmogiPrewarmEntry *entry)
{
	Oid			relid = RangeVarGetRelid(makeRangeVar(entry->schema, entry->relation, -1), NoLock,
										 true);
	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist", entry->schema != NULL ?
						quote_qualified_identifier(entry->schema, entry->relation)
						: entry->relation)));
	return relid;
}

/* Get the owner of a relation. Raises 42P01 if it has been dropped. */
static Oid
owner_of(Oid relid)
{
	HeapTuple	row = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(row))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	owner = ((Form_pg_class) GETSTRUCT(row))->relowner;
	ReleaseSysCache(row);
	return owner;
}

/* Load the graph of an entry as the owner of its relation. */
static void
load(const EmogiPrewarmEntry *entry, EmogiPrewarmed *prewarmed)
{
	Oid			function = find_function();
	EmogiGraphArgument graph = {
		.text = entry->text,
		.is_relation = true,
		.relid = find_relation(entry),
		.columns = entry->columns
	};
	EmogiGraphKey wanted = {
		.direction = EMOGI_OUT,
		.weights = entry->ncolumns == 3 ? EMOGI_WEIGHTS_ANY : EMOGI_WEIGHTS_UNUSED
	};
	Oid			owner = owner_of(graph.relid);
	Oid			user;
	int			context;
	int			level;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(owner, context | SECURITY_RESTRICTED_OPERATION);
	level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	emogi_prewarm_graph(function, &graph, &wanted, EMOGI_KEEP_UNCHANGED, prewarmed);
	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
}

/* Load the graph of an entry in a transaction; return the error if that fails, otherwise NULL. */
static ErrorData *
try_entry(const EmogiPrewarmEntry *entry, EmogiPrewarmed *prewarmed)
{
	ErrorData  *error = NULL;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PG_TRY();
	{
		PushActiveSnapshot(GetTransactionSnapshot());
		load(entry, prewarmed);
		PopActiveSnapshot();
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(TopMemoryContext);
		error = CopyErrorData();
		FlushErrorState();
		AbortOutOfAnyTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(TopMemoryContext);
	return error;
}

/* Load the graph of an entry, or warn that it is not loaded. */
static void
load_entry(const EmogiPrewarmEntry *entry)
{
	EmogiPrewarmed prewarmed;
	ErrorData  *error;

	pgstat_report_activity(STATE_RUNNING, entry->text);
	for (int retry = 0; (error = try_entry(entry, &prewarmed)) != NULL; retry++)
	{
		if (error->hint == NULL || strcmp(error->hint, EMOGI_NOT_CACHEABLE_NOW) != 0 ||
			retry == MAX_RETRIES)
		{
			emogi_prewarm_warn(entry, error->sqlerrcode, error->message, error->detail,
							   error->hint);
			return;
		}
		FreeErrorData(error);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, RETRY_MS,
						 emogi_shared_wait_event(EMOGI_WAIT_PREWARM));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	ereport(LOG,
			(errmsg("emogi.prewarm: the graph of \"%s\" of database \"%s\" is loaded", entry->text,
					entry->database),
			 errdetail("%llu vertices, %llu edges, %llu bytes.",
					   (unsigned long long) prewarmed.nvertices,
					   (unsigned long long) prewarmed.nedges,
					   (unsigned long long) prewarmed.bytes)));
}

/* Override settings of the database or of all sessions that would prevent a shared graph. */
static void
set_settings(void)
{
	SetConfigOption("default_transaction_isolation", "read committed", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("emogi.enable_cache", "on", PGC_SUSET, PGC_S_OVERRIDE);
}

/* Main function of a loader. arg: the database; bgw_extra: its name in the list. */
void
emogi_prewarm_loader_main(Datum arg)
{
	List	   *entries;
	ListCell   *cell;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg), InvalidOid, 0);
	emogi_shared_require();
	pgstat_report_appname("emogi prewarm");
	MemoryContextSwitchTo(TopMemoryContext);
	set_settings();
	entries = emogi_prewarm_list();
	foreach(cell, entries)
		if (strcmp(((EmogiPrewarmEntry *) lfirst(cell))->database, MyBgworkerEntry->bgw_extra) == 0)
			load_entry(lfirst(cell));
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->prewarmed = MyDatabaseId;
	LWLockRelease(emogi_shared->lock);
	proc_exit(0);
}
