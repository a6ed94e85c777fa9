/*
 * compat.h: differences between PostgreSQL 14 .. 19. Only the files compat*.h have version #ifs.
 */
#ifndef EMOGI_COMPAT_H
#define EMOGI_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 140000
#error "emogi needs PostgreSQL 14 or later"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "base/compat_catalog.h"
#include "base/compat_executor.h"
#include "base/compat_planner.h"
#include "base/compat_server.h"
#include "base/compat_statistics.h"
#include "base/compat_storage.h"

/*
 * Get the setting timezone_abbreviations, which has no exported variable. GetConfigOption searches
 * all settings by name.
 */
static inline const char *
emogi_compat_zone_abbreviations(void)
{
	static char **variable = NULL;

#if PG_VERSION_NUM >= 190000
	if (variable == NULL)
		variable = find_option("timezone_abbreviations", false, false, ERROR)->_string.variable;
#elif PG_VERSION_NUM >= 160000
	if (variable == NULL)
		variable = ((struct config_string *) find_option("timezone_abbreviations", false, false,
														 ERROR))->variable;
#else
	for (int i = 0; variable == NULL && i < GetNumConfigOptions(); i++)
		if (strcmp(get_guc_variables()[i]->name, "timezone_abbreviations") == 0)
			variable = ((struct config_string *) get_guc_variables()[i])->variable;
#endif
	return variable != NULL ? *variable : NULL;
}

#endif							/* EMOGI_COMPAT_H */
