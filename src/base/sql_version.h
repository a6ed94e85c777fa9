/*
 * sql_version.h: the version of the extension's SQL in a database, and whether this library
 * supports it
 *
 * A server loads the library at its start, while each database has its own SQL. After an update
 * they differ for a while: the SQL is older until ALTER EXTENSION emogi UPDATE, and the library
 * until a restart.
 */
#ifndef EMOGI_SQL_VERSION_H
#define EMOGI_SQL_VERSION_H

#include "base/shared.h"

extern bool emogi_sql_version_is_known;

extern void emogi_sql_version_check(void);
extern bool emogi_sql_version_is_served(void);
extern void emogi_sql_version_refuse_newer(const char *version);

/*
 * Raise 55000 unless emogi was preloaded and supports the SQL of the database; every SQL function
 * calls this first.
 */
static inline void
emogi_sql_version_require(void)
{
	if (emogi_shared == NULL || !emogi_sql_version_is_known)
		emogi_sql_version_check();
}

#endif							/* EMOGI_SQL_VERSION_H */
