/*
 * remote_tables.c: the foreign tables and Citus tables that are read over emogi's own connections
 *
 * Only foreign tables of postgres_fdw are read in this way. None is read if a call might have to
 * see what a connection of postgres_fdw or Citus sees and ours does not:
 *
 * - The transaction has changed rows there, which are not committed. Then it holds a writer's lock
 *   on a foreign table until its end, after INSERT, COPY, TRUNCATE or tuple routing to a partition.
 *   The changes may be visible through another foreign table, by a trigger there or under another
 *   name: therefore a writer's lock on any foreign table counts. The same applies to Citus tables;
 *   and a lock on a catalog of Citus shows that shards are being created or moved.
 * - It is REPEATABLE READ or SERIALIZABLE: all its reads share one remote snapshot.
 * - Citus has sent the call to a node as part of a query: the changes of its transaction belong to
 *   other sessions.
 * - The call also reads names of edges, by postgres_fdw or Citus: they must belong to the rows that
 *   the graph was built from.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "citus/citus.h"
#include "remote/remote_internal.h"
#include "base/compat.h"
#include "base/limits.h"
#include "base/settings.h"

/*
 * Locks of transactions that write or may write. ShareLock is that of REINDEX, by which Citus has
 * locked indexes of shards: nothing would end our wait for our own transaction there. Foreign
 * tables have no such lock.
 */
#define WRITER_LOCKS \
	(LOCKBIT_ON(RowExclusiveLock) | LOCKBIT_ON(ShareLock) | LOCKBIT_ON(ShareRowExclusiveLock) | \
	 LOCKBIT_ON(ExclusiveLock) | LOCKBIT_ON(AccessExclusiveLock))

/* ---- changes of the transaction ---- */

/* Tables on which the transaction holds a writer's lock; valid during one check. */
static Oid *locked;
static int	nlocked;
static int	max_locked;

/* Add a table; the array has room for as many as the previous pass has counted. */
static void
note_locked(Oid relid)
{
	if (nlocked < max_locked)
		locked[nlocked] = relid;
	nlocked++;
}

/*
 * May a relation have remote rows, or determine where rows are? A relation that the transaction has
 * dropped counts, because nothing is known about it.
 */
static bool
may_be_remote(Oid relid)
{
	const char	kind = get_rel_relkind(relid);

	return kind == RELKIND_FOREIGN_TABLE || kind == '\0' || emogi_citus_is_catalog(relid) ||
		emogi_citus_is_table(relid) || emogi_citus_is_shard(relid);
}

/* May the transaction have uncommitted changes of remote rows? */
static bool
may_have_changed(void)
{
	bool		found = false;

	max_locked = 64;
	for (;;)
	{
		locked = palloc(max_locked * sizeof(Oid));
		nlocked = 0;
		emogi_compat_each_lock(WRITER_LOCKS, note_locked);
		if (nlocked <= max_locked)
			break;
		pfree(locked);
		max_locked = nlocked;
	}
	for (int i = 0; i < nlocked && !found; i++)
		found = may_be_remote(locked[i]);
	pfree(locked);
	return found;
}

/* ---- permissions ---- */

/* Is a foreign-data wrapper postgres_fdw, under any name? */
static bool
is_postgres_fdw(Oid wrapper)
{
	HeapTuple	tuple =
		SearchSysCache1(PROCOID, ObjectIdGetDatum(GetForeignDataWrapper(wrapper)->fdwhandler));
	bool		is = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	for (int i = 0; i < 2; i++)
	{
		bool		isnull;
		Datum		datum = SysCacheGetAttr(PROCOID, tuple, i == 0 ? Anum_pg_proc_prosrc :
											Anum_pg_proc_probin, &isnull);
		const char *value = isnull ? "" : TextDatumGetCString(datum);

		is = strcmp(value, i == 0 ? "postgres_fdw_handler" : "$libdir/postgres_fdw") == 0;
		if (!is)
			break;
	}
	ReleaseSysCache(tuple);
	return is;
}

/* Get the names of the columns of a source; return their number. */
static int
list_columns(const EmogiSource *source, const char **names)
{
	const AttrNumber columns[EMOGI_REMOTE_MAX_COLUMNS] = {source->src, source->dst, source->weight,
														   source->reverse};
	int			count = 0;

	for (int i = 0; i < EMOGI_REMOTE_MAX_COLUMNS; i++)
		if (columns[i] > 0)
			names[count++] = get_attname(source->relid, columns[i], false);
	return count;
}

/* Is a column of a foreign table stored on the server, not computed here? */
static bool
is_stored(Relation rel, const char *name)
{
	return emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel),
												get_attnum(RelationGetRelid(rel), name) - 1));
}

/*
 * May a foreign table be read over emogi's own connections? Raises 42704 if the caller has no user
 * mapping.
 */
