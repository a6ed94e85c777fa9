/*
 * remote_internal.h: what the files of this room share: servers, tables there, and connections.
 *
 * All of it lies in memory of one read, but for what libpq has allocated.
 */
#ifndef EMOGI_REMOTE_INTERNAL_H
#define EMOGI_REMOTE_INTERNAL_H

#include "fmgr.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "libpq-fe.h"

#include "remote/remote.h"

/* Two ends, a weight, and that of the way back. */
#define EMOGI_REMOTE_MOST_COLUMNS 4

/* How a column's values come. */
typedef enum EmogiRemoteForm
{
	EMOGI_REMOTE_INTEGER,			/* binary, of 2, 4 or 8 bytes */
	EMOGI_REMOTE_FLOAT4,			/* binary */
	EMOGI_REMOTE_FLOAT8,			/* binary */
	EMOGI_REMOTE_RECEIVED,			/* binary, for the type's receive function */
	EMOGI_REMOTE_CHARACTERS		/* characters, for the type's input function */
} EmogiRemoteForm;

/* A column that is read. */
typedef struct EmogiRemoteColumn
{
	const char *name;			/* here */
	const char *far_name;
	Oid			type;
	Oid			base;			/* what the type is, or is a domain over */
	int32		typmod;
	EmogiRemoteForm form;			/* by emogi_decode_choose_forms, as all below */
	Oid			far_type;
	FmgrInfo	function;
	Oid			ioparam;
} EmogiRemoteColumn;

/* The ranges of a table's pages. */
typedef struct EmogiRemoteRanges
{
	uint64		npages;
	uint64		length;			/* of each range, in pages, a multiple of EMOGI_GROUP_PAGES */
	uint64		count;
	uint64		next;			/* that nobody has taken yet */
} EmogiRemoteRanges;

/* Pages whose rows come as one, where they are grouped: some 70 kB of two bigint columns. */
#define EMOGI_GROUP_PAGES 16

/* A foreign table, or a shard of a table of Citus. */
typedef struct EmogiRemoteTable
{
	Oid			relid;			/* here; of a shard that of its Citus table */
	const char *name;			/* here; of a shard there */
	const char *schema;			/* there */
	const char *relation;		/* there */
	int			ncolumns;		/* src, dst, weight, reverse */
	EmogiRemoteColumn columns[EMOGI_REMOTE_MOST_COLUMNS];
	bool		is_grouped;		/* each row of COPY has arrays, of the rows of EMOGI_GROUP_PAGES
								 * pages */
	Oid			oid;			/* there, which all rows must be of; 0 = unknown, or rows may be of
								 * children, too */
	const char *packer;			/* schema there of the emogi that packs its rows (packed.h), each
								 * row of COPY being a pack; NULL = none */
	const char *stamp;			/* what tells its rows, in hexadecimal; NULL = nobody has told */
	Oid			stamped;		/* its OID there, when that was told; 0 = it was not asked for */
	Oid			far_types[EMOGI_REMOTE_MOST_COLUMNS];	/* of the columns, likewise; 0 = unknown */
	bool		is_text;		/* COPY sends text: of one column at least the binary form is not
								 * what the type here takes */
	EmogiRemoteRanges ranges;
} EmogiRemoteTable;

/* A server: a foreign one, or a node of Citus. */
typedef struct EmogiRemoteServer
{
	const char *name;			/* in messages: of a node HOST:PORT */
	Oid			serverid;		/* InvalidOid = it is a node */
	const struct EmogiCitusNode *node;	/* NULL = it is a foreign server */
	List	   *options;		/* DefElem, those of libpq among them; of two of the same name the
								 * later one counts */
	bool		must_use_password;	/* that is among them, and that the server has asked for */
	List	   *tables;			/* EmogiRemoteTable */
	int			ndescribed;		/* tables, in their order */
	bool		is_told;		/* the stamps of all tables of all servers are known, and the graph
								 * may be kept */
	const char *teller;			/* schema there of the emogi that tells stamps; NULL = none, or it
								 * was not asked */
	char	   *snapshot;		/* its name there; NULL = nobody else imports it */
} EmogiRemoteServer;

