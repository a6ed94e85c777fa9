/*
 * read.c: foreign tables and shards of any number of servers to edges, all at once.
 *
 * One process waits for all connections, and decodes what has come. The first connection to a server begins a transaction there, finds out
 * the types and pages of the tables, and exports its snapshot. So the others, which are opened when it is known that there is enough for
 * them, see the same rows. Each then copies ranges of pages until there are no more. The lock that the first one has on a table keeps it
 * from being rewritten meanwhile: pages are what they were.
 *
 * However a read ends, by an error, a cancel, or the end of the session, the connections are closed, and what servers are at is cancelled.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "server/compat.h"
#include "server/settings.h"
#include "server/shared.h"
#include "servers/decode.h"
#include "servers/far.h"

/* Versions from which on pages are read by TID, and from which on binary forms are those of today. */
#define VERSION_WITH_TID_RANGES 140000
#define VERSION_WITH_BINARY 100000

/* Where encryption keeps bytes back that a socket does not tell of, connections are looked at so often. */
#define ENCRYPTED_WAIT_MS 100

/* Events that are taken at once. */
#define MOST_EVENTS 64

/* Reads within reads, for what a value's function reads. The server has few places for what is to be done at an exit. */
#define MOST_READINGS 4

static int	nreadings;

typedef struct Reading
{
	EmogiCall  *call;
	List	   *servers;		/* EmogiFarServer */
	List	   *connections;	/* EmogiFarConnection */
	EmogiDecoder decoder;
	WaitEventSet *events;		/* NULL = there is none */
	bool		is_changed;		/* sockets are others, or wait for something else, than the set of events says */
	bool		is_encrypted;	/* some connection */
	bool		is_over;		/* all has been read */
} Reading;

/* ---- connections ---- */

/* Open a connection to a server. */
static void
open_connection(Reading *reading, EmogiFarServer *server, bool leads)
{
	EmogiFarConnection *connection = palloc0(sizeof *connection);

	connection->server = server;
	connection->leads = leads;
	reading->connections = lappend(reading->connections, connection);
	reading->is_changed = true;
	emogi_connection_start(connection);
	reading->call->record.nconnections++;
}

/* Close all connections; an on-exit callback, too. */
static void
close_all(int code, Datum arg)
{
	Reading    *reading = (Reading *) DatumGetPointer(arg);
	ListCell   *cell;

	nreadings--;

	if (!reading->is_over)
		emogi_cancel_statements(reading->connections);
	foreach(cell, reading->connections)
		emogi_connection_close(lfirst(cell));
	if (reading->events != NULL)
		FreeWaitEventSet(reading->events);
	reading->events = NULL;
}

/* ---- steps ---- */

/* Begin a connection's transaction. */
static void
begin(EmogiFarConnection *connection)
{
	connection->phase = EMOGI_FAR_BEGINNING;
	emogi_connection_send(connection, emogi_texts_begin(connection->server, PQserverVersion(connection->conn), connection->leads && emogi_server_connections > 1));
}

/* Have a table's SELECT prepared. */
static void
prepare(EmogiFarConnection *connection)
{
	connection->phase = EMOGI_FAR_PREPARING;
	connection->table = list_nth(connection->server->tables, connection->server->ndescribed);
	connection->sql = emogi_texts_select(connection->table);
	if (!PQsendPrepare(connection->conn, "", connection->sql, 0, NULL))
		emogi_report_connection(connection, NULL);
}

/* Ask for the columns of what was prepared. */
static void
describe(EmogiFarConnection *connection)
{
	connection->phase = EMOGI_FAR_DESCRIBING;
	if (!PQsendDescribePrepared(connection->conn, ""))
		emogi_report_connection(connection, NULL);
}

/* Ask for a table's pages. */
static void
measure(EmogiFarConnection *connection)
{
	connection->phase = EMOGI_FAR_MEASURING;
	emogi_connection_send(connection, emogi_texts_measure(connection->table));
}

/* Copy a range that nobody has taken yet; without one, the connection is done. */
static void
copy(Reading *reading, EmogiFarConnection *connection)
{
	ListCell   *cell;

	foreach(cell, connection->server->tables)
	{
		EmogiFarTable *table = lfirst(cell);

		if (table->ranges.next == table->ranges.count)
			continue;
		connection->table = table;
		connection->phase = EMOGI_FAR_COPYING;
		connection->is_copying = connection->has_copied = false;
		connection->copy = (EmogiFarCopy) {false, false};
		emogi_connection_send(connection, emogi_texts_copy(table, table->ranges.next++));
		reading->call->record.nranges++;
		return;
	}
	connection->phase = EMOGI_FAR_DONE;
	reading->is_changed = true;
}

