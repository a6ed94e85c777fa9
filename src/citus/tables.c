/*
 * tables.c: which tables are Citus's.
 */
#include "postgres.h"

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
