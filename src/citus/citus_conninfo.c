/*
 * citus_conninfo.c: the options with which Citus connects to a node.
 *
 * Citus connects as the current role, with the options of citus.node_conninfo, which is set in the
 * configuration, and those of the role's row in pg_dist_authinfo. A role that may read a Citus
 * table makes Citus do exactly that, so the same may be done here on its behalf. Rows of other
 * roles are not read.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/postmaster.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "citus/catalogs.h"
#include "citus/citus.h"

/* Special values of pg_dist_authinfo.nodeid: all nodes, and this node by its local name. */
#define ALL_NODES 0
#define OWN_NODE (-1)

/*
 * Get a setting defined by Citus; NULL if Citus has not defined it, because any user may set an
 * unknown setting.
 */
static const char *
setting_of_citus(const char *name)
{
	const char *value = GetConfigOption(name, true, false);

	return value != NULL && !(GetConfigOptionFlags(name, true) & GUC_CUSTOM_PLACEHOLDER) ? value :
		NULL;
}

/* Check whether Citus is loaded in this process and reads from primaries, not from standbys. */
bool
emogi_citus_is_loaded(void)
{
	const char *secondaries = setting_of_citus("citus.use_secondary_nodes");

	return setting_of_citus("citus.node_conninfo") != NULL &&
		(secondaries == NULL || strcmp(secondaries, "never") == 0);
}

/*
 * Check whether Citus opened this session and runs part of a query in a transaction here. In that
 * case, changes of the distributed transaction, possibly made by another such session, cannot be
 * determined here, and only Citus knows whether a table may be read at all. A single statement has
 * not changed anything before; Citus sends it without a transaction. The application name is the
 * one at session start, which SET does not change.
 */
bool
emogi_citus_is_inside(void)
{
	const char *name = GetConfigOptionResetString("application_name");

	return name != NULL && strncmp(name, "citus", 5) == 0 && IsTransactionBlock() &&
		emogi_citus_is_loaded();
}

/* Get the connection timeout for nodes; 0 = unknown. */
int
emogi_citus_timeout_ms(void)
{
	const char *value = setting_of_citus("citus.node_connection_timeout");
	int			timeout_ms;

	return value != NULL && parse_int(value, &timeout_ms, GUC_UNIT_MS, NULL) && timeout_ms > 0
		? timeout_ms : 0;
}

/* Get the connection options for all nodes, in libpq format. */
const char *
emogi_citus_conninfo(void)
{
	const char *value = setting_of_citus("citus.node_conninfo");

	return value != NULL ? value : "";
}

/* Check whether a node is this server, as Citus addresses it. */
static bool
is_called_own(const EmogiCitusNode *node)
{
	const char *name = setting_of_citus("citus.local_hostname");

	return node->port == PostPortNumber &&
		strcmp(node->host, name != NULL ? name : "localhost") == 0;
}

/* Get the connection options of a role for a node, in libpq format; they include its password. */
const char *
emogi_citus_authinfo(const EmogiCitusNode *node, const char *role)
{
	const Oid	catalog = emogi_citus_catalog("pg_dist_authinfo");
	const int32 wanted = is_called_own(node) ? OWN_NODE : node->id;
	const char *options = "";
	bool		is_found = false;
	EmogiCitusRows rows;
	NameData	name;

	if (!OidIsValid(catalog) || get_attnum(catalog, "rolename") == InvalidAttrNumber)
		return "";
	namestrcpy(&name, role);
	rows = emogi_citus_open_some("pg_dist_authinfo", "pg_dist_authinfo_identification_index",
								 "rolename", F_NAMEEQ, NameGetDatum(&name), NULL);
	while (!is_found && emogi_citus_next(&rows))
	{
		const int32 id = DatumGetInt32(emogi_citus_column(&rows, "nodeid"));

		is_found = id == wanted;
		if (is_found || id == ALL_NODES)
			options = TextDatumGetCString(emogi_citus_column(&rows, "authinfo"));
	}
	emogi_citus_close(&rows);
	return options;
}
