/*
 * catalogs.c: rows of the catalogs of Citus.
 *
 * They are read as catalogs are, without asking for rights: all but pg_dist_authinfo may be read by everybody anyway, and of that one a role
 * comes by no row but its own (login.c). Columns are found by their names, for versions have them at different places.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "utils/lsyscache.h"

#include "citus/catalogs.h"

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

/* Get a catalog; InvalidOid when it is not there. */
Oid
emogi_citus_catalog(const char *name)
{
	return get_relname_relid(name, PG_CATALOG_NAMESPACE);
}

/* Are all catalogs of Citus there, with the columns that are read? */
bool
emogi_citus_are_known(void)
{
	for (int i = 0; i < (int) lengthof(columns); i++)
	{
		const Oid	catalog = emogi_citus_catalog(columns[i].catalog);
		const AttrNumber attnum = OidIsValid(catalog) ? get_attnum(catalog, columns[i].column) : InvalidAttrNumber;
		const Oid	type = attnum > 0 ? get_atttype(catalog, attnum) : InvalidOid;

		if (!OidIsValid(type) || (OidIsValid(columns[i].type) ? type != columns[i].type : !type_is_enum(type)))
			return false;
	}
	return OidIsValid(get_extension_oid("citus", true));
}

/* Look at all rows of a catalog, which is there. snapshot: NULL = the newest. */
EmogiCitusRows
emogi_citus_open(const char *catalog, Snapshot snapshot)
{
	EmogiCitusRows rows = {.rel = table_open(emogi_citus_catalog(catalog), AccessShareLock)};

	rows.scan = systable_beginscan(rows.rel, InvalidOid, false, snapshot, 0, NULL);
	return rows;
}

/* Look at the rows of a catalog that have a value in a column, both of which are there, by an index if that is there, too. */
EmogiCitusRows
emogi_citus_open_some(const char *catalog, const char *index, const char *column, RegProcedure equal, Datum value, Snapshot snapshot)
{
	EmogiCitusRows rows = {.rel = table_open(emogi_citus_catalog(catalog), AccessShareLock)};
	const Oid	by = emogi_citus_catalog(index);
	ScanKeyData key;

	ScanKeyInit(&key, get_attnum(RelationGetRelid(rows.rel), column), BTEqualStrategyNumber, equal, value);
	rows.scan = systable_beginscan(rows.rel, by, OidIsValid(by), snapshot, 1, &key);
	return rows;
}

/* Go to the next row; false when there is none. */
bool
emogi_citus_next(EmogiCitusRows *rows)
{
	rows->row = systable_getnext(rows->scan);
	return HeapTupleIsValid(rows->row);
}

/* Get the value of a column of the row at hand, which is there and not NULL; of a type by reference it is the row's. */
Datum
emogi_citus_column(const EmogiCitusRows *rows, const char *name)
{
	bool		isnull;
	Datum		value = heap_getattr(rows->row, get_attnum(RelationGetRelid(rows->rel), name), RelationGetDescr(rows->rel), &isnull);

	if (isnull)
		elog(ERROR, "column \"%s\" of \"%s\" is NULL", name, RelationGetRelationName(rows->rel));
	return value;
}

/* Look no more. */
void
emogi_citus_close(EmogiCitusRows *rows)
{
	systable_endscan(rows->scan);
	table_close(rows->rel, AccessShareLock);
}