/* Open the other connections to a server whose tables are known, as many as there is enough for. */
static void
open_others(Reading *reading, EmogiFarServer *server)
{
	const uint64 wanted = emogi_ranges_connections(server->tables);

	for (int i = 1; i < emogi_server_connections && (uint64) i < wanted && server->snapshot != NULL; i++)
		open_connection(reading, server, false);
}

/* Go on when a table's pages are known: to the next table, or to copy. */
static void
go_on(Reading *reading, EmogiFarConnection *connection)
{
	EmogiFarServer *server = connection->server;

	if (++server->ndescribed < list_length(server->tables))
	{
		prepare(connection);
		return;
	}
	open_others(reading, server);
	copy(reading, connection);
}

/* ---- answers ---- */

/* Take the types of a table's columns. */
static void
take_description(EmogiFarConnection *connection, const PGresult *result)
{
	EmogiFarTable *table = connection->table;
	Oid			types[EMOGI_FAR_MOST_COLUMNS];

	if (PQnfields(result) != table->ncolumns)
		emogi_report_protocol(connection);
	for (int i = 0; i < table->ncolumns; i++)
		types[i] = PQftype(result, i);
	emogi_decode_choose_forms(table, types, PQserverVersion(connection->conn) >= VERSION_WITH_BINARY);
}

/* Is a flag set in an answer of one row? */
static bool
is_set(const PGresult *result, int column)
{
	return strcmp(PQgetvalue(result, 0, column), "t") == 0;
}

/* Take a table's pages, and divide them. */
static void
take_measure(Reading *reading, EmogiFarConnection *connection, const PGresult *result)
{
	EmogiFarTable *table = connection->table;
	bool		has_pages;
	uint64		npages;
	double		rows;

	if (PQntuples(result) != 1 || PQnfields(result) != 6)
		emogi_report_protocol(connection);
	has_pages = is_set(result, 0) && PQserverVersion(connection->conn) >= VERSION_WITH_TID_RANGES;
	rows = strtod(PQgetvalue(result, 0, 3), NULL);
	npages = has_pages ? strtoull(PQgetvalue(result, 0, 2), NULL, 10) : 0;
	if (npages > MaxBlockNumber)
		emogi_report_protocol(connection);
	table->ranges = emogi_ranges_divide(npages, emogi_server_connections);
	table->oid = has_pages && !is_set(result, 1) ? (Oid) strtoul(PQgetvalue(result, 0, 4), NULL, 10) : InvalidOid;
	table->is_grouped = OidIsValid(table->oid) && emogi_decode_may_group(table);
	if (table->is_grouped && !PQgetisnull(result, 0, 5))
		table->packer = pstrdup(PQgetvalue(result, 0, 5));
	reading->call->slot->control.total += rows > 0 ? (uint64) rows : 0;
}

/* Take the name of the snapshot. */
static void
take_snapshot(EmogiFarConnection *connection, const PGresult *result)
{
	if (PQntuples(result) != 1 || PQnfields(result) != 1)
		emogi_report_protocol(connection);
	connection->server->snapshot = pstrdup(PQgetvalue(result, 0, 0));
}

/* Is this what a server answers in this phase? */
static bool
is_expected(const EmogiFarConnection *connection, ExecStatusType status)
{
	switch (connection->phase)
	{
		case EMOGI_FAR_BEGINNING:
			return status == PGRES_COMMAND_OK || (status == PGRES_TUPLES_OK && connection->leads);
		case EMOGI_FAR_PREPARING:
		case EMOGI_FAR_DESCRIBING:
			return status == PGRES_COMMAND_OK;
		case EMOGI_FAR_MEASURING:
			return status == PGRES_TUPLES_OK;
		case EMOGI_FAR_COPYING:
			if (!connection->has_copied)
				return status == PGRES_COPY_OUT;
			return status == PGRES_COMMAND_OK && (connection->table->is_text || connection->copy.has_ended);
		default:
			return false;
	}
}

