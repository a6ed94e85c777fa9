/*
 * fake_citus.c: define the settings of Citus that emogi reads, for a test without Citus
 * (t/067_citus.pl). It matters who defines a setting: any user may have set one that no library has
 * defined.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static char *node_conninfo;
static char *use_secondary_nodes;
static char *local_hostname;

/* Define the settings. */
void
_PG_init(void)
{
	DefineCustomStringVariable("citus.node_conninfo", "Options of connections.", NULL, &node_conninfo, "sslmode=prefer", PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	DefineCustomStringVariable("citus.use_secondary_nodes", "Whether standbys are read.", NULL, &use_secondary_nodes, "never", PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("citus.local_hostname", "The name of the own host.", NULL, &local_hostname, "localhost", PGC_SUSET, 0, NULL, NULL, NULL);
}
