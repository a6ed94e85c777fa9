/*
 * copy_protocol.c: the steps of a connection to a server: statements sent, and processing of their
 * answers
 *
 * The first connection to a server begins a transaction there and, if a cached graph might be
 * valid, asks for stamps (version_stamp.c). To read, it gets the types and pages of the tables.
 * Then it and the other connections copy ranges of pages until none is left.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "base/fault.h"
#include "base/limits.h"
#include "base/settings.h"
#include "remote/remote_state.h"

/* Minimum server versions for reading pages by TID range, and for today's binary formats. */
#define VERSION_WITH_TID_RANGES 140000
#define VERSION_WITH_BINARY 100000

/* ---- steps ---- */

/* Open a connection to a server. */
void
emogi_copy_protocol_connect(EmogiRemote *reading, EmogiRemoteServer *server, bool leads)
{
	EmogiRemoteConnection *connection = palloc0(sizeof *connection);

	connection->server = server;
	connection->leads = leads;
	reading->connections = lappend(reading->connections, connection);
	reading->is_changed = true;
	emogi_connection_start(connection);
	reading->call->record.nconnections++;
}

/* Begin a connection's transaction, after the one of the previous call has ended. */
void
emogi_copy_protocol_begin(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	if (PQtransactionStatus(connection->conn) == PQTRANS_ACTIVE)
	{
		connection->phase = EMOGI_REMOTE_ENDING;
		emogi_copy_protocol_advance(reading, connection);
		return;
	}
	connection->phase = EMOGI_REMOTE_BEGINNING;
	emogi_connection_send(connection,
						  emogi_remote_sql_begin(connection->server,
												 PQserverVersion(connection->conn),
												 connection->leads &&
												 emogi_limits_server_connections() > 1));
}

/* Ask for the schema of the stamp function on the server. */
static void
find_stamp_function(EmogiRemoteConnection *connection)
{
	connection->phase = EMOGI_REMOTE_FINDING;
	emogi_connection_send(connection, emogi_remote_sql_find_stamp_function());
}

/* Ask for the stamps of all tables, if the server has the stamp function. */
static void
ask_stamps(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	if (connection->server->stamp_schema != NULL)
	{
		connection->phase = EMOGI_REMOTE_STAMPING;
		emogi_connection_send(connection, emogi_remote_sql_stamps(connection->server));
		return;
	}
	connection->phase = EMOGI_REMOTE_DONE;
	reading->is_changed = true;
}

/* Prepare a table's SELECT. */
static void
prepare(EmogiRemoteConnection *connection)
{
	connection->phase = EMOGI_REMOTE_PREPARING;
	connection->table = list_nth(connection->server->tables, connection->server->ndescribed);
	connection->sql = emogi_remote_sql_select(connection->table);
	if (!PQsendPrepare(connection->conn, "", connection->sql, 0, NULL))
		emogi_remote_errors_connection(connection, NULL);
}

/*
 * If the graph will be cached, make statements fail that would hide rows; then continue with the
 * first table.
 */
void
emogi_copy_protocol_read(EmogiRemoteConnection *connection)
{
	if (!connection->server->will_be_cached)
	{
		prepare(connection);
		return;
	}
	connection->phase = EMOGI_REMOTE_SECURING;
	emogi_connection_send(connection, pstrdup(emogi_remote_sql_all_rows()));
}

/* Ask for the columns of the prepared SELECT. */
static void
describe(EmogiRemoteConnection *connection)
{
	connection->phase = EMOGI_REMOTE_DESCRIBING;
	if (!PQsendDescribePrepared(connection->conn, ""))
		emogi_remote_errors_connection(connection, NULL);
}

/* Ask for a table's pages. */
static void
measure(EmogiRemoteConnection *connection)
{
	connection->phase = EMOGI_REMOTE_MEASURING;
	emogi_connection_send(connection, emogi_remote_sql_measure(connection->table));
}