static bool
may_read(const EmogiSource *source, Oid relid)
{
	const ForeignServer *server = GetForeignServer(GetForeignTable(relid)->serverid);
	const char *names[EMOGI_REMOTE_MAX_COLUMNS];
	const int	count = list_columns(source, names);
	Relation	rel;
	bool		may = true;

	if (!is_postgres_fdw(server->fdwid) ||
		!emogi_connection_is_allowed(GetUserMapping(GetUserId(), server->serverid)))
		return false;
	rel = relation_open(relid, NoLock);
	for (int i = 0; i < count; i++)
		may = may && is_stored(rel, names[i]);
	relation_close(rel, NoLock);
	return may;
}

/* Has the transaction changed an existing row of a catalog? */
static bool
is_own_row(int cache, Oid oid)
{
	HeapTuple	row = SearchSysCache1(cache, ObjectIdGetDatum(oid));
	const bool	is_own = !HeapTupleIsValid(row) ||
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data));

	if (HeapTupleIsValid(row))
		ReleaseSysCache(row);
	return is_own;
}

/*
 * May the transaction have changed what a Citus table's rows are found and read by, without a lock
 * on a table that shows it: the name of its schema, the role, the labels of an enum? Sessions on
 * nodes would not see that.
 */
static bool
may_have_renamed(const EmogiSource *source, Oid relid)
{
	const char *names[EMOGI_REMOTE_MAX_COLUMNS];
	const int	count = list_columns(source, names);
	bool		may = false;

	if (!FullTransactionIdIsValid(GetTopFullTransactionIdIfAny()))
		return false;
	for (int i = 0; i < count; i++)
		may |= get_atttype(relid, get_attnum(relid, names[i])) >= FirstNormalObjectId;
	return may || is_own_row(NAMESPACEOID, get_rel_namespace(relid)) ||
		is_own_row(AUTHOID, GetUserId());
}

/*
 * May the role read all rows of a partition that it has not named? The node checks permissions on
 * the partition, not on the named table.
 */
static bool
may_enter(const EmogiSource *source, Oid relid)
{
	return relid == source->relid ||
		(pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
		 check_enable_rls(relid, InvalidOid, true) != RLS_ENABLED);
}

/* Can the role log in at all? */
static bool
can_login(void)
{
	HeapTuple	row = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	const bool	can = HeapTupleIsValid(row) && ((Form_pg_authid) GETSTRUCT(row))->rolcanlogin;

	if (HeapTupleIsValid(row))
		ReleaseSysCache(row);
	return can;
}

/* May the shards of Citus tables be read over emogi's own connections? If not, Citus reads them. */
static bool
may_read_shards(const EmogiSource *source, List *relids)
{
	List	   *shards;
	ListCell   *cell;

	if (emogi_citus_is_inside() || !can_login())
		return false;
	foreach(cell, relids)
		if (!may_enter(source, lfirst_oid(cell)) || may_have_renamed(source, lfirst_oid(cell)))
			return false;
	return emogi_citus_list_shards(relids, &shards);
}

/*
 * Are the rows of a locked relation in shards? Those of a partitioned table are in its partitions,
 * which are Citus tables themselves.
 */
static bool
is_in_shards(Oid relid)
{
	return get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE && emogi_citus_is_table(relid);
}

/*
 * Divide a locked relation, its partitions and its children into heaps, and foreign tables and
 * Citus tables that are read over emogi's own connections. Return false if there are none of the
 * latter, or if something else must be read by the executor.
 */
bool
emogi_remote_list(const EmogiSource *source, List *relids, List **heaps, List **elsewhere)
{
	List	   *foreign = NIL;
	List	   *in_shards = NIL;
	List	   *others = NIL;
	ListCell   *cell;

	*heaps = *elsewhere = NIL;
	if (emogi_limits_server_connections() == 0 || (source->graph->reads_names && source->edge > 0))
		return false;
	foreach(cell, relids)
	{
		const Oid	relid = lfirst_oid(cell);

		if (get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE)
			foreign = lappend_oid(foreign, relid);
		else if (is_in_shards(relid))
			in_shards = lappend_oid(in_shards, relid);
		else
			others = lappend_oid(others, relid);
	}
	if ((foreign == NIL && in_shards == NIL) || IsolationUsesXactSnapshot() || may_have_changed() ||
		!emogi_heap_scan_list(source, others, heaps))
		return false;
	foreach(cell, foreign)
		if (!may_read(source, lfirst_oid(cell)))
			return false;
	if (in_shards != NIL && !may_read_shards(source, in_shards))
		return false;
	*elsewhere = list_concat(foreign, in_shards);
	return true;
}

/* ---- remote tables ---- */

/* Get the value of an option, or a default. */
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

