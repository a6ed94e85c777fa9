/*
 * connection_pool.c: connections that a session keeps open between calls, to ask servers whether
 * rows have changed
 *
 * A connection is reused only for exactly the same options. It is in no transaction: the COMMIT of
 * the last one has been sent, and its answer may still be in transit. Settings were local to the
 * transaction. Any failure of a pooled connection is detected when it is taken, and then a new one
 * is opened.
 */
#include "postgres.h"

#include "storage/fd.h"
#include "utils/memutils.h"

#include "remote/remote_internal.h"

/*
 * Maximum number of connections that a session keeps; the least recently used one is closed first.
 */
#define MAX_KEPT 64

typedef struct PooledConnection
{
	PGconn	   *conn;			/* NULL = free */
	char	   *key;			/* in TopMemoryContext */
	int			length;
	uint64		used;
} PooledConnection;

static PooledConnection kept[MAX_KEPT];
static uint64 nused;

/* Close a pooled connection. */
static void
drop(PooledConnection *one)
{
	PQfinish(one->conn);
	ReleaseExternalFD();
	one->conn = NULL;
	pfree(one->key);
}

/* Consume the answers that have arrived; return false if one is an error. */
static bool
consume_answers(PGconn *conn)
{
	while (PQstatus(conn) == CONNECTION_OK && !PQisBusy(conn))
	{
		PGresult   *result = PQgetResult(conn);
		const bool	is_last = result == NULL;
		const bool	is_fine = is_last || PQresultStatus(result) == PGRES_COMMAND_OK;

		PQclear(result);
		if (is_last || !is_fine)
			return is_fine;
	}
	return PQstatus(conn) == CONNECTION_OK;
}

/*
 * Is a connection still usable: open, and idle except for the answer to COMMIT? The end of a
 * connection is read only after a server's last message, therefore consume twice.
 */
static bool
is_usable(PGconn *conn)
{
	return PQconsumeInput(conn) && consume_answers(conn) && PQconsumeInput(conn) &&
		consume_answers(conn) &&
		(PQtransactionStatus(conn) == PQTRANS_IDLE || PQtransactionStatus(conn) == PQTRANS_ACTIVE);
}

/*
 * Is this a connection to the same foreign server for the same user, but with outdated options? The
 * key starts with the server and the user.
 */
static bool
is_outdated(const PooledConnection *one, const StringInfo key)
{
	return key->data[0] != '0' && strcmp(one->key, key->data) == 0 &&
		(one->length != key->len || memcmp(one->key, key->data, key->len) != 0);
}

/*
 * Take the pooled connection with a key; NULL if there is none that is alive. The caller owns it,
 * including its reserved file descriptor.
 */
PGconn *
emogi_connection_pool_take(const StringInfo key)
{
	for (int i = 0; i < MAX_KEPT; i++)
		if (kept[i].conn != NULL && is_outdated(&kept[i], key))
			drop(&kept[i]);
	for (int i = 0; i < MAX_KEPT; i++)
	{
		PooledConnection	   *one = &kept[i];
		PGconn	   *conn = one->conn;

		if (conn == NULL || one->length != key->len || memcmp(one->key, key->data, key->len) != 0)
			continue;
		if (!is_usable(conn))
		{
			drop(one);
			return NULL;
		}
		one->conn = NULL;
		pfree(one->key);
		return conn;
	}
	return NULL;
}

/* Find a free entry; if there is none, close the least recently used connection. */
static PooledConnection *
find_place(void)
{
	PooledConnection	   *oldest = &kept[0];

	for (int i = 0; i < MAX_KEPT; i++)
	{
		PooledConnection	   *one = &kept[i];

		if (one->conn == NULL)
			return one;
		if (one->used < oldest->used)
			oldest = one;
	}
	drop(oldest);
	return oldest;
}

/* Put a connection into the pool if its transaction can be ended; otherwise close it. */
void
emogi_connection_pool_return(const StringInfo key, PGconn *conn)
{
	char	   *copy = MemoryContextAllocExtended(TopMemoryContext, key->len, MCXT_ALLOC_NO_OOM);
	PooledConnection	   *one;

	if (copy == NULL || PQstatus(conn) != CONNECTION_OK ||
		PQtransactionStatus(conn) != PQTRANS_INTRANS || !PQsendQuery(conn, "COMMIT") ||
		PQflush(conn) != 0)
	{
		if (copy != NULL)
			pfree(copy);
		PQfinish(conn);
		ReleaseExternalFD();
		return;
	}
	memcpy(copy, key->data, key->len);
	one = find_place();
	*one = (PooledConnection) {conn, copy, key->len, ++nused};
}
