/*
 * remote_read.c: reading the tables of any number of servers concurrently
 *
 * One process waits for all connections, and decodes what they receive. The first connection to a
 * server begins a transaction there, gets the types and pages of the tables, and exports its
 * snapshot. The other connections, which are opened when the tables are known to be large enough,
 * import it and so see the same rows. Each then copies ranges of pages until none is left. The
 * first connection's lock on a table prevents its rewriting meanwhile, so that page numbers stay
 * valid.
 *
 * When a read ends early, by an error, a cancel, or the end of the session, the connections are
 * closed and the servers' statements are canceled.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/settings.h"
#include "base/shared.h"
#include "remote/remote_state.h"
#include "remote/version_stamp.h"

/*
 * If encryption buffers data, sockets do not show it; connections are then polled at this interval.
 */
#define ENCRYPTED_WAIT_MS 100

/* Events processed at once. */
#define MAX_EVENTS 64

/*
 * Maximum nesting of reads, which occurs if a type's input function reads foreign tables. The
 * number of exit callbacks of a process is small.
 */
#define MAX_READINGS 4

static int	nreadings;

/* ---- events ---- */

/* Is a connection established and not done? */
static bool
is_busy(const EmogiRemoteConnection *connection)
{
	return connection->phase != EMOGI_REMOTE_CONNECTING && connection->phase != EMOGI_REMOTE_DONE;
}

/* Make one step of a connection whose socket is, or may be, ready. */
static void
step(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	bool		is_lost;

	if (connection->phase == EMOGI_REMOTE_CONNECTING)
	{
		reading->is_changed = true;
		if (!emogi_connection_continue(connection))
			return;
		reading->is_encrypted |= PQsslInUse(connection->conn) || PQgssEncInUse(connection->conn);
		emogi_copy_protocol_begin(reading, connection);
		return;
	}
	is_lost = !PQconsumeInput(connection->conn);
	emogi_copy_protocol_advance(reading, connection);	/* the server may have sent the reason */
	if (is_lost && is_busy(connection))
		emogi_remote_errors_connection(connection, NULL);
}

/* Make one step of a connection, and send pending data. */
static void
advance(EmogiRemote *reading, EmogiRemoteConnection *connection)
{
	const bool	was_sending = connection->is_sending;

	CHECK_FOR_INTERRUPTS();
	step(reading, connection);
	if (is_busy(connection))
		emogi_connection_flush(connection);
	reading->is_changed |= connection->is_sending != was_sending;
}

/* Get the events that a connection waits for. */
static uint32
events_of(EmogiRemoteConnection *connection)
{
	if (connection->phase == EMOGI_REMOTE_CONNECTING)
		return connection->poll == PGRES_POLLING_WRITING ? WL_SOCKET_WRITEABLE : WL_SOCKET_READABLE;
	emogi_connection_flush(connection);
	return connection->is_sending ? WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE : WL_SOCKET_READABLE;
}

/* Build the set of the events that all connections wait for. */
static void
make_events(EmogiRemote *reading)
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
		EmogiRemoteConnection *connection = lfirst(cell);

		if (connection->phase != EMOGI_REMOTE_DONE)
			AddWaitEventToSet(reading->events, events_of(connection), PQsocket(connection->conn),
							  NULL, connection);
	}
	reading->is_changed = false;
}

/*
 * Count the connections that are not done. Raises 08001 if one has exceeded its connection timeout.
 */
static int
count_active(const EmogiRemote *reading, long *timeout_ms)
{
	int			count = 0;
	ListCell   *cell;

	*timeout_ms = reading->is_encrypted ? ENCRYPTED_WAIT_MS : -1;
	foreach(cell, reading->connections)
	{
		EmogiRemoteConnection *connection = lfirst(cell);

		count += connection->phase != EMOGI_REMOTE_DONE;
		if (connection->phase == EMOGI_REMOTE_CONNECTING && connection->deadline != 0)
		{
			if (GetCurrentTimestamp() >= connection->deadline)
				emogi_remote_errors_connection(connection, "timeout expired");
			*timeout_ms = ENCRYPTED_WAIT_MS;
		}
	}
	return count;
}

