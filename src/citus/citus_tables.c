/*
 * citus_tables.c: detection of Citus tables.
 */
#include "postgres.h"

#include <ctype.h>

#include "commands/extension.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "citus/catalogs.h"
#include "citus/citus.h"

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