/* Describe a foreign table, or, for a Citus table, what all its shards have in common. */
static EmogiRemoteTable *
describe_table(const EmogiSource *source, Oid relid)
{
	const bool	is_foreign = get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE;
	EmogiRemoteTable *table = palloc0(sizeof *table);
	List	   *options = is_foreign ? GetForeignTable(relid)->options : NIL;
	const char *names[EMOGI_REMOTE_MAX_COLUMNS];

	table->relid = relid;
	table->name = get_rel_name(relid);
	table->schema = option_or(options, "schema_name", get_namespace_name(get_rel_namespace(relid)));
	table->relation = option_or(options, "table_name", table->name);
	table->ncolumns = list_columns(source, names);
	for (int i = 0; i < table->ncolumns; i++)
	{
		EmogiRemoteColumn *column = &table->columns[i];
		const AttrNumber attnum = get_attnum(relid, names[i]);
		Oid			collation;

		column->name = names[i];
		column->remote_name = option_or(is_foreign ? GetForeignColumnOptions(relid, attnum) : NIL,
										"column_name", names[i]);
		get_atttypetypmodcoll(relid, attnum, &column->type, &column->typmod, &collation);
		column->base = getBaseType(column->type);
	}
	return table;
}

/*
 * Append the mapping of a local table to its remote table: names and types of all columns, whether
 * or not they are read. A shard has its table's.
 */
void
emogi_remote_tables_write_layout(StringInfo bytes, const EmogiRemoteTable *table)
{
	const bool	is_foreign = get_rel_relkind(table->relid) == RELKIND_FOREIGN_TABLE;
	Relation	rel = relation_open(table->relid, NoLock);

	appendStringInfo(bytes, "%s%c%s%c%u%c", table->schema, '\0', table->relation, '\0',
					 table->relid, '\0');
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		const Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), i);

		if (attribute->attisdropped)
			continue;
		appendStringInfo(bytes, "%s%c%s%c%u %d%c", NameStr(attribute->attname), '\0',
						 option_or(is_foreign ? GetForeignColumnOptions(table->relid, i + 1) : NIL,
								   "column_name", NameStr(attribute->attname)), '\0',
						 attribute->atttypid, attribute->atttypmod, '\0');
	}
	relation_close(rel, NoLock);
}

/* Find a foreign server in a list, or add it. Raises 42704 if the caller has no user mapping. */
static EmogiRemoteServer *
find_server(List **servers, Oid serverid)
{
	EmogiRemoteServer *server;
	const ForeignServer *foreign;
	const UserMapping *user;
	ListCell   *cell;

	foreach(cell, *servers)
		if (((EmogiRemoteServer *) lfirst(cell))->serverid == serverid)
			return lfirst(cell);
	foreign = GetForeignServer(serverid);
	user = GetUserMapping(GetUserId(), serverid);
	server = palloc0(sizeof *server);
	server->name = foreign->servername;
	server->serverid = serverid;
	server->options = list_concat_copy(foreign->options, user->options);
	server->must_use_password = emogi_connection_needs_password(user);
	*servers = lappend(*servers, server);
	return server;
}

/* Find a node in a list of servers, or add it. */
static EmogiRemoteServer *
find_node(List **servers, const EmogiCitusNode *node)
{
	ListCell   *cell;

	foreach(cell, *servers)
		if (((EmogiRemoteServer *) lfirst(cell))->node == node)
			return lfirst(cell);
	*servers = lappend(*servers, emogi_citus_nodes_make_server(node));
	return llast(*servers);
}

/*
 * Add the nodes of Citus tables, with the shards to be read there, to a list of servers. Raises
 * 40001 if they can no longer be read.
 */
static List *
add_nodes(const EmogiSource *source, List *in_shards, List *servers)
{
	List	   *shards;
	ListCell   *cell;

	if (!emogi_citus_list_shards(in_shards, &shards))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("a shard of table \"%s\" was moved during the call",
						get_rel_name(linitial_oid(in_shards))),
				 errhint("Call the function again.")));
	foreach(cell, shards)
	{
		const EmogiCitusShard *shard = lfirst(cell);
		EmogiRemoteServer *server = find_node(&servers, shard->node);
		EmogiRemoteTable *table = describe_table(source, shard->relid);

		table->name = table->relation = shard->name;
		server->tables = lappend(server->tables, table);
	}
	return servers;
}

/*
 * Describe the servers of foreign tables and of Citus tables, with the tables to be read there;
 * returns a list of EmogiRemoteServer. Raises 42704 if the caller has no user mapping, 22023 for
 * invalid options of a node, and 40001.
 */
List *
emogi_remote_tables_describe(const EmogiSource *source, List *elsewhere)
{
	List	   *servers = NIL;
	List	   *in_shards = NIL;
	ListCell   *cell;

	foreach(cell, elsewhere)
	{
		const Oid	relid = lfirst_oid(cell);

		if (get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE)
		{
			EmogiRemoteServer *server = find_server(&servers, GetForeignTable(relid)->serverid);

			server->tables = lappend(server->tables, describe_table(source, relid));
		}
		else
			in_shards = lappend_oid(in_shards, relid);
	}
	return in_shards != NIL ? add_nodes(source, in_shards, servers) : servers;
}
