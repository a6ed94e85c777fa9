/*
 * catalogs.c: access to the catalogs of Citus, and which tables are in them.
 *
 * They are read like system catalogs, without privilege checks: all but pg_dist_authinfo are public
 * anyway, and from that one a role only gets its own row (citus_conninfo.c). Columns are found by
 * name, because their positions differ between versions.
 */
#include "postgres.h"

#include <ctype.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "citus/catalogs.h"
#include "citus/citus.h"

/* The columns that are read. */
static const struct
{
	const char *catalog;
	const char *column;
	Oid			type;			/* InvalidOid = an enum */
}			columns[] = {
	{"pg_dist_partition", "logicalrelid", REGCLASSOID},
	{"pg_dist_shard", "logicalrelid", REGCLASSOID},
	{"pg_dist_shard", "shardid", INT8OID},
	{"pg_dist_shard", "shardstorage", CHAROID},
	{"pg_dist_placement", "placementid", INT8OID},
	{"pg_dist_placement", "shardid", INT8OID},
	{"pg_dist_placement", "shardstate", INT4OID},
	{"pg_dist_placement", "groupid", INT4OID},
	{"pg_dist_node", "nodeid", INT4OID},
	{"pg_dist_node", "groupid", INT4OID},
	{"pg_dist_node", "nodename", TEXTOID},
	{"pg_dist_node", "nodeport", INT4OID},
	{"pg_dist_node", "isactive", BOOLOID},
	{"pg_dist_node", "noderole", InvalidOid},
	{"pg_dist_local_group", "groupid", INT4OID},
};

/* Get the OID of a catalog; InvalidOid if it does not exist. */
Oid
emogi_citus_catalog(const char *name)
{
	return get_relname_relid(name, PG_CATALOG_NAMESPACE);
}

/* Check whether all catalogs of Citus exist and have the columns that are read. */
bool
emogi_citus_are_known(void)
{
	for (int i = 0; i < (int) lengthof(columns); i++)
	{
		const Oid	catalog = emogi_citus_catalog(columns[i].catalog);
		const AttrNumber attnum = OidIsValid(catalog) ? get_attnum(catalog, columns[i].column)
			: InvalidAttrNumber;
		const Oid	type = attnum > 0 ? get_atttype(catalog, attnum) : InvalidOid;

		if (!OidIsValid(type) ||
			(OidIsValid(columns[i].type) ? type != columns[i].type : !type_is_enum(type)))
			return false;
	}
	return OidIsValid(get_extension_oid("citus", true));
}

/* Scan all rows of an existing catalog. snapshot: NULL = the latest. */
EmogiCitusRows
emogi_citus_open(const char *catalog, Snapshot snapshot)
{
	EmogiCitusRows rows = {.rel = table_open(emogi_citus_catalog(catalog), AccessShareLock)};

	rows.scan = systable_beginscan(rows.rel, InvalidOid, false, snapshot, 0, NULL);
	return rows;
}

/* Scan the rows of an existing catalog by the value of a column, using an index if it exists. */
EmogiCitusRows
emogi_citus_open_some(const char *catalog, const char *index, const char *column,
					  RegProcedure equal, Datum value, Snapshot snapshot)
{
	EmogiCitusRows rows = {.rel = table_open(emogi_citus_catalog(catalog), AccessShareLock)};
	const Oid	by = emogi_citus_catalog(index);
	ScanKeyData key;

	ScanKeyInit(&key, get_attnum(RelationGetRelid(rows.rel), column), BTEqualStrategyNumber, equal,
				value);
	rows.scan = systable_beginscan(rows.rel, by, OidIsValid(by), snapshot, 1, &key);
	return rows;
}

/* Fetch the next row; false if there is none. */
bool
emogi_citus_next(EmogiCitusRows *rows)
{
	rows->row = systable_getnext(rows->scan);
	return HeapTupleIsValid(rows->row);
}

/*
 * Get a column of the current row, which must exist and not be NULL; a value by reference points
 * into the row.
 */
Datum
emogi_citus_column(const EmogiCitusRows *rows, const char *name)
{
	bool		isnull;
	Datum		value = heap_getattr(rows->row, get_attnum(RelationGetRelid(rows->rel), name),
									 RelationGetDescr(rows->rel), &isnull);

	if (isnull)
		elog(ERROR, "column \"%s\" of \"%s\" is NULL", name, RelationGetRelationName(rows->rel));
	return value;
}

/* End a scan. */
void
emogi_citus_close(EmogiCitusRows *rows)
{
	systable_endscan(rows->scan);
	table_close(rows->rel, AccessShareLock);
}

/* ---- tables of Citus ---- */

/* Check whether this database may have tables of Citus. */
bool
emogi_citus_may_have_tables(void)
{
	return OidIsValid(emogi_citus_catalog("pg_dist_partition"));
}

/* Check whether Citus keeps the rows of a table or partition in shards. */
bool
emogi_citus_is_table(Oid relid)
{
	const Oid	catalog = emogi_citus_catalog("pg_dist_partition");
	EmogiCitusRows rows;
	bool		is;

	if (!OidIsValid(catalog) || get_attnum(catalog, "logicalrelid") == InvalidAttrNumber ||
		!OidIsValid(get_extension_oid("citus", true)))
		return false;
	rows = emogi_citus_open_some("pg_dist_partition", "pg_dist_partition_logical_relid_index",
								 "logicalrelid", F_OIDEQ, ObjectIdGetDatum(relid), NULL);
	is = emogi_citus_next(&rows);
	emogi_citus_close(&rows);
	return is;
}

/* Check whether a table is one of the catalogs in which Citus records the locations of rows. */
bool
emogi_citus_is_catalog(Oid relid)
{
	static const char *const names[] = {"pg_dist_partition", "pg_dist_shard", "pg_dist_placement",
		"pg_dist_node"};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (emogi_citus_catalog(names[i]) == relid)
			return OidIsValid(relid);
	return false;
}

/*
 * Check whether a table is a shard. Citus rejects changes of shards by others, unless told
 * otherwise.
 */
bool
emogi_citus_is_shard(Oid relid)
{
	const char *name = get_rel_name(relid);
	const char *number = name != NULL ? strrchr(name, '_') : NULL;
	const Oid	catalog = emogi_citus_catalog("pg_dist_shard");
	EmogiCitusRows rows;
	bool		is;

	if (number == NULL || !isdigit((unsigned char) number[1]) || !OidIsValid(catalog) ||
		get_attnum(catalog, "shardid") == InvalidAttrNumber)
		return false;
	rows = emogi_citus_open_some("pg_dist_shard", "pg_dist_shard_shardid_index", "shardid",
								 F_INT8EQ, Int64GetDatum(strtoll(number + 1, NULL, 10)), NULL);
	is = emogi_citus_next(&rows);
	emogi_citus_close(&rows);
	return is;
}
