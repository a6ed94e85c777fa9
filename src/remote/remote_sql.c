/*
 * remote_sql.c: the SQL that is sent to servers
 *
 * Names are always quoted: another version may have other key words.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "remote/remote_internal.h"
#include "remote/pack_format.h"
#include "remote/version_stamp.h"

#define VERSION_WITH_JIT 110000

/* Append a quoted identifier. */
static void
write_name(StringInfo sql, const char *name)
{
	appendStringInfoChar(sql, '"');
	for (; *name != '\0'; name++)
	{
		if (*name == '"')
			appendStringInfoChar(sql, '"');
		appendStringInfoChar(sql, *name);
	}
	appendStringInfoChar(sql, '"');
}

/* Append the qualified name of a remote table. */
static void
write_relation(StringInfo sql, const EmogiRemoteTable *table)
{
	write_name(sql, table->schema);
	appendStringInfoChar(sql, '.');
	write_name(sql, table->relation);
}

/*
 * Get the statement that makes queries fail if row security would hide rows: a cached graph must be
 * complete.
 */
const char *
emogi_remote_sql_all_rows(void)
{
	return "SET LOCAL row_security = off";
}

/*
 * Get the statements that begin a connection's transaction, with the settings of postgres_fdw,
 * which give text the same meaning on both servers. JIT is off, because the planner overestimates
 * the cost of a COPY and would compile it. Citus hides shards from pg_class unless told otherwise.
 * exports: export the snapshot; if a snapshot was exported before, it is imported instead. An
 * importing connection limits its lock waits: a lock that it waits for may be requested by a
 * session that waits for the first connection's lock, and that wait would never end.
 *
 * All settings end with the transaction: the session may be kept for a call that needs others, or
 * belong to a pooler that passes it on to other clients.
 */
char *
emogi_remote_sql_begin(const EmogiRemoteServer *server, int version, bool exports)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
	if (server->snapshot != NULL)
		appendStringInfo(&sql, "; SET TRANSACTION SNAPSHOT %s",
						 quote_literal_cstr(server->snapshot));
	appendStringInfoString(&sql, "; SET LOCAL search_path = pg_catalog; SET LOCAL timezone = "
								 "'GMT'; SET LOCAL datestyle = ISO;"
						   " SET LOCAL intervalstyle = postgres; SET LOCAL extra_float_digits = 3; "
						   "SET LOCAL idle_in_transaction_session_timeout = 0");
	if (server->will_be_cached)
		appendStringInfo(&sql, "; %s", emogi_remote_sql_all_rows());
	if (server->snapshot != NULL)
		appendStringInfoString(&sql, "; SET LOCAL lock_timeout = '2s'");
	if (version >= VERSION_WITH_JIT)
		appendStringInfoString(&sql, "; SET LOCAL jit = off; SET LOCAL enable_tidscan = on");
	if (server->node != NULL)
		appendStringInfoString(&sql, "; SET LOCAL citus.override_table_visibility = off");
	if (exports)
		appendStringInfoString(&sql, "; SELECT pg_catalog.pg_export_snapshot()");
	return sql.data;
}

/*
 * Append the SELECT of a table's columns, for all rows; followed by the row's tableoid if
 * with_table.
 */
static void
write_select(StringInfo sql, const EmogiRemoteTable *table, bool with_table)
{
	for (int i = 0; i < table->ncolumns; i++)
	{
		appendStringInfoString(sql, i == 0 ? "SELECT " : ", ");
		write_name(sql, table->columns[i].remote_name);
	}
	appendStringInfoString(sql, with_table ? ", tableoid FROM " : " FROM ");
	write_relation(sql, table);
}

/* Get the SELECT of a table's columns. */
char *
emogi_remote_sql_select(const EmogiRemoteTable *table)
{
	StringInfoData sql;

	initStringInfo(&sql);
	write_select(&sql, table, false);
	return sql.data;
}

/*
 * A function with this name and these argument types, p in schema n, that belongs to the extension
 * emogi and that the role may execute.
 */
#define FROM_EMOGI(name, types) \
	" FROM pg_catalog.pg_extension e, pg_catalog.pg_depend d, pg_catalog.pg_proc p," \
	" pg_catalog.pg_namespace n WHERE e.extname = 'emogi'" \
	" AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass" \
	" AND d.refobjid = e.oid AND d.deptype = 'e'" \
	" AND d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid" \
	" AND n.oid = p.pronamespace" \
	" AND p.proname = '" name "' AND p.proargtypes = '" types "'::pg_catalog.oidvector" \
	" AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')" \
	" AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')"

