/*
 * sql_version.c: the versions of the extension's SQL that this library supports, and the errors for
 * others
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

#include "base/sql_version.h"

/*
 * The SQL versions that this library supports: its own, and older ones with the same functions,
 * columns and views.
 */
static const char *const supported[] = {EMOGI_VERSION};

/*
 * The database's SQL is known to be supported; reset when a function changes, as every update
 * changes one.
 */
bool		emogi_sql_version_is_known = false;

/* Note that a function has changed. */
static void
forget(Datum arg, int cache, uint32 hash)
{
	emogi_sql_version_is_known = false;
}

/* Get the version of the extension in the database; NULL = not installed. */
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

/* Is a version of the SQL supported? */
static bool
is_supported(const char *version)
{
	for (int i = 0; i < lengthof(supported); i++)
		if (strcmp(version, supported[i]) == 0)
			return true;
	return false;
}

/* Is a version newer than the library's? Compare number by number, as long as both have numbers. */
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
			 errmsg("the SQL of emogi is of version %s, but the server has loaded the library of "
					"version %s", version, EMOGI_VERSION),
			 errhint("Restart the server to load the library that is installed. If the error "
					 "persists, install emogi %s and restart.",
					 version)));
}

/*
 * Get the version of the database's SQL if this library does not support it; NULL = supported, or
 * the extension is not installed.
 */
static char *
find_unsupported(void)
{
	static bool is_watching = false;
	char	   *version;

	if (emogi_sql_version_is_known)
		return NULL;
	if (!is_watching)
		CacheRegisterSyscacheCallback(PROCOID, forget, (Datum) 0);
	is_watching = true;
	version = find_version();
	if (version != NULL && !is_supported(version))
		return version;
	emogi_sql_version_is_known = version != NULL;
	return NULL;
}

/* Does this library support the SQL of the database? */
bool
emogi_sql_version_is_served(void)
{
	return find_unsupported() == NULL;
}

/* Raise 55000 as emogi_sql_version_require does, if the version is not known. */
void
emogi_sql_version_check(void)
{
	char	   *version;

	emogi_shared_require();
	version = find_unsupported();
	if (version == NULL)
		return;
	if (is_newer(version))
		refuse_newer(version);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the SQL of emogi in this database is of version %s, but the server has loaded "
					"the library of version %s", version, EMOGI_VERSION),
			 errhint("Run ALTER EXTENSION emogi UPDATE in this database, as a superuser.")));
}

/*
 * Raise 55000 if a script is newer than the library. Older scripts may run: several in a row can
 * update a database from version to version, and calls are refused until the last has run.
 */
void
emogi_sql_version_refuse_newer(const char *version)
{
	if (is_newer(version))
		refuse_newer(version);
}
