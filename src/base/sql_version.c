/*
 * sql_version.c: which SQL this library serves, and what is said of another.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/shared.h"
#include "base/sql_version.h"

/*
 * The versions of the SQL that this library serves: its own, and older ones whose functions,
 * columns and views are the same.
 */
static const char *const served[] = {EMOGI_VERSION};

/*
 * The SQL of the database is served: known until a function changes, as one does with each update.
 */
static bool is_known = false;

/* Forget that the SQL is served: a function has changed. */
static void
forget(Datum arg, int cache, uint32 hash)
{
	is_known = false;
}

/* Get the version of the extension in the database; NULL = there is none. */
static char *
find_version(void)
{
	Relation	extensions = table_open(ExtensionRelationId, AccessShareLock);
	char	   *version = NULL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("emogi"));
	scan = systable_beginscan(extensions, ExtensionNameIndexId, true, NULL, 1, &key);
	row = systable_getnext(scan);
	if (HeapTupleIsValid(row))
	{
		bool		isnull;
		Datum		value = heap_getattr(row, Anum_pg_extension_extversion,
										 RelationGetDescr(extensions), &isnull);

		if (!isnull)
			version = TextDatumGetCString(value);
	}
	systable_endscan(scan);
	table_close(extensions, AccessShareLock);
	return version;
}

/* Is a version of the SQL served? */
static bool
is_served(const char *version)
{
	for (int i = 0; i < lengthof(served); i++)
		if (strcmp(version, served[i]) == 0)
			return true;
	return false;
}

/*
 * Is a version newer than the library's? They are compared number by number, as long as both have
 * numbers.
 */
static bool
is_newer(const char *version)
{
	const char *library = EMOGI_VERSION;

	for (;;)
	{
		char	   *rest;
		char	   *library_rest;
		long		number = strtol(version, &rest, 10);
		long		library_number = strtol(library, &library_rest, 10);

		if (number != library_number)
			return number > library_number;
		if (*rest != '.' || *library_rest != '.')
			return *rest == '.';
		version = rest + 1;
		library = library_rest + 1;
	}
}

/* Raise 55000: the SQL is newer than the library that the server has loaded. */
static void
refuse_newer(const char *version)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the SQL of emogi is of version %s, and the library that the server has loaded "
					"of %s", version, EMOGI_VERSION),
			 errhint("Restart the server, so that it loads the library that is installed. If it "
					 "says so again, install emogi %s and restart.",
					 version)));
}

/*
 * Get the version of the SQL in the database, if this library does not serve it; NULL = it does, or
 * there is no extension.
 */
static char *
find_unserved(void)
{
	static bool is_watching = false;
	char	   *version;

	if (is_known)
		return NULL;
	if (!is_watching)
		CacheRegisterSyscacheCallback(PROCOID, forget, (Datum) 0);
	is_watching = true;
	version = find_version();
	if (version != NULL && !is_served(version))
		return version;
	is_known = version != NULL;
	return NULL;
}

/* Does this library serve the SQL of the database? */
bool
emogi_sql_version_is_served(void)
{
	return find_unserved() == NULL;
}

/*
 * Raise 55000 unless emogi was preloaded and serves the SQL of the database; the first thing that
 * every SQL function does.
 */
void
emogi_sql_version_require(void)
{
	char	   *version;

	emogi_shared_require_preload();
	version = find_unserved();
	if (version == NULL)
		return;
	if (is_newer(version))
		refuse_newer(version);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the SQL of emogi in this database is of version %s, and the library that the "
					"server has loaded of %s", version, EMOGI_VERSION),
			 errhint("Run ALTER EXTENSION emogi UPDATE in this database, as a superuser.")));
}

/*
 * Raise 55000 if a script is newer than the library. An older one may run: several take the SQL of
 * a database from version to version, and calls are refused until the last has run.
 */
void
emogi_sql_version_refuse_newer(const char *version)
{
	if (is_newer(version))
		refuse_newer(version);
}