/* Get the query for the schema of the stamp function; it returns no row if there is none. */
char *
emogi_remote_sql_find_stamp_function(void)
{
	return pstrdup("SELECT n.nspname" FROM_EMOGI(EMOGI_STAMP_FUNCTION, "2205 1009"));
}

/*
 * Get the query for the stamps of all tables of a server, one row per table, in their order: the
 * stamp, the table's OID, and the OIDs of its columns' types, separated by blanks. They are NULL
 * for a table that does not exist, or whose schema is not accessible.
 */
char *
emogi_remote_sql_stamps(const EmogiRemoteServer *server)
{
	StringInfoData sql;
	ListCell   *cell;
	int			number = 0;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT pg_catalog.encode(");
	write_name(&sql, server->stamp_schema);
	appendStringInfoString(&sql, "." EMOGI_STAMP_FUNCTION
						   "(c.oid::pg_catalog.regclass, t.c), 'hex'), c.oid,"
						   " (SELECT pg_catalog.string_agg("
						   "a.atttypid::pg_catalog.int8::pg_catalog.text, ' ' ORDER BY u.i)"
						   " FROM pg_catalog.unnest(t.c) WITH ORDINALITY AS u(name, i),"
						   " pg_catalog.pg_attribute a"
						   " WHERE a.attrelid = c.oid AND a.attname = u.name AND a.attnum > 0 AND "
						   "NOT a.attisdropped)"
						   " FROM (VALUES ");
	foreach(cell, server->tables)
	{
		const EmogiRemoteTable *table = lfirst(cell);

		appendStringInfo(&sql, "%s(%d, %s::pg_catalog.text, %s::pg_catalog.text, ARRAY[",
						 number == 0 ? "" : ", ", number,
						 quote_literal_cstr(table->schema), quote_literal_cstr(table->relation));
		for (int i = 0; i < table->ncolumns; i++)
			appendStringInfo(&sql, "%s%s", i == 0 ? "" : ", ",
							 quote_literal_cstr(table->columns[i].remote_name));
		appendStringInfoString(&sql, "]::pg_catalog.text[])");
		number++;
	}
	appendStringInfoString(&sql, ") AS t(n, s, r, c) LEFT JOIN (pg_catalog.pg_class c JOIN "
								 "pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND "
								 "pg_catalog.has_schema_privilege(n.oid, 'USAGE'))"
						   " ON n.nspname = t.s AND c.relname = t.r ORDER BY t.n");
	return sql.data;
}

/*
 * Get the query for a table's properties that determine its ranges: whether it has pages that can
 * be read by TID and the role has the permission, whether it has children, its pages, its estimated
 * rows, its OID, and the schema of an emogi that packs them. A function counts only if it belongs
 * to the extension emogi: anybody could create another of the same name, and it would run as this
 * role. Row security is left to SELECT. A table with the Citus trigger has no pages of its own: its
 * rows are in shards, which Citus reads on that server.
 */
char *
emogi_remote_sql_measure(const EmogiRemoteTable *table)
{
	StringInfoData name;

	initStringInfo(&name);
	write_relation(&name, table);
	return psprintf("SELECT c.relkind IN ('r', 'm') AND c.relam = 2 AND "
					"pg_catalog.has_table_privilege(c.oid, 'SELECT')"
					" AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger g, pg_catalog.pg_proc f"
					" WHERE g.tgrelid = c.oid AND f.oid = g.tgfoid AND"
					" f.proname = 'citus_truncate_trigger'), c.relhassubclass,"
					" pg_catalog.pg_relation_size(c.oid) / "
					"pg_catalog.current_setting('block_size')::pg_catalog.int8, c.reltuples, c.oid,"
					" (SELECT n.nspname" FROM_EMOGI(EMOGI_PACK_FUNCTION, "2205 1009 20 20")
					" AND pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE') AND NOT "
					"pg_catalog.row_security_active(c.oid))"
					" FROM pg_catalog.pg_class c WHERE c.oid = %s::pg_catalog.regclass",
					quote_literal_cstr(name.data));
}

/* Get the name of a type that can be grouped. */
static const char *
grouped_type(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return "int2";
		case INT4OID:
			return "int4";
		case INT8OID:
			return "int8";
		case FLOAT4OID:
			return "float4";
		default:
			return "float8";
	}
}

