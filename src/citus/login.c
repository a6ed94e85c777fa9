/*
 * login.c: with what options Citus connects to a node.
 *
 * It connects as the role that asks, with the options of citus.node_conninfo, which the configuration has, and of that role's row in pg_dist_authinfo. Who may read a
 * Citus table has Citus do just that, so it may be done for it here. Rows of other roles are not looked at.
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

/* What pg_dist_authinfo.nodeid says of all nodes, and of the own one by its local name. */
#define ALL_NODES 0
#define OWN_NODE (-1)

/* Get a setting that Citus has defined; NULL when it has not: anybody may give a setting of an unknown name a value. */
static const char *
setting_of_citus(const char *name)
{
	const char *value = GetConfigOption(name, true, false);

	return value != NULL && !(GetConfigOptionFlags(name, true) & GUC_CUSTOM_PLACEHOLDER) ? value : NULL;
}

/* Is Citus at work in this process, and does it read what is written, and not from standbys? */
bool
emogi_citus_is_loaded(void)
{
	const char *secondaries = setting_of_citus("citus.use_secondary_nodes");

	return setting_of_citus("citus.node_conninfo") != NULL && (secondaries == NULL || strcmp(secondaries, "never") == 0);
}

/*
 * Is this session one that Citus has opened, in a transaction of its own, to have a part of a query be carried out here? Then what the transaction has changed, be it by another
 * such session, cannot be told here, and Citus alone knows whether a table may be read at all. A statement by itself has changed nothing before; Citus sends that
 * without a transaction. The name is that of the session's beginning, which SET does not change.
 */
bool
emogi_citus_is_inside(void)
{
	const char *name = GetConfigOptionResetString("application_name");

	return name != NULL && strncmp(name, "citus", 5) == 0 && IsTransactionBlock() && emogi_citus_is_loaded();
}

/* Get how long a connection to a node may take to come about; 0 = that is not known. */
int
emogi_citus_timeout_ms(void)
{
	const char *value = setting_of_citus("citus.node_connection_timeout");
	int			timeout_ms;

	return value != NULL && parse_int(value, &timeout_ms, GUC_UNIT_MS, NULL) && timeout_ms > 0 ? timeout_ms : 0;
}

/* Get the options for all nodes, as libpq takes them. */
const char *
emogi_citus_conninfo(void)
{
	const char *value = setting_of_citus("citus.node_conninfo");

	return value != NULL ? value : "";
}

/* Is this how Citus calls the server that it is in? */
static bool
is_called_own(const EmogiCitusNode *node)
{
	const char *name = setting_of_citus("citus.local_hostname");

	return node->port == PostPortNumber && strcmp(node->host, name != NULL ? name : "localhost") == 0;
}

/* Get the options that a role needs at a node, as libpq takes them; they have its password. */
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
	rows = emogi_citus_open_some("pg_dist_authinfo", "pg_dist_authinfo_identification_index", "rolename", F_NAMEEQ, NameGetDatum(&name), NULL);
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
