/*
 * connection.c: a connection to a server; for foreign servers, with the rules of postgres_fdw
 *
 * There, a non-superuser must use a password from the user mapping, and the server must have
 * requested it. Otherwise the caller could connect with the credentials of this server's operating
 * system user (see connection.c of postgres_fdw). A superuser can lift the rule in the mapping with
 * password_required 'false'.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/timestamp.h"

#include "remote/remote_internal.h"

/* Get the value of an option, the last one if there are several; NULL if it is not set. */
static const char *
find_option(List *options, const char *name)
{
	const char *value = NULL;
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, name) == 0)
			value = defGetString(option);
	}
	return value;
}

/* Is a boolean option set to this value? */
static bool
option_is(List *options, const char *name, bool value)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, name) == 0)
			return defGetBoolean(option) == value;
	}
	return false;
}

/* Must the connection use a password of the mapping, requested by the server? */
bool
emogi_connection_needs_password(const UserMapping *user)
{
	return !superuser_arg(user->userid) && !option_is(user->options, "password_required", false);
}

/*
 * May emogi connect with a user mapping? If a required password is missing, postgres_fdw reports
 * the error or uses another method. Passing through the caller's own SCRAM keys is also left to
 * postgres_fdw, because only it can do that.
 */
bool
emogi_connection_is_allowed(const UserMapping *user)
{
	const char *password = find_option(user->options, "password");

	if (option_is(user->options, "use_scram_passthrough", true) ||
		(option_is(GetForeignServer(user->serverid)->options, "use_scram_passthrough", true) &&
		 !option_is(user->options, "use_scram_passthrough", false)))
		return false;
	return !emogi_connection_needs_password(user) || (password != NULL && password[0] != '\0');
}

/* Is an option one of libpq's that is not set here? */
static bool
is_for_libpq(const PQconninfoOption *known, const char *name)
{
	if (strcmp(name, "client_encoding") == 0 || strcmp(name, "fallback_application_name") == 0)
		return false;
	for (; known->keyword != NULL; known++)
		if (strcmp(known->keyword, name) == 0)
			return strchr(known->dispchar, 'D') == NULL;
	return false;
}

/* Append the libpq options of a list to the arrays for PQconnectStartParams. */
static int
add_options(const PQconninfoOption *known, List *options, const char **names, const char **values,
			int count)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (is_for_libpq(known, option->defname))
		{
			names[count] = option->defname;
			values[count++] = defGetString(option);
		}
	}
	return count;
}

/* Discard libpq's notices. */
static void
ignore_notice(void *arg, const char *message)
{
}

/*
 * Get the connection timeout in seconds; 0 = none. libpq itself enforces it only in its blocking
 * functions.
 */
static int
timeout_of(const EmogiRemoteServer *server)
{
	const char *text = find_option(server->options, "connect_timeout");

	return text != NULL ? Max(atoi(text), 0) : 0;
}

/*
 * Write the pool key of a connection: its server, user and options. The server comes first; it is 0
 * for a Citus node.
 */
static void
write_key(EmogiRemoteConnection *connection, const char *const *names, const char *const *values)
{
	const EmogiRemoteServer *server = connection->server;

	initStringInfo(&connection->key);
	appendStringInfo(&connection->key, "%u %u %d", server->serverid, GetUserId(),
					 server->must_use_password);
	for (int i = 0; names[i] != NULL; i++)
		appendStringInfo(&connection->key, "%c%s%c%s", '\0', names[i], '\0', values[i]);
}