/*
 * Get the COPY of a range of a table whose rows are sent as arrays, which takes the server half the
 * time of single rows. All arrays of a row have the same order, including NULL. A column of a
 * domain is cast to its base type. FROM ONLY, because the table had no children when it was
 * measured: of a child created since then, only the rows on these pages would be read. The last
 * column is the OID of the table that the name now refers to.
 */
static char *
copy_groups(const EmogiRemoteTable *table, uint64 range)
{
	const EmogiRemoteRanges *ranges = &table->ranges;
	const uint64 first = range * ranges->length;
	const uint64 end = Min(first + ranges->length, ranges->npages);
	StringInfoData name;
	StringInfoData sql;

	initStringInfo(&name);
	write_relation(&name, table);
	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "COPY (SELECT a.* FROM pg_catalog.generate_series("
					 UINT64_FORMAT "::pg_catalog.int8, " INT64_FORMAT ", %d) AS p(n),"
					 " LATERAL (SELECT ",
					 first, (int64) end - 1, EMOGI_GROUP_PAGES);
	for (int i = 0; i < table->ncolumns; i++)
	{
		appendStringInfo(&sql, "%spg_catalog.array_agg(r.", i == 0 ? "" : ", ");
		write_name(&sql, table->columns[i].remote_name);
		appendStringInfo(&sql, "::pg_catalog.%s)", grouped_type(table->columns[i].remote_type));
	}
	appendStringInfo(&sql, ", %s::pg_catalog.regclass::pg_catalog.oid FROM ONLY %s",
					 quote_literal_cstr(name.data), name.data);
	appendStringInfo(&sql, " AS r WHERE r.ctid >= ('(' || p.n || ',0)')::pg_catalog.tid AND r.ctid "
						   "< ('(' || (p.n + %d) || ',0)')::pg_catalog.tid) AS a)"
					 " TO STDOUT (FORMAT binary)", EMOGI_GROUP_PAGES);
	return sql.data;
}

/*
 * Get the COPY of a range of a table whose rows are packed. The function is in the target list, so
 * that its packs are sent as they are made. All arguments are cast to its argument types, so that
 * no other function of the same name matches better.
 */
static char *
copy_packs(const EmogiRemoteTable *table, uint64 range)
{
	const EmogiRemoteRanges *ranges = &table->ranges;
	const uint64 first = range * ranges->length;
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "COPY (SELECT ");
	write_name(&sql, table->packer);
	appendStringInfo(&sql, "." EMOGI_PACK_FUNCTION "(%u::pg_catalog.oid::pg_catalog.regclass, "
												   "ARRAY[", table->oid);
	for (int i = 0; i < table->ncolumns; i++)
		appendStringInfo(&sql, "%s%s", i == 0 ? "" : ", ",
						 quote_literal_cstr(table->columns[i].remote_name));
	appendStringInfo(&sql,
					 "]::pg_catalog.text[], " UINT64_FORMAT "::pg_catalog.int8, "
					 UINT64_FORMAT "::pg_catalog.int8)) TO STDOUT (FORMAT binary)", first,
					 Min(ranges->length, ranges->npages - first));
	return sql.data;
}

/*
 * Get the COPY of a range of a table row by row. The last range has no upper bound: it includes
 * rows that children of the table have on later pages.
 */
static char *
copy_rows(const EmogiRemoteTable *table, uint64 range)
{
	const EmogiRemoteRanges *ranges = &table->ranges;
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "COPY (");
	write_select(&sql, table, table->oid != 0);
	if (ranges->count > 1)
		appendStringInfo(&sql, " WHERE ctid >= '(" UINT64_FORMAT ",0)'::pg_catalog.tid",
						 range * ranges->length);
	if (range + 1 < ranges->count)
		appendStringInfo(&sql, " AND ctid < '(" UINT64_FORMAT ",0)'::pg_catalog.tid",
						 (range + 1) * ranges->length);
	appendStringInfo(&sql, ") TO STDOUT%s", table->is_text ? "" : " (FORMAT binary)");
	return sql.data;
}

/* Get the COPY of a range of a table. */
char *
emogi_remote_sql_copy(const EmogiRemoteTable *table, uint64 range)
{
	if (table->packer != NULL)
		return copy_packs(table, range);
	return table->is_grouped ? copy_groups(table, range) : copy_rows(table, range);
}