/* Copy a range that no connection has taken yet; if there is none, the connection is done. */
void
emogi_copy_protocol_copy(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	ListCell   *cell;

	foreach(cell, connection->server->tables)
	{
		EmogiRemoteTable *table = lfirst(cell);

		if (table->ranges.next == table->ranges.count)
			continue;
		connection->table = table;
		connection->phase = EMOGI_REMOTE_COPYING;
		connection->is_copying = connection->has_copied = false;
		connection->copy = (EmogiRemoteCopy) {false, false};
		emogi_connection_send(connection, emogi_remote_sql_copy(table, table->ranges.next++));
		reading->call->record.nranges++;
		return;
	}
	connection->phase = EMOGI_REMOTE_DONE;
	reading->is_changed = true;
}

/* Open further connections to a server whose tables are known, as many as the pages justify. */
static void
open_others(EmogiRemote *reading, EmogiRemoteServer *server)
{
	const uint64 wanted = emogi_block_ranges_connections(server->tables);

	for (int i = 1; i < emogi_limits_server_connections() && (uint64) i < wanted &&
		 server->snapshot != NULL; i++)
		emogi_copy_protocol_connect(reading, server, false);
}

/* Continue when a table's pages are known: describe the next table, or start to copy. */
static void
continue_with_next(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	EmogiRemoteServer *server = connection->server;

	if (++server->ndescribed < list_length(server->tables))
	{
		prepare(connection);
		return;
	}
	emogi_fault_sleep(EMOGI_FAULT_AT_REMOTE_MEASURED);
	open_others(reading, server);
	emogi_copy_protocol_copy(reading, connection);
}

/* ---- answers ---- */

/* Process the types of a table's columns. */
static void
process_description(EmogiRemoteConnection *connection, const PGresult *result)
{
	EmogiRemoteTable *table = connection->table;
	Oid			types[EMOGI_REMOTE_MAX_COLUMNS];

	if (PQnfields(result) != table->ncolumns)
		emogi_remote_errors_protocol(connection);
	for (int i = 0; i < table->ncolumns; i++)
		types[i] = PQftype(result, i);
	emogi_decode_choose_formats(table, types,
								PQserverVersion(connection->conn) >= VERSION_WITH_BINARY);
}

/* Is a flag set in a one-row answer? */
static bool
is_set(const PGresult *result, int column)
{
	return strcmp(PQgetvalue(result, 0, column), "t") == 0;
}

/* Process a table's number of pages, and divide them into ranges. */
static void
process_measure(EmogiRemote *reading, EmogiRemoteConnection *connection, const PGresult *result)
{
	EmogiRemoteTable *table = connection->table;
	bool		has_pages;
	uint64		npages;
	double		rows;

	if (PQntuples(result) == 0 && PQnfields(result) == 6)
		emogi_remote_errors_gone(connection);
	if (PQntuples(result) != 1 || PQnfields(result) != 6)
		emogi_remote_errors_protocol(connection);
	has_pages = is_set(result, 0) && PQserverVersion(connection->conn) >= VERSION_WITH_TID_RANGES;
	rows = strtod(PQgetvalue(result, 0, 3), NULL);
	npages = has_pages ? strtoull(PQgetvalue(result, 0, 2), NULL, 10) : 0;
	if (npages > MaxBlockNumber)
		emogi_remote_errors_protocol(connection);
	table->ranges = emogi_block_ranges_divide(npages, emogi_limits_server_connections());
	if (connection->server->will_be_cached &&
		(Oid) strtoul(PQgetvalue(result, 0, 4), NULL, 10) != table->stamped)
		emogi_remote_errors_gone(connection);
	table->oid = has_pages && !is_set(result, 1) ?
		(Oid) strtoul(PQgetvalue(result, 0, 4), NULL, 10) : InvalidOid;
	table->is_grouped = OidIsValid(table->oid) && emogi_decode_may_group(table);
	if (table->is_grouped && !PQgetisnull(result, 0, 5))
		table->packer = pstrdup(PQgetvalue(result, 0, 5));
	reading->call->slot->control.total += rows > 0 ? (uint64) rows : 0;
}