/* What a connection does. */
typedef enum EmogiRemotePhase
{
	EMOGI_REMOTE_CONNECTING,
	EMOGI_REMOTE_ENDING,			/* the transaction of the call before */
	EMOGI_REMOTE_BEGINNING,		/* its transaction */
	EMOGI_REMOTE_FINDING,			/* who tells stamps there */
	EMOGI_REMOTE_STAMPING,			/* the stamps of all tables */
	EMOGI_REMOTE_SECURING,			/* that no row is hidden */
	EMOGI_REMOTE_PREPARING,		/* a table's SELECT, which locks it */
	EMOGI_REMOTE_DESCRIBING,		/* its columns */
	EMOGI_REMOTE_MEASURING,		/* its pages */
	EMOGI_REMOTE_COPYING,			/* a range */
	EMOGI_REMOTE_DONE
} EmogiRemotePhase;

/* What has come of a binary COPY. */
typedef struct EmogiRemoteCopy
{
	bool		has_begun;		/* its first bytes */
	bool		has_ended;		/* what says that there are no more rows */
} EmogiRemoteCopy;

/* A connection. */
typedef struct EmogiRemoteConnection
{
	EmogiRemoteServer *server;
	EmogiRemoteTable *table;		/* that it is at */
	PGconn	   *conn;			/* NULL = closed */
	StringInfoData key;			/* what it was opened with */
	EmogiRemotePhase phase;
	/* it is the first of its server, whose snapshot the others import */
	bool		leads;
	bool		was_kept;		/* by the session, and nothing has come by it since */
	PostgresPollingStatusType poll; /* what it waits for while it connects */
	TimestampTz deadline;		/* to be connected by; 0 = none */
	char	   *sql;			/* what was sent last; NULL = nothing */
	bool		is_sending;		/* some of it is still here: the socket takes no more for now */
	bool		is_copying;		/* rows are coming */
	bool		has_copied;		/* they have begun to come */
	EmogiRemoteCopy copy;
	char	   *message;		/* a row of libpq's, while it is decoded */
} EmogiRemoteConnection;

/* ---- remote_tables.c ---- */

extern List *emogi_remote_tables_describe(const EmogiSource *source, List *elsewhere);
extern void emogi_remote_tables_write_layout(StringInfo bytes, const EmogiRemoteTable *table);

/* ---- citus_nodes.c ---- */

extern EmogiRemoteServer *emogi_citus_nodes_make_server(const struct EmogiCitusNode *node);

/* ---- remote_sql.c ---- */

extern char *emogi_remote_sql_begin(const EmogiRemoteServer *server, int version, bool exports);
extern const char *emogi_remote_sql_all_rows(void);
extern char *emogi_remote_sql_find_teller(void);
extern char *emogi_remote_sql_stamps(const EmogiRemoteServer *server);
extern char *emogi_remote_sql_select(const EmogiRemoteTable *table);
extern char *emogi_remote_sql_measure(const EmogiRemoteTable *table);
extern char *emogi_remote_sql_copy(const EmogiRemoteTable *table, uint64 range);

/* ---- block_ranges.c ---- */

extern EmogiRemoteRanges emogi_block_ranges_divide(uint64 npages, int nconnections);
extern uint64 emogi_block_ranges_connections(const List *tables);

/* ---- connection.c ---- */

extern bool emogi_connection_may(const UserMapping *user);
extern bool emogi_connection_needs_password(const UserMapping *user);
extern void emogi_connection_start(EmogiRemoteConnection *connection);
extern void emogi_connection_flush(EmogiRemoteConnection *connection);
extern bool emogi_connection_continue(EmogiRemoteConnection *connection);
extern void emogi_connection_send(EmogiRemoteConnection *connection, char *sql);
extern void emogi_connection_leave(EmogiRemoteConnection *connection);
extern void emogi_connection_close(EmogiRemoteConnection *connection);

/* ---- connection_pool.c ---- */

extern PGconn *emogi_connection_pool_take(const StringInfo key);
extern void emogi_connection_pool_give(const StringInfo key, PGconn *conn);

/* ---- remote_cancel.c ---- */

extern void emogi_remote_cancel(List *connections);

/* ---- remote_errors.c ---- */

extern const char *emogi_remote_errors_kind(const EmogiRemoteServer *server);
extern void emogi_remote_errors_connection(EmogiRemoteConnection *connection, const char *detail);
extern void emogi_remote_errors_result(EmogiRemoteConnection *connection, PGresult *result);
extern void emogi_remote_errors_protocol(EmogiRemoteConnection *connection);
extern void emogi_remote_errors_gone(EmogiRemoteConnection *connection);

#endif							/* EMOGI_REMOTE_INTERNAL_H */
