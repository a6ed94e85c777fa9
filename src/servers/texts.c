/*
 * texts.c: the SQL that servers are sent.
 *
 * Names there are quoted always: another version may have other key words.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "servers/far.h"

/* Write a name between quotes. */
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

/* Write the name of a table there, with its schema. */
static void
write_relation(StringInfo sql, const EmogiFarTable *table)
{
	write_name(sql, table->schema);
	appendStringInfoChar(sql, '.');
	write_name(sql, table->relation);
}

/*
 * Get what begins a connection's transaction, with the settings that postgres_fdw sets: by them text means the same there and here.
 * exports: the snapshot is named, for others to import; snapshot: one that is imported, or NULL.
 */
char *
emogi_texts_begin(bool exports, const char *snapshot)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
	if (snapshot != NULL)
		appendStringInfo(&sql, "; SET TRANSACTION SNAPSHOT %s", quote_literal_cstr(snapshot));
	appendStringInfoString(&sql, "; SET search_path = pg_catalog; SET timezone = 'GMT'; SET datestyle = ISO; SET intervalstyle = postgres;"
						   " SET extra_float_digits = 3");
	if (exports)
		appendStringInfoString(&sql, "; SELECT pg_catalog.pg_export_snapshot()");
	return sql.data;
}

/* Get the SELECT of a table's columns, as a whole. */
char *
emogi_texts_select(const EmogiFarTable *table)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < table->ncolumns; i++)
	{
		appendStringInfoString(&sql, i == 0 ? "SELECT " : ", ");
		write_name(&sql, table->columns[i].far_name);
	}
	appendStringInfoString(&sql, " FROM ");
	write_relation(&sql, table);
	return sql.data;
}

/* Get the query of what ranges are made by: whether the table has pages that TIDs lead to, how many, and about how many rows. */
char *
emogi_texts_measure(const EmogiFarTable *table)
{
	StringInfoData name;

	initStringInfo(&name);
	write_relation(&name, table);
	return psprintf("SELECT c.relkind IN ('r', 'm') AND c.relam = 2,"
					" pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::pg_catalog.int8, c.reltuples"
					" FROM pg_catalog.pg_class c WHERE c.oid = %s::pg_catalog.regclass", quote_literal_cstr(name.data));
}

/* Get the COPY of a range of a table. The last one has no end: rows that children of the table have on pages beyond are in it. */
char *
emogi_texts_copy(const EmogiFarTable *table, uint64 range)
{
	const EmogiFarRanges *ranges = &table->ranges;
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "COPY (%s", emogi_texts_select(table));
	if (ranges->count > 1)
		appendStringInfo(&sql, " WHERE ctid >= '(" UINT64_FORMAT ",0)'::pg_catalog.tid", range * ranges->length);
	if (range + 1 < ranges->count)
		appendStringInfo(&sql, " AND ctid < '(" UINT64_FORMAT ",0)'::pg_catalog.tid", (range + 1) * ranges->length);
	appendStringInfo(&sql, ") TO STDOUT%s", table->is_text ? "" : " (FORMAT binary)");
	return sql.data;
}
