/*
 * connection_pool.c: connections that a session keeps open between calls, to ask servers whether
 * rows have changed.
 *
 * One is to be had again for just the same options. It is in no transaction: the end of the last
 * one has been sent, and its answer may still be on the way. Settings were the transaction's, and
 * have ended with it. Whatever has gone wrong with it meanwhile is found out when it is taken, and
 * another is opened.
 */
#include "postgres.h"

#include "storage/fd.h"
#include "utils/memutils.h"

#include "remote/remote_internal.h"

/* Connections that a session keeps, at most; the one that has not been used for longest goes. */
#define MOST_KEPT 64

typedef struct Kept
{
	PGconn	   *conn;			/* NULL = there is none */
	char	   *key;			/* in TopMemoryContext */
	int			length;
	uint64		used;
} Kept;

static Kept kept[MOST_KEPT];
static uint64 nused;

/* Close a kept connection. */
static void
drop(Kept *one)
{
	PQfinish(one->conn);
	ReleaseExternalFD();
	one->conn = NULL;
	pfree(one->key);
}

/* Take the answers that have come; false when one says that something is wrong. */
static bool
take_answers(PGconn *conn)
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
 * Is a connection as it was left: there, and at nothing but the end of its transaction, if that?
 * The end of a connection is read behind a server's last words.
 */
static bool
is_alive(PGconn *conn)
{
	return PQconsumeInput(conn) && take_answers(conn) && PQconsumeInput(conn) &&
		take_answers(conn) &&
		(PQtransactionStatus(conn) == PQTRANS_IDLE || PQtransactionStatus(conn) == PQTRANS_ACTIVE);
}

/*
 * Is a connection to the same foreign server for the same user kept, by options that it had? The
 * key begins with who it is for.
 */
static bool
is_outdated(const Kept *one, const StringInfo key)
{
	return key->data[0] != '0' && strcmp(one->key, key->data) == 0 &&
		(one->length != key->len || memcmp(one->key, key->data, key->len) != 0);
}

/*
 * Take the connection that is kept by a key; NULL when there is none that is alive. It is the
 * caller's, with the right to its file.
 */
PGconn *
emogi_connection_pool_take(const StringInfo key)
{
	for (int i = 0; i < MOST_KEPT; i++)
		if (kept[i].conn != NULL && is_outdated(&kept[i], key))
			drop(&kept[i]);
	for (int i = 0; i < MOST_KEPT; i++)
	{
		Kept	   *one = &kept[i];
		PGconn	   *conn = one->conn;

		if (conn == NULL || one->length != key->len || memcmp(one->key, key->data, key->len) != 0)
			continue;
		if (!is_alive(conn))
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

/* Find a place, if need be that of the one that has not been used for longest. */
static Kept *
find_place(void)
{
	Kept	   *oldest = &kept[0];

	for (int i = 0; i < MOST_KEPT; i++)
	{
		Kept	   *one = &kept[i];

		if (one->conn == NULL)
			return one;
		if (one->used < oldest->used)
			oldest = one;
	}
	drop(oldest);
	return oldest;
}

/* Keep a connection by a key, if its transaction can be ended; else close it. */
void
emogi_connection_pool_give(const StringInfo key, PGconn *conn)
{
	char	   *copy = MemoryContextAllocExtended(TopMemoryContext, key->len, MCXT_ALLOC_NO_OOM);
	Kept	   *one;

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
	*one = (Kept) {conn, copy, key->len, ++nused};
}
