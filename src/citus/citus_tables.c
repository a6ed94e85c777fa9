/*
 * citus_tables.c: which tables are Citus's.
 */
#include "postgres.h"

#include <ctype.h>

#include "commands/extension.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "citus/catalogs.h"
#include "citus/citus.h"

/* Is a table, or a partition, one whose rows Citus keeps in shards? */
bool
emogi_citus_is_table(Oid relid)
{
	const Oid	catalog = emogi_citus_catalog("pg_dist_partition");
	EmogiCitusRows rows;
	bool		is;

	if (!OidIsValid(catalog) || get_attnum(catalog, "logicalrelid") == InvalidAttrNumber || !OidIsValid(get_extension_oid("citus", true)))
		return false;
	rows = emogi_citus_open_some("pg_dist_partition", "pg_dist_partition_logical_relid_index", "logicalrelid", F_OIDEQ, ObjectIdGetDatum(relid), NULL);
	is = emogi_citus_next(&rows);
	emogi_citus_close(&rows);
	return is;
}

/* Is a table one of those in which Citus says where rows are? */
bool
emogi_citus_is_catalog(Oid relid)
{
	static const char *const names[] = {"pg_dist_partition", "pg_dist_shard", "pg_dist_placement", "pg_dist_node"};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (emogi_citus_catalog(names[i]) == relid)
			return OidIsValid(relid);
	return false;
}

/* Is a table one that has the rows of a shard? Citus keeps others from changing those, unless it is told not to. */
bool
emogi_citus_is_shard(Oid relid)
{
	const char *name = get_rel_name(relid);
	const char *number = name != NULL ? strrchr(name, '_') : NULL;
	const Oid	catalog = emogi_citus_catalog("pg_dist_shard");
	EmogiCitusRows rows;
	bool		is;

	if (number == NULL || !isdigit((unsigned char) number[1]) || !OidIsValid(catalog) || get_attnum(catalog, "shardid") == InvalidAttrNumber)
		return false;
	rows = emogi_citus_open_some("pg_dist_shard", "pg_dist_shard_shardid_index", "shardid", F_INT8EQ, Int64GetDatum(strtoll(number + 1, NULL, 10)), NULL);
	is = emogi_citus_next(&rows);
	emogi_citus_close(&rows);
	return is;
}
