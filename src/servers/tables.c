/*
 * tables.c: the foreign tables that are read by connections of our own.
 *
 * These are postgres_fdw's, unless a call may have to see what a connection of postgres_fdw sees, and ours do not:
 *
 * - The transaction has changed rows there, which it has not committed. Then it holds the lock of a writer on a foreign table to its end, be
 *   it by INSERT, COPY, TRUNCATE or a row that was routed to a partition. What was changed may be seen by way of another foreign table,
 *   through a trigger there or under another name: so a writer's lock on any foreign table counts.
 * - It is REPEATABLE READ or SERIALIZABLE: all its reads have one snapshot there.
 * - The call reads names of edges, too, by postgres_fdw: they are to be of the rows that the graph was made of.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "servers/far.h"
#include "server/compat.h"
#include "server/settings.h"

/* Locks of those who write, and of those who may. */
#define WRITER_LOCKS (LOCKBIT_ON(RowExclusiveLock) | LOCKBIT_ON(ShareRowExclusiveLock) | LOCKBIT_ON(ExclusiveLock) | LOCKBIT_ON(AccessExclusiveLock))

/* ---- what the transaction has changed ---- */

/* Tables that the transaction holds a writer's lock on; in memory of one look. */
static Oid *locked;
static int	nlocked;
static int	most_locked;

/* Note a table; there is no room for more than that of the look before. */
static void
note_locked(Oid relid)
{
	if (nlocked < most_locked)
		locked[nlocked] = relid;
	nlocked++;
}

/* May the transaction have changed rows of a foreign table, which it has not committed? One that it has dropped since is not known to be something else. */
static bool
may_have_changed_foreign(void)
{
	bool		found = false;

	most_locked = 64;
	for (;;)
	{
		locked = palloc(most_locked * sizeof(Oid));
		nlocked = 0;
		emogi_compat_each_lock(WRITER_LOCKS, note_locked);
		if (nlocked <= most_locked)
			break;
		pfree(locked);
		most_locked = nlocked;
	}
	for (int i = 0; i < nlocked && !found; i++)
		found = get_rel_relkind(locked[i]) == RELKIND_FOREIGN_TABLE || get_rel_relkind(locked[i]) == '\0';
	pfree(locked);
	return found;
}

/* ---- whose they are ---- */

/* Is a foreign-data wrapper postgres_fdw, under whatever name? */
static bool
is_postgres_fdw(Oid wrapper)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(GetForeignDataWrapper(wrapper)->fdwhandler));
	bool		is = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	for (int i = 0; i < 2; i++)
	{
		bool		isnull;
		Datum		datum = SysCacheGetAttr(PROCOID, tuple, i == 0 ? Anum_pg_proc_prosrc : Anum_pg_proc_probin, &isnull);
		const char *value = isnull ? "" : TextDatumGetCString(datum);

		is = strcmp(value, i == 0 ? "postgres_fdw_handler" : "$libdir/postgres_fdw") == 0;
		if (!is)
			break;
	}
	ReleaseSysCache(tuple);
	return is;
}

/* Get the names of the columns of a Source; an end without. */
static int
list_columns(const EmogiSource *source, const char **names)
{
	const AttrNumber columns[EMOGI_FAR_MOST_COLUMNS] = {source->src, source->dst, source->weight, source->reverse};
	int			count = 0;

	for (int i = 0; i < EMOGI_FAR_MOST_COLUMNS; i++)
		if (columns[i] > 0)
			names[count++] = get_attname(source->relid, columns[i], false);
	return count;
}

/* Is a column of a foreign table the server's, and not computed here? */
static bool
is_stored(Relation rel, const char *name)
{
	return emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel), get_attnum(RelationGetRelid(rel), name) - 1));
}

/* May a foreign table be read by connections of our own? Raises 42704 where the caller has no user mapping. */
static bool
may_read(const EmogiSource *source, Oid relid)
{
	const ForeignServer *server = GetForeignServer(GetForeignTable(relid)->serverid);
	const char *names[EMOGI_FAR_MOST_COLUMNS];
	const int	count = list_columns(source, names);
	Relation	rel;
	bool		may = true;

	if (!is_postgres_fdw(server->fdwid) || !emogi_connection_may(GetUserMapping(GetUserId(), server->serverid)))
		return false;
	rel = relation_open(relid, NoLock);
	for (int i = 0; i < count; i++)
		may = may && is_stored(rel, names[i]);
	relation_close(rel, NoLock);
	return may;
}

/*
 * Divide a relation, its partitions and its children, which are locked, into heaps and foreign tables that are read by connections of our
 * own. False when there is none of these, or something else that the executor must read.
 */
bool
emogi_servers_list(const EmogiSource *source, List *relids, List **heaps, List **foreign)
{
	List	   *others = NIL;
	ListCell   *cell;

	*heaps = *foreign = NIL;
	if (emogi_server_connections == 0 || (source->graph->reads_names && source->edge > 0))
		return false;
	foreach(cell, relids)
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			*foreign = lappend_oid(*foreign, lfirst_oid(cell));
		else
			others = lappend_oid(others, lfirst_oid(cell));
	}
	if (*foreign == NIL || IsolationUsesXactSnapshot() || may_have_changed_foreign() || !emogi_heap_scan_list(source, others, heaps))
		return false;
	foreach(cell, *foreign)
		if (!may_read(source, lfirst_oid(cell)))
			return false;
	return true;
}

/* ---- what is read there ---- */

/* Get the value of an option, or what it is without. */
static const char *
option_or(List *options, const char *name, const char *otherwise)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, name) == 0)
			return pstrdup(defGetString(option));
	}
	return otherwise;
}

/* Describe a foreign table as it is here. */
static EmogiFarTable *
describe_table(const EmogiSource *source, Oid relid)
{
	EmogiFarTable *table = palloc0(sizeof *table);
	List	   *options = GetForeignTable(relid)->options;
	const char *names[EMOGI_FAR_MOST_COLUMNS];

	table->name = get_rel_name(relid);
	table->schema = option_or(options, "schema_name", get_namespace_name(get_rel_namespace(relid)));
	table->relation = option_or(options, "table_name", table->name);
	table->ncolumns = list_columns(source, names);
	for (int i = 0; i < table->ncolumns; i++)
	{
		EmogiFarColumn *column = &table->columns[i];
		const AttrNumber attnum = get_attnum(relid, names[i]);
		Oid			collation;

		column->name = names[i];
		column->far_name = option_or(GetForeignColumnOptions(relid, attnum), "column_name", names[i]);
		get_atttypetypmodcoll(relid, attnum, &column->type, &column->typmod, &collation);
		column->base = getBaseType(column->type);
	}
	return table;
}

/* Describe the servers of foreign tables, with what is read there; a list of EmogiFarServer. Raises 42704 where the caller has no user mapping. */
List *
emogi_tables_describe(const EmogiSource *source, List *foreign)
{
	List	   *servers = NIL;
	ListCell   *cell;

	foreach(cell, foreign)
	{
		const Oid	serverid = GetForeignTable(lfirst_oid(cell))->serverid;
		EmogiFarServer *server = NULL;
		ListCell   *known;

		foreach(known, servers)
			if (((EmogiFarServer *) lfirst(known))->server->serverid == serverid)
				server = lfirst(known);
		if (server == NULL)
		{
			server = palloc0(sizeof *server);
			server->server = GetForeignServer(serverid);
			server->user = GetUserMapping(GetUserId(), serverid);
			servers = lappend(servers, server);
		}
		server->tables = lappend(server->tables, describe_table(source, lfirst_oid(cell)));
	}
	return servers;
}
