/*
 * remote_errors.c: errors of servers, as errors of the call.
 *
 * They name the foreign table, or the shard, and the server. The SQLSTATE is the server's where it
 * gave one.
 */
#include "postgres.h"

#include "remote/remote_internal.h"

/* Copy what libpq says, without the end of its last line. */
static char *
copy_text(const char *text)
{
	char	   *copy = pstrdup(text != NULL ? text : "");
	size_t		length = strlen(copy);

	while (length > 0 && (copy[length - 1] == '\n' || copy[length - 1] == ' '))
		copy[--length] = '\0';
	return copy;
}

/* Get the name of the table that a connection is at, or of the first one. */
static const char *
table_name(const EmogiRemoteConnection *connection)
{
	const EmogiRemoteTable *table = connection->table != NULL ? connection->table :
		linitial(connection->server->tables);

	return table->name;
}

/* Get what is read from a server. */
const char *
emogi_remote_errors_kind(const EmogiRemoteServer *server)
{
	return server->node != NULL ? "shard" : "foreign table";
}

/* Get what to do where no connection has come about. */
static const char *
hint_for_new(const EmogiRemoteServer *server)
{
	if (server->node != NULL)
		return psprintf("See that node \"%s\" is in reach, that it has room for "
						"emogi.server_connections more connections, and that it lets the role in, "
						"as Citus has it: citus.node_conninfo, pg_dist_authinfo. With "
						"emogi.server_connections = 0 Citus reads, from another copy of the shard "
						"if there is one.", server->name);
	return psprintf("See that the server is in reach, that it has room for "
					"emogi.server_connections more connections, and that the options of server "
					"\"%s\" and of its user mapping are right.", server->name);
}

/*
 * Raise 08001 for a connection that has not come about, 08006 for one that was lost. detail: why;
 * NULL = libpq knows.
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
			 errhint("The connection was lost. Call it again when the server answers."),
			 connection->sql != NULL ? errcontext("remote SQL command: %s", connection->sql) : 0));
}

/* Get what to do about an answer, by its SQLSTATE. */
static const char *
hint_for(int code, const EmogiRemoteServer *far)
{
	const char *server = far->name;

	if (code == ERRCODE_LOCK_NOT_AVAILABLE)
		return psprintf("Somebody on server \"%s\" waits to change the table. Call it again.",
						server);
	switch (ERRCODE_TO_CATEGORY(code))
	{
		case ERRCODE_CONNECTION_EXCEPTION:
		case ERRCODE_OPERATOR_INTERVENTION:
			return psprintf("Server \"%s\" has ended it. Call it again when the server answers.",
							server);
		case ERRCODE_INSUFFICIENT_RESOURCES:
			return psprintf("Server \"%s\" has no room for it. Lower emogi.server_connections, or "
							"raise its limits.", server);
		case ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION:
			if (far->node != NULL)
				return psprintf("See that the role may read the shard on node \"%s\". If the shard "
								"was moved meanwhile, call it again.", server);
			return psprintf("See that the foreign table has the names and columns that it has on "
							"server \"%s\", and that the role of the user mapping may read them.",
							server);
		default:
			return psprintf("Server \"%s\" has answered so.", server);
	}
}

/* Raise what a server has answered. Frees the result. */
void
emogi_remote_errors_result(EmogiRemoteConnection *connection, PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *more = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
	const char *server = connection->server->name;
	int			code = ERRCODE_CONNECTION_FAILURE;
	char	   *detail;

	/* those are not of errors */
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

/* Raise 08P01 for an answer of a form that is not expected. */
void
emogi_remote_errors_protocol(EmogiRemoteConnection *connection)
{
	const char *server = connection->server->name;

	ereport(ERROR,
			(errcode(ERRCODE_PROTOCOL_VIOLATION),
			 errmsg("could not read %s \"%s\" from server \"%s\"",
					emogi_remote_errors_kind(connection->server), table_name(connection), server),
			 errdetail("What the server has sent is not what PostgreSQL sends."),
			 errhint("Set emogi.server_connections to 0, to have %s read it.",
					 connection->server->node != NULL ? "Citus" : "postgres_fdw"),
			 connection->sql != NULL ? errcontext("remote SQL command: %s", connection->sql) : 0));
}

/*
 * Raise 40001 for a table that the server has come to have later than its snapshot, or no longer
 * has.
 */
void
emogi_remote_errors_gone(EmogiRemoteConnection *connection)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not read %s \"%s\" from server \"%s\"",
					emogi_remote_errors_kind(connection->server), table_name(connection),
					connection->server->name),
			 errdetail("It was made or renamed while it was looked for."),
			 errhint("Call it again.")));
}
