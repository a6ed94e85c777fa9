/*
 * environment.c: what a query analysis depends on beside its text and the tables: the user,
 * settings, and the catalogs, of which changes are counted
 */
#include "postgres.h"

#include "access/gin.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "parser/parse_expr.h"
#include "parser/parser.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/pg_locale.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "analysis/known_analyses.h"
#include "base/catalog_changes.h"
#include "base/compat.h"

/* ---- the catalogs ---- */

/* Number of invalidations of function definitions seen by this session. */
static uint64 ninvalidations = 0;

static void
count_invalidation(Datum arg, int cache, uint32 hash)
{
	ninvalidations++;
}

/* Accept pending invalidations, and count all that an analysis may depend on. */
void
emogi_environment_count(EmogiAnalysisCounts *counts)
{
	static const int caches[] = {PROCOID, AGGFNOID, OPEROID, COLLOID, AMPROCNUM, AMOPSTRATEGY};
	static bool is_watching = false;

	for (int i = 0; !is_watching && i < (int) lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], count_invalidation, (Datum) 0);
	is_watching = true;
	AcceptInvalidationMessages();
	counts->functions = ninvalidations;
	counts->names = emogi_search_path_count();
	counts->catalogs = emogi_catalog_changes_count();
}

/*
 * Accept pending invalidations, and get a number that is the same only if nothing has changed in
 * the catalogs that tables and analyses depend on.
 */
uint64
emogi_analysis_count_changes(void)
{
	EmogiAnalysisCounts counts;

	emogi_environment_count(&counts);
	return 1 + counts.catalogs + counts.functions + counts.names;
}

/* ---- the user and the settings ---- */

/* Get the values that are compared byte by byte. */
static void
get_values(EmogiEnvironment *environment)
{
	memset(environment, 0, sizeof *environment);
	environment->userid = GetUserId();
	environment->row_security = row_security;
	environment->standard_strings = emogi_compat_standard_strings();
	environment->null_equals = Transform_null_equals;
	environment->array_nulls = Array_nulls;
	environment->quotes_all = quote_all_identifiers;
	environment->backslash_quote = backslash_quote;
	environment->date_style = DateStyle;
	environment->date_order = DateOrder;
	environment->interval_style = IntervalStyle;
	environment->bytea_output = bytea_output;
	environment->float_digits = extra_float_digits;
	environment->gin_limit = GinFuzzySearchLimit;
	environment->zone = session_timezone;
}

/* Get the settings that are strings. */
static void
get_strings(const char **strings)
{
	strings[0] = namespace_search_path;
	strings[1] = locale_time;
	strings[2] = locale_numeric;
	strings[3] = locale_monetary;
	strings[4] = emogi_compat_zone_abbreviations();
	for (int i = 0; i < EMOGI_ENVIRONMENT_STRINGS; i++)
		if (strings[i] == NULL)
			strings[i] = "";
}

/* Get the environment, with strings in the current memory context. */
void
emogi_environment_get(EmogiEnvironment *environment)
{
	get_values(environment);
	get_strings(environment->strings);
	for (int i = 0; i < EMOGI_ENVIRONMENT_STRINGS; i++)
		environment->strings[i] = pstrdup(environment->strings[i]);
}

/* Is the environment what it was? */
bool
emogi_environment_is(const EmogiEnvironment *before)
{
	EmogiEnvironment now;
	const char *strings[EMOGI_ENVIRONMENT_STRINGS];

	get_values(&now);
	memcpy(now.strings, before->strings, sizeof now.strings);
	if (memcmp(&now, before, sizeof now) != 0)
		return false;
	get_strings(strings);
	for (int i = 0; i < EMOGI_ENVIRONMENT_STRINGS; i++)
		if (strcmp(strings[i], before->strings[i]) != 0)
			return false;
	return true;
}