/* Take an answer. Raises what the server raises. */
static void
take_result(Reading *reading, EmogiFarConnection *connection, PGresult *result)
{
	const ExecStatusType status = PQresultStatus(result);

	if (status == PGRES_FATAL_ERROR || status == PGRES_NONFATAL_ERROR || status == PGRES_BAD_RESPONSE)
		emogi_report_result(connection, result);
	if (!is_expected(connection, status))
	{
		PQclear(result);
		emogi_report_protocol(connection);
	}
	if (connection->phase == EMOGI_FAR_BEGINNING && status == PGRES_TUPLES_OK)
		take_snapshot(connection, result);
	else if (connection->phase == EMOGI_FAR_DESCRIBING)
		take_description(connection, result);
	else if (connection->phase == EMOGI_FAR_MEASURING)
		take_measure(reading, connection, result);
	else if (connection->phase == EMOGI_FAR_COPYING && status == PGRES_COPY_OUT)
		connection->is_copying = connection->has_copied = true;
	PQclear(result);
}

/* Go on when all answers to what was sent have come. */
static void
take_end(Reading *reading, EmogiFarConnection *connection)
{
	switch (connection->phase)
	{
		case EMOGI_FAR_BEGINNING:
			if (connection->leads)
				prepare(connection);
			else
				copy(reading, connection);
			break;
		case EMOGI_FAR_PREPARING:
			describe(connection);
			break;
		case EMOGI_FAR_DESCRIBING:
			measure(connection);
			break;
		case EMOGI_FAR_MEASURING:
			go_on(reading, connection);
			break;
		case EMOGI_FAR_COPYING:
			if (!connection->has_copied)
				emogi_report_protocol(connection);
			copy(reading, connection);
			break;
		case EMOGI_FAR_CONNECTING:
		case EMOGI_FAR_DONE:
			break;
	}
}

/* Tell in an error whose rows were decoded. */
static void
tell_table(void *arg)
{
	const EmogiFarConnection *connection = arg;

	errcontext("reading %s \"%s\" from server \"%s\"", emogi_report_kind(connection->server), connection->table->name, connection->server->name);
}

/* Decode the rows that have come; false when there may be more of them. */
static bool
take_rows(Reading *reading, EmogiFarConnection *connection)
{
	ErrorContextCallback callback = {error_context_stack, tell_table, connection};
	int			length;

	error_context_stack = &callback;
	while ((length = PQgetCopyData(connection->conn, &connection->message, true)) > 0)
	{
		reading->call->record.network_bytes += length;
		if (unlikely(!emogi_decode_take(&reading->decoder, connection->table, connection->message, length, &connection->copy)))
			emogi_report_protocol(connection);
		PQfreemem(connection->message);
	}
	connection->message = NULL;
	error_context_stack = callback.previous;
	if (length == -2)
		emogi_report_connection(connection, NULL);
	if (length == -1)
		connection->is_copying = false;
	return length != 0;
}

/* Take all that has come by a connection. */
static void
run_on(Reading *reading, EmogiFarConnection *connection)
{
	while (connection->phase != EMOGI_FAR_DONE)
	{
		PGresult   *result;

		CHECK_FOR_INTERRUPTS();
		if (connection->is_copying && !take_rows(reading, connection))
			return;
		if (PQisBusy(connection->conn))
			return;
		result = PQgetResult(connection->conn);
		if (result != NULL)
			take_result(reading, connection, result);
		else
			take_end(reading, connection);
	}
}

/* ---- events ---- */

/* Go on with a connection whose socket is ready, or may be. */
static void
advance(Reading *reading, EmogiFarConnection *connection)
{
	bool		is_lost;

	CHECK_FOR_INTERRUPTS();
	if (connection->phase == EMOGI_FAR_CONNECTING)
	{
		reading->is_changed = true;
		if (!emogi_connection_continue(connection))
			return;
		reading->is_encrypted |= PQsslInUse(connection->conn) || PQgssEncInUse(connection->conn);
		begin(connection);
		return;
	}
	is_lost = !PQconsumeInput(connection->conn);
	run_on(reading, connection);	/* the server may have said why */
	if (is_lost && connection->phase != EMOGI_FAR_DONE)
		emogi_report_connection(connection, NULL);
}

/* Get what a connection waits for. */
static uint32
events_of(const EmogiFarConnection *connection)
{
	return connection->phase == EMOGI_FAR_CONNECTING && connection->poll == PGRES_POLLING_WRITING ? WL_SOCKET_WRITEABLE : WL_SOCKET_READABLE;
}

