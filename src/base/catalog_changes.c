/*
 * catalog_changes.c: number of catalog changes that this session knows of
 *
 * What was derived from the catalogs is still what they say if the number is the same. Counted are
 * invalidations that concern relations with their columns, rules, policies and privileges; schemas;
 * roles and their memberships; and types. Those of the own transaction arrive at the end of the
 * command, and once more if it is rolled back; after an overflow of the queue all caches are
 * invalidated, which counts, too.
 */
#include "postgres.h"

#include "utils/inval.h"
#include "utils/syscache.h"

#include "base/catalog_changes.h"

static uint64 nchanges = 0;

static void
count_of_cache(Datum arg, int cache, uint32 hash)
{
	nchanges++;
}

static void
count_of_relation(Datum arg, Oid relid)
{
	nchanges++;
}

/*
 * Get the number of changes that have been accepted (AcceptInvalidationMessages); counting starts
 * with the first call.
 */
uint64
emogi_catalog_changes_count(void)
{
	static const int caches[] = {NAMESPACEOID, AUTHOID, AUTHMEMROLEMEM, DATABASEOID,
								 TYPEOID};
	static bool is_watching = false;

	if (!is_watching)
	{
		is_watching = true;
		CacheRegisterRelcacheCallback(count_of_relation, (Datum) 0);
		for (int i = 0; i < (int) lengthof(caches); i++)
			CacheRegisterSyscacheCallback(caches[i], count_of_cache, (Datum) 0);
	}
	return nchanges;
}
