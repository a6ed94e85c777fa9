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

EmogiCatalogChanges emogi_catalog_changes = {0};

static void
count_of_cache(Datum arg, int cache, uint32 hash)
{
	emogi_catalog_changes.count++;
}

static void
count_of_relation(Datum arg, Oid relid)
{
	emogi_catalog_changes.count++;
}

/* Begin to count. */
void
emogi_catalog_changes_watch(void)
{
	static const int caches[] = {NAMESPACEOID, AUTHOID, AUTHMEMROLEMEM, DATABASEOID,
								 TYPEOID};

	emogi_catalog_changes.is_watching = true;
	CacheRegisterRelcacheCallback(count_of_relation, (Datum) 0);
	for (int i = 0; i < (int) lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], count_of_cache, (Datum) 0);
}