/* Poll all established connections: encryption may buffer data that their sockets do not show. */
static void
advance_all(EmogiRemote *reading)
{
	for (int i = 0; i < list_length(reading->connections); i++)
	{
		EmogiRemoteConnection *connection = list_nth(reading->connections, i);

		if (is_busy(connection))
			advance(reading, connection);
	}
}

/* Read until all connections are done. */
static void
read_all(EmogiRemote *reading)
{
	WaitEvent	occurred[MAX_EVENTS];
	long		timeout_ms;

	while (count_active(reading, &timeout_ms) > 0)
	{
		int			count;

		if (reading->is_changed)
			make_events(reading);
		count = WaitEventSetWait(reading->events, timeout_ms, occurred, MAX_EVENTS,
								 emogi_shared_wait_event(EMOGI_WAIT_SERVERS));
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

/* ---- exported ---- */

/* Run all connections until they are done. */
static void
finish(EmogiRemote *reading)
{
	read_all(reading);
	reading->is_at_rest = true;
}

/* Connect to all servers. */
static void
connect_all(EmogiRemote *reading)
{
	ListCell   *cell;

	foreach(cell, reading->servers)
		emogi_copy_protocol_connect(reading, lfirst(cell), true);
}

/*
 * Prepare to ask and read the servers of the foreign tables and Citus tables found by
 * emogi_remote_list. Does not connect yet. The caller must call emogi_remote_release, or, after an
 * error, emogi_remote_close with the result as a Datum. Raises 54001, 42704, 22023 and 40001.
 */
EmogiRemote *
emogi_remote_open(EmogiCall *call, const EmogiSource *source, List *elsewhere)
{
	EmogiRemote *reading = palloc0(sizeof *reading);

	if (nreadings >= MAX_READINGS)
		ereport(ERROR,
				(errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
				 errmsg("reading foreign tables is nested too deeply"),
				 errdetail("Functions called for values of foreign tables read foreign tables, %d "
						   "levels deep.", nreadings),
				 errhint("Set emogi.server_connections to 0, so that postgres_fdw reads them.")));
	reading->call = call;
	reading->context = CurrentMemoryContext;
	reading->servers = emogi_remote_tables_describe(source, elsewhere);
	reading->is_at_rest = true;
	call->record.nservers = list_length(reading->servers);
	nreadings++;
	return reading;
}

/* Free the wait event set. */
static void
free_events(EmogiRemote *reading)
{
	if (reading->events != NULL)
		FreeWaitEventSet(reading->events);
	reading->events = NULL;
}

/* Close all connections, after an error; also an on-exit callback. */
void
emogi_remote_close(int code, Datum servers)
{
	EmogiRemote *reading = (EmogiRemote *) DatumGetPointer(servers);
	ListCell   *cell;

	nreadings--;
	if (!reading->is_at_rest)
		emogi_remote_cancel(reading->connections);
	foreach(cell, reading->connections)
		emogi_connection_close(lfirst(cell));
	free_events(reading);
}

/* Release all connections after success. */
void
emogi_remote_release(EmogiRemote *reading)
{
	ListCell   *cell;

	nreadings--;
	free_events(reading);
	foreach(cell, reading->connections)
		emogi_connection_release(lfirst(cell));
}

/*
 * May a graph of these columns be cached at all? Values of other types could change their meaning
 * on either server, or differ between sessions.
 */
static bool
are_covered(const EmogiRemoteTable *table)
{
	for (int i = 0; i < table->ncolumns; i++)
		if (!emogi_version_stamp_covers_types(table->remote_types[i], table->columns[i].type))
			return false;
	return true;
}

/* Get the reason why a graph of a table is not cached; NULL if it is. */
static const char *
why_not_kept(const EmogiRemoteServer *server, const EmogiRemoteTable *table)
{
	const char *kind = emogi_remote_errors_kind(server);

	if (server->stamp_schema == NULL)
		return psprintf("server \"%s\" does not have the extension emogi, which detects changes of "
						"%s \"%s\"",
						server->name, kind, table->name);
	if (table->stamp == NULL)
		return psprintf("server \"%s\" cannot detect changes of %s \"%s\"", server->name,
						kind, table->name);
	if (!are_covered(table))
		return psprintf("%s \"%s\" has columns of other types on server \"%s\"", kind, table->name,
						server->name);
	return NULL;
}

/*
 * Append the stamps of all tables to bytes. Return the reason why a graph of them is not cached;
 * NULL if it is.
 */
static const char *
list_stamps(const EmogiRemote *reading, StringInfo bytes)
{
	ListCell   *server;

	foreach(server, reading->servers)
	{
		ListCell   *cell;

		foreach(cell, ((EmogiRemoteServer *) lfirst(server))->tables)
		{
			const EmogiRemoteTable *table = lfirst(cell);
			const char *why = why_not_kept(lfirst(server), table);

			if (why != NULL)
				return why;
			emogi_remote_tables_write_layout(bytes, table);
			appendStringInfoString(bytes, table->stamp);
			appendStringInfoChar(bytes, '\0');
		}
	}
	return NULL;
}

/*
 * Ask all servers for the stamps of the rows to be read, each under the snapshot of the later read,
 * and compute their fingerprint: equal fingerprints guarantee equal rows. Return NULL, or the
 * reason why a graph of them must not be cached, valid while the servers are open. Raises 08001,
 * 08006, and errors of servers.
 */
const char *
emogi_remote_get_fingerprint(EmogiRemote *reading, uint8 *fingerprint)
{
	MemoryContext old = MemoryContextSwitchTo(reading->context);
	StringInfoData bytes;
	const char *why;
	ListCell   *cell;

	reading->only_asks = true;
	reading->is_at_rest = false;
	connect_all(reading);
	finish(reading);
	initStringInfo(&bytes);
	why = list_stamps(reading, &bytes);
	if (why == NULL)
		emogi_version_stamp_digest(bytes.data, bytes.len, fingerprint);
	foreach(cell, reading->servers)
		((EmogiRemoteServer *) lfirst(cell))->will_be_cached = why == NULL;
	pfree(bytes.data);
	MemoryContextSwitchTo(old);
	return why;
}

/*
 * Have all servers send their rows; if they have done so already, send them again over the existing
 * connections.
 */
static void
read_servers(EmogiRemote *reading)
{
	ListCell   *cell;

	if (reading->connections == NIL)
		connect_all(reading);
	else
		foreach(cell, reading->connections)
		{
			EmogiRemoteConnection *connection = lfirst(cell);

			if (connection->server->ndescribed == 0)
				emogi_copy_protocol_read(connection);
			else
				emogi_copy_protocol_copy(reading, connection);
		}
	reading->is_changed = true;
	finish(reading);
}

/* Mark all ranges of all tables as not taken. */
static void
rewind_ranges(EmogiRemote *reading)
{
	ListCell   *server;

	foreach(server, reading->servers)
	{
		ListCell   *cell;

		foreach(cell, ((EmogiRemoteServer *) lfirst(server))->tables)
			((EmogiRemoteTable *) lfirst(cell))->ranges.next = 0;
	}
}

/*
 * Fill a call's slot with the edges of heaps, as the active snapshot sees them, and of the servers'
 * tables, whether or not they were asked or read before: each server keeps its snapshot.
 * secure_hash: see emogi_sink_begin. Raises 08001 and 08006, errors of servers, and the errors of
 * decode.c and of emogi_heap_scan_tables.
 */
void
emogi_remote_read(EmogiRemote *reading, const EmogiSource *source, List *heaps,
				  EmogiWeights weights, bool secure_hash)
{
	EmogiCall  *call = reading->call;
	MemoryContext old;

	call->slot->control.done = call->slot->control.total = 0;
	emogi_sink_begin(call, &source->key, emogi_sink_weights(source->weight > 0, source->reverse > 0,
															weights), -1, secure_hash);
	if (heaps != NIL)
		emogi_heap_scan_add(call, source, heaps, NULL);
	emogi_decode_open(&reading->decoder, emogi_slot_token(call->slot));
	old = MemoryContextSwitchTo(reading->context);
	reading->only_asks = false;
	reading->is_at_rest = false;
	rewind_ranges(reading);
	read_servers(reading);
	MemoryContextSwitchTo(old);
	emogi_decode_finish(&reading->decoder);
}
