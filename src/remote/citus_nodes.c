/*
 * citus_nodes.c: Citus nodes as servers
 *
 * A connection is opened as Citus opens its own: to the same host, port and database, as the same
 * role. All other options come from the configuration of Citus, or from the role's row in
 * pg_dist_authinfo; they cannot name another role.
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/lsyscache.h"

#include "citus/citus.h"
#include "remote/remote_internal.h"

/* Append an option to a list. */
static List *
add_option(List *options, const char *name, const char *value)
{
	return lappend(options, makeDefElem(pstrdup(name), (Node *) makeString(pstrdup(value)), -1));
}

/* Does a list contain an option? */
static bool
has_option(List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
		if (strcmp(lfirst_node(DefElem, cell)->defname, name) == 0)
			return true;
	return false;
}

/*
 * Append the options of a libpq connection string. Raise 22023 for an invalid one, without quoting
 * it: it may contain a password.
 */
static List *
add_options(List *options, const char *text, const char *node, const char *of)
{
	PQconninfoOption *parsed = PQconninfoParse(text, NULL);

	if (parsed == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("could not read the options of node \"%s\"", node),
				 errdetail("%s has an option that libpq does not accept.", of)));
	for (PQconninfoOption *option = parsed; option->keyword != NULL; option++)
		if (option->val != NULL && option->val[0] != '\0')
			options = add_option(options, option->keyword, option->val);
	PQconninfoFree(parsed);
	return options;
}

/*
 * Make a server from a node, without tables. If the configuration of Citus sets one host for all
 * nodes, that name is for certificates, and the node's host is an address. Raises 22023.
 */
EmogiRemoteServer *
emogi_citus_nodes_make_server(const EmogiCitusNode *node)
{
	EmogiRemoteServer *server = palloc0(sizeof *server);
	const char *role = GetUserNameFromId(GetUserId(), false);
	const char *host;

	server->name = psprintf("%s:%d", node->host, node->port);
	server->node = node;
	server->options = add_options(NIL, emogi_citus_conninfo(), server->name, "citus.node_conninfo");
	host = has_option(server->options, "host") ? "hostaddr" : "host";
	server->options = add_options(server->options, emogi_citus_authinfo(node, role), server->name,
								  "pg_dist_authinfo");
	if (!has_option(server->options, "connect_timeout") && emogi_citus_timeout_ms() > 0)
		server->options = add_option(server->options, "connect_timeout",
									 psprintf("%d", (emogi_citus_timeout_ms() + 999) / 1000));
	server->options = add_option(server->options, host, node->host);
	server->options = add_option(server->options, "port", psprintf("%d", node->port));
	server->options = add_option(server->options, "dbname", get_database_name(MyDatabaseId));
	server->options = add_option(server->options, "user", role);
	return server;
}