/* Make a set of the events that connections wait for. */
static void
make_events(Reading *reading)
{
	ListCell   *cell;

	if (reading->events != NULL)
		FreeWaitEventSet(reading->events);
	reading->events = NULL;
	reading->events = emogi_compat_make_events(list_length(reading->connections) + 2);
	AddWaitEventToSet(reading->events, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(reading->events, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	foreach(cell, reading->connections)
	{
		EmogiFarConnection *connection = lfirst(cell);

		if (connection->phase != EMOGI_FAR_DONE)
			AddWaitEventToSet(reading->events, events_of(connection), PQsocket(connection->conn), NULL, connection);
	}
	reading->is_changed = false;
}

/* Get how many connections are not done. Raises 08001 for one that has taken too long to come about. */
static int
count_active(const Reading *reading, long *timeout_ms)
{
	int			count = 0;
	ListCell   *cell;

	*timeout_ms = reading->is_encrypted ? ENCRYPTED_WAIT_MS : -1;
	foreach(cell, reading->connections)
	{
		EmogiFarConnection *connection = lfirst(cell);

		count += connection->phase != EMOGI_FAR_DONE;
		if (connection->phase == EMOGI_FAR_CONNECTING && connection->deadline != 0)
		{
			if (GetCurrentTimestamp() >= connection->deadline)
				emogi_report_connection(connection, "timeout expired");
			*timeout_ms = ENCRYPTED_WAIT_MS;
		}
	}
	return count;
}

/* Look at all connections that are open: encryption may keep back what their sockets do not tell of. */
static void
advance_all(Reading *reading)
{
	for (int i = 0; i < list_length(reading->connections); i++)
	{
		EmogiFarConnection *connection = list_nth(reading->connections, i);

		if (connection->phase != EMOGI_FAR_CONNECTING && connection->phase != EMOGI_FAR_DONE)
			advance(reading, connection);
	}
}

/* Read until all connections are done. */
static void
read_all(Reading *reading)
{
	WaitEvent	occurred[MOST_EVENTS];
	long		timeout_ms;

	while (count_active(reading, &timeout_ms) > 0)
	{
		int			count;

		if (reading->is_changed)
			make_events(reading);
		count = WaitEventSetWait(reading->events, timeout_ms, occurred, MOST_EVENTS, emogi_shared_wait_event(EMOGI_WAIT_SERVERS));
		for (int i = 0; i < count; i++)
		{
			if (occurred[i].events & WL_LATCH_SET)
				ResetLatch(MyLatch);
			else
				advance(reading, occurred[i].user_data);
		}
		CHECK_FOR_INTERRUPTS();
		if (count == 0)
			advance_all(reading);
	}
}

/* ---- the whole ---- */

/* Read all servers. */
static void
read_servers(Reading *reading)
{
	ListCell   *cell;

	foreach(cell, reading->servers)
		open_connection(reading, lfirst(cell), true);
	reading->call->record.nservers = list_length(reading->servers);
	read_all(reading);
}

/*
 * Fill a call's slot with the edges of heaps, as the active snapshot sees them, and of foreign tables and Citus tables, as emogi_servers_list has found
 * them. careful: see emogi_sink_begin. Raises 08001 and 08006, what servers raise, what decode.c raises, and what emogi_heap_scan_tables
 * does.
 */
void
emogi_servers_read(EmogiCall *call, const EmogiSource *source, List *heaps, List *elsewhere, EmogiWeights weights, bool careful)
{
	Reading    *reading = palloc0(sizeof *reading);

	if (nreadings >= MOST_READINGS)
		ereport(ERROR,
				(errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
				 errmsg("reading foreign tables is nested too deeply"),
				 errdetail("Values of their rows have functions called that read foreign tables, %d deep.", nreadings),
				 errhint("Set emogi.server_connections to 0, to have postgres_fdw read them.")));
	reading->call = call;
	reading->servers = emogi_tables_describe(source, elsewhere);
	call->slot->control.done = call->slot->control.total = 0;
	emogi_sink_begin(call, &source->key, emogi_sink_weights(source->weight > 0, source->reverse > 0, weights), -1, careful);
	if (heaps != NIL)
		emogi_heap_scan_add(call, source, heaps, NULL);
	emogi_decode_open(&reading->decoder, call->slot->token);
	nreadings++;
	PG_ENSURE_ERROR_CLEANUP(close_all, PointerGetDatum(reading));
	{
		read_servers(reading);
	}
	PG_END_ENSURE_ERROR_CLEANUP(close_all, PointerGetDatum(reading));
	reading->is_over = true;
	close_all(0, PointerGetDatum(reading));
	emogi_decode_finish(&reading->decoder);
}