/* Process the name of the snapshot. */
static void
process_snapshot(EmogiRemoteConnection *connection, const PGresult *result)
{
	if (PQntuples(result) != 1 || PQnfields(result) != 1)
		emogi_remote_errors_protocol(connection);
	connection->server->snapshot = pstrdup(PQgetvalue(result, 0, 0));
}

/* Process the schema of the stamp function, if there is one. */
static void
process_stamp_function(EmogiRemoteConnection *connection, const PGresult *result)
{
	if (PQnfields(result) != 1 || PQntuples(result) > 1)
		emogi_remote_errors_protocol(connection);
	if (PQntuples(result) == 1)
		connection->server->stamp_schema = pstrdup(PQgetvalue(result, 0, 0));
}

/* Process the stamps of all tables. */
static void
process_stamps(EmogiRemoteConnection *connection, const PGresult *result)
{
	int			row = 0;
	ListCell   *cell;

	if (PQnfields(result) != 3 || PQntuples(result) != list_length(connection->server->tables))
		emogi_remote_errors_protocol(connection);
	foreach(cell, connection->server->tables)
	{
		EmogiRemoteTable *table = lfirst(cell);
		char	   *types = PQgetvalue(result, row, 2);

		table->stamp = PQgetisnull(result, row, 0) ? NULL : pstrdup(PQgetvalue(result, row, 0));
		table->stamped = (Oid) strtoul(PQgetvalue(result, row, 1), NULL, 10);
		for (int i = 0; i < table->ncolumns; i++)
			table->remote_types[i] = (Oid) strtoul(types, &types, 10);
		row++;
	}
}

/* Is this status expected in the connection's phase? */
static bool
is_expected(const EmogiRemoteConnection *connection, ExecStatusType status)
{
	switch (connection->phase)
	{
		case EMOGI_REMOTE_BEGINNING:
			return status == PGRES_COMMAND_OK || (status == PGRES_TUPLES_OK && connection->leads);
		case EMOGI_REMOTE_ENDING:
		case EMOGI_REMOTE_SECURING:
		case EMOGI_REMOTE_PREPARING:
		case EMOGI_REMOTE_DESCRIBING:
			return status == PGRES_COMMAND_OK;
		case EMOGI_REMOTE_FINDING:
		case EMOGI_REMOTE_STAMPING:
		case EMOGI_REMOTE_MEASURING:
			return status == PGRES_TUPLES_OK;
		case EMOGI_REMOTE_COPYING:
			if (!connection->has_copied)
				return status == PGRES_COPY_OUT;
			return status == PGRES_COMMAND_OK &&
				(connection->table->is_text || connection->copy.has_ended);
		default:
			return false;
	}
}

/*
 * Reopen a pooled connection that the server has closed meanwhile; nothing has been received on it
 * yet.
 */
void
emogi_copy_protocol_reconnect(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	emogi_connection_close(connection);
	connection->was_kept = false;
	reading->is_changed = true;
	emogi_connection_start(connection);
}

/* Is this a pooled connection that has failed before its transaction began? */
static bool
is_stale(const EmogiRemoteConnection *connection)
{
	return connection->was_kept &&
		(connection->phase == EMOGI_REMOTE_ENDING || connection->phase == EMOGI_REMOTE_BEGINNING);
}

/*
 * Process an answer; return false if it shows that a pooled connection had been closed, and a new
 * one is being opened. Raises the server's errors.
 */
