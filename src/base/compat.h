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

#endif							/* EMOGI_COMPAT_H */
