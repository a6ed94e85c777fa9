/*
 * remote_errors.c: errors of servers, reported as errors of the call
 *
 * The message names the foreign table, or the shard, and the server. The SQLSTATE is the server's,
 * if there is one.
 */
#include "postgres.h"

#include "remote/remote_internal.h"

/* Copy a message of libpq, without the end of its last line. */
static char *
copy_text(const char *text)
{
	char	   *copy = pstrdup(text != NULL ? text : "");
	size_t		length = strlen(copy);

	while (length > 0 && (copy[length - 1] == '\n' || copy[length - 1] == ' '))
		copy[--length] = '\0';
	return copy;
}

/* Get the name of the connection's current table, or of the server's first one. */
static const char *
table_name(const EmogiRemoteConnection *connection)
{
	const EmogiRemoteTable *table = connection->table != NULL ? connection->table :
		linitial(connection->server->tables);

	return table->name;
}

/* Get the kind of table that is read from a server, for messages. */
const char *
emogi_remote_errors_kind(const EmogiRemoteServer *server)
{
	return server->node != NULL ? "shard" : "foreign table";
}

/* Get the hint for a connection that could not be established. */
static const char *
hint_for_new(const EmogiRemoteServer *server)
{
	if (server->node != NULL)
		return psprintf("Check that node \"%s\" is reachable, that it accepts "
						"emogi.server_connections more connections, and that it authenticates the "
						"role with the options of Citus (citus.node_conninfo, pg_dist_authinfo). "
						"If emogi.server_connections is 0, Citus reads the shard, from another "
						"placement if there is one.", server->name);
	return psprintf("Check that the server is reachable, that it accepts emogi.server_connections "
					"more connections, and that the options of server \"%s\" and of its user "
					"mapping are right.", server->name);
}

/*
 * Raise 08001 if a connection could not be established, 08006 if it was lost. detail: the reason;
 * NULL = get it from libpq.
 */
void
emogi_remote_errors_connection(EmogiRemoteConnection *connection, const char *detail)
{
	const char *server = connection->server->name;
	const bool	is_new = connection->phase == EMOGI_REMOTE_CONNECTING;

	if (detail == NULL)
		detail = copy_text(PQerrorMessage(connection->conn));
	ereport(ERROR,
			(errcode(is_new ? ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION :
					 ERRCODE_CONNECTION_FAILURE),
			 errmsg("could not read %s \"%s\" from server \"%s\"",
					emogi_remote_errors_kind(connection->server), table_name(connection), server),
			 detail[0] != '\0' ? errdetail_internal("%s", detail) : 0,
			 is_new ? errhint("%s", hint_for_new(connection->server)) :
			 errhint("The connection was lost. Call the function again when the server is "
					 "reachable."),
			 connection->sql != NULL ? errcontext("remote SQL command: %s", connection->sql) : 0));
}

/* Get the hint for an error of a server, by its SQLSTATE. */
static const char *
hint_for(int code, const EmogiRemoteServer *remote_server)
{
	const char *server = remote_server->name;

	if (code == ERRCODE_LOCK_NOT_AVAILABLE)
		return psprintf("Another session on server \"%s\" waits for an exclusive lock on the "
						"table. Call the function again.",
						server);
	switch (ERRCODE_TO_CATEGORY(code))
	{
		case ERRCODE_CONNECTION_EXCEPTION:
		case ERRCODE_OPERATOR_INTERVENTION:
			return psprintf("Server \"%s\" terminated the connection. Call the function again when "
							"the server is reachable.",
							server);
		case ERRCODE_INSUFFICIENT_RESOURCES:
			return psprintf("Server \"%s\" has insufficient resources. Lower "
							"emogi.server_connections, or raise the limits of the server.", server);
		case ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION:
			if (remote_server->node != NULL)
				return psprintf("Check that the role may read the shard on node \"%s\". If the "
								"shard was moved during the call, call the function again.",
								server);
			return psprintf("Check that the foreign table has the names and columns of the table "
							"on server \"%s\", and that the role of the user mapping may read "
							"them.",
							server);
		default:
			return psprintf("The error was raised by server \"%s\".", server);
	}
}

/* Raise an error that a server has returned. Frees the result. */
void
emogi_remote_errors_result(EmogiRemoteConnection *connection, PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *more = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
	const char *server = connection->server->name;
	int			code = ERRCODE_CONNECTION_FAILURE;
	char	   *detail;

	/* classes 00, 01 and 02 are not errors */
	if (state != NULL && strlen(state) == 5 && (state[0] != '0' || strchr("012", state[1]) == NULL))
		code = MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
	if (primary == NULL)
		detail = copy_text(PQresultErrorMessage(result)[0] != '\0' ? PQresultErrorMessage(result) :
						   PQerrorMessage(connection->conn));
	else
		detail = more != NULL ? psprintf("%s (%s)", primary, more) : pstrdup(primary);
	PQclear(result);
	ereport(ERROR,
			(errcode(code),
			 errmsg("could not read %s \"%s\" from server \"%s\"",
					emogi_remote_errors_kind(connection->server), table_name(connection), server),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint_for(code, connection->server)),
			 connection->sql != NULL ? errcontext("remote SQL command: %s", connection->sql) : 0));
}

/* Raise 08P01 for an unexpected answer. */
void
emogi_remote_errors_protocol(EmogiRemoteConnection *connection)
{
	const char *server = connection->server->name;

	ereport(ERROR,
			(errcode(ERRCODE_PROTOCOL_VIOLATION),
			 errmsg("could not read %s \"%s\" from server \"%s\"",
					emogi_remote_errors_kind(connection->server), table_name(connection), server),
			 errdetail("The server sent data that does not conform to PostgreSQL's protocol."),
			 errhint("Set emogi.server_connections to 0, so that %s reads the table.",
					 connection->server->node != NULL ? "Citus" : "postgres_fdw"),
			 connection->sql != NULL ? errcontext("remote SQL command: %s", connection->sql) : 0));
}

/*
 * Raise 40001 for a table that was created on the server after its snapshot, or no longer exists.
 */
void
emogi_remote_errors_gone(EmogiRemoteConnection *connection)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not read %s \"%s\" from server \"%s\"",
					emogi_remote_errors_kind(connection->server), table_name(connection),
					connection->server->name),
			 errdetail("The table was created or renamed during the lookup."),
			 errhint("Call the function again.")));
}