static bool
process_result(EmogiRemote *reading, EmogiRemoteConnection *connection, PGresult *result)
{
	const ExecStatusType status = PQresultStatus(result);

	if ((status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) && is_stale(connection))
	{
		PQclear(result);
		emogi_copy_protocol_reconnect(reading, connection);
		return false;
	}
	if (status == PGRES_FATAL_ERROR || status == PGRES_NONFATAL_ERROR ||
		status == PGRES_BAD_RESPONSE)
		emogi_remote_errors_result(connection, result);
	if (!is_expected(connection, status))
	{
		PQclear(result);
		emogi_remote_errors_protocol(connection);
	}
	if (connection->phase == EMOGI_REMOTE_BEGINNING && status == PGRES_TUPLES_OK)
		process_snapshot(connection, result);
	else if (connection->phase == EMOGI_REMOTE_FINDING)
		process_stamp_function(connection, result);
	else if (connection->phase == EMOGI_REMOTE_STAMPING)
		process_stamps(connection, result);
	else if (connection->phase == EMOGI_REMOTE_DESCRIBING)
		process_description(connection, result);
	else if (connection->phase == EMOGI_REMOTE_MEASURING)
		process_measure(reading, connection, result);
	else if (connection->phase == EMOGI_REMOTE_COPYING && status == PGRES_COPY_OUT)
		connection->is_copying = connection->has_copied = true;
	PQclear(result);
	return true;
}

/* Continue after all answers to a statement have been received. */
static void
process_end(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	switch (connection->phase)
	{
		case EMOGI_REMOTE_ENDING:
			emogi_copy_protocol_begin(reading, connection);
			break;
		case EMOGI_REMOTE_BEGINNING:
			if (reading->only_asks)
				find_stamp_function(connection);
			else if (connection->leads)
				prepare(connection);
			else
				emogi_copy_protocol_copy(reading, connection);
			break;
		case EMOGI_REMOTE_FINDING:
			ask_stamps(reading, connection);
			break;
		case EMOGI_REMOTE_STAMPING:
			connection->phase = EMOGI_REMOTE_DONE;
			reading->is_changed = true;
			break;
		case EMOGI_REMOTE_SECURING:
			prepare(connection);
			break;
		case EMOGI_REMOTE_PREPARING:
			describe(connection);
			break;
		case EMOGI_REMOTE_DESCRIBING:
			measure(connection);
			break;
		case EMOGI_REMOTE_MEASURING:
			continue_with_next(reading, connection);
			break;
		case EMOGI_REMOTE_COPYING:
			if (!connection->has_copied)
				emogi_remote_errors_protocol(connection);
			emogi_copy_protocol_copy(reading, connection);
			break;
		case EMOGI_REMOTE_CONNECTING:
		case EMOGI_REMOTE_DONE:
			break;
	}
}

/* Error context callback: name the table whose rows were decoded. */
static void
table_error_callback(void *arg)
{
	const EmogiRemoteConnection *connection = arg;

	errcontext("reading %s \"%s\" from server \"%s\"", emogi_remote_errors_kind(connection->server),
			   connection->table->name, connection->server->name);
}

/* Decode the rows received; return false if more may follow. */
static bool
decode_rows(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	ErrorContextCallback callback = {error_context_stack, table_error_callback, connection};
	int			length;

	error_context_stack = &callback;
	while ((length = PQgetCopyData(connection->conn, &connection->message, true)) > 0)
	{
		reading->call->record.network_bytes += length;
		if (unlikely(!emogi_decode_message(&reading->decoder, connection->table,
										   connection->message, length, &connection->copy)))
			emogi_remote_errors_protocol(connection);
		PQfreemem(connection->message);
	}
	connection->message = NULL;
	error_context_stack = callback.previous;
	if (length == -2)
		emogi_remote_errors_connection(connection, NULL);
	if (length == -1)
		connection->is_copying = false;
	return length != 0;
}

/* Process everything that a connection has received. */
void
emogi_copy_protocol_advance(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	while (connection->phase != EMOGI_REMOTE_DONE)
	{
		PGresult   *result;

		CHECK_FOR_INTERRUPTS();
		if (connection->is_copying && !decode_rows(reading, connection))
			return;
		if (PQisBusy(connection->conn))
			return;
		result = PQgetResult(connection->conn);
		if (result == NULL)
			process_end(reading, connection);
		else if (!process_result(reading, connection, result))
			return;
	}
}