/* Start to connect, or take a connection from the pool. Raises 08001. */
void
emogi_connection_start(EmogiRemoteConnection *connection)
{
	const EmogiRemoteServer *server = connection->server;
	const int	max_options = list_length(server->options) + 3;
	const char **names = palloc(max_options * sizeof *names);
	const char **values = palloc(max_options * sizeof *values);
	const int	timeout = timeout_of(server);
	PQconninfoOption *known = PQconndefaults();
	int			count = 0;

	connection->phase = EMOGI_REMOTE_CONNECTING;
	if (known == NULL)
		emogi_remote_errors_connection(connection, "Out of memory.");
	names[count] = "fallback_application_name";
	values[count++] = "emogi";
	count = add_options(known, server->options, names, values, count);
	names[count] = "client_encoding";
	values[count++] = GetDatabaseEncodingName();
	names[count] = values[count] = NULL;
	PQconninfoFree(known);
	write_key(connection, names, values);
	connection->conn = connection->leads ? emogi_connection_pool_take(&connection->key) : NULL;
	connection->was_kept = connection->conn != NULL;
	connection->poll = PGRES_POLLING_WRITING;
	if (connection->conn != NULL)
		return;
	if (!AcquireExternalFD())
		emogi_remote_errors_connection(connection, "This session has too many files open.");
	connection->conn = PQconnectStartParams(names, values, false);
	if (connection->conn == NULL)
	{
		ReleaseExternalFD();
		emogi_remote_errors_connection(connection, "Out of memory.");
	}
	if (PQstatus(connection->conn) == CONNECTION_BAD)
		emogi_remote_errors_connection(connection, NULL);
	PQsetNoticeProcessor(connection->conn, ignore_notice, NULL);
	connection->deadline = timeout > 0 ?
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(), timeout * INT64CONST(1000)) : 0;
}

/*
 * Continue to connect when the socket is ready; return true when connected. Raises 08001, and 2F003
 * if the server did not request a password.
 */
bool
emogi_connection_continue(EmogiRemoteConnection *connection)
{
	connection->poll = PQconnectPoll(connection->conn);
	if (connection->poll == PGRES_POLLING_FAILED)
		emogi_remote_errors_connection(connection, NULL);
	if (connection->poll != PGRES_POLLING_OK)
		return false;
	if (connection->server->must_use_password && !PQconnectionUsedPassword(connection->conn))
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("password is required"),
				 errdetail("Non-superuser cannot connect to server \"%s\" if it does not request a "
						   "password.", connection->server->name),
				 errhint("Target server's authentication method must be changed or "
						 "password_required=false set in the user mapping attributes.")));
	/* data that does not fit the socket buffer is sent by the event loop, which can be canceled */
	if (PQsetnonblocking(connection->conn, 1) != 0)
		emogi_remote_errors_connection(connection, NULL);
	return true;
}

/*
 * Send as much of the pending data as the socket accepts. A lost connection is detected when its
 * answers are read.
 */
void
emogi_connection_flush(EmogiRemoteConnection *connection)
{
	connection->is_sending = PQflush(connection->conn) > 0;
}

/* Send statements. Raises 08006. */
void
emogi_connection_send(EmogiRemoteConnection *connection, char *sql)
{
	if (connection->sql != NULL)
		pfree(connection->sql);
	connection->sql = sql;
	if (!PQsendQuery(connection->conn, sql))
		emogi_remote_errors_connection(connection, NULL);
}

/*
 * Release an idle connection: keep it in the pool if its server provides stamps, so that the next
 * call can query them, unless an option prevents it.
 */
void
emogi_connection_release(EmogiRemoteConnection *connection)
{
	PGconn	   *conn = connection->conn;

	if (conn == NULL || !connection->leads || connection->server->stamp_schema == NULL ||
		option_is(connection->server->options, "keep_connections", false))
	{
		emogi_connection_close(connection);
		return;
	}
	connection->conn = NULL;
	emogi_connection_pool_return(&connection->key, conn);
}

/* Close a connection. Raises nothing. */
void
emogi_connection_close(EmogiRemoteConnection *connection)
{
	PGconn	   *conn = connection->conn;

	if (conn == NULL)
		return;
	connection->conn = NULL;
	if (connection->message != NULL)
		PQfreemem(connection->message);
	connection->message = NULL;
	PQfinish(conn);
	ReleaseExternalFD();
}
