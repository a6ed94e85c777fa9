/*
 * remote_internal.h: types shared by the files of remote/: servers, their tables, and connections
 *
 * Everything is in the memory context of one read, except libpq's own allocations.
 */
#ifndef EMOGI_REMOTE_INTERNAL_H
#define EMOGI_REMOTE_INTERNAL_H

#include "fmgr.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "libpq-fe.h"

#include "remote/remote.h"

/* Two ends, a weight, and a reverse weight. */
#define EMOGI_REMOTE_MAX_COLUMNS 4

/* Format of a column's values. */
typedef enum EmogiRemoteFormat
{
	EMOGI_REMOTE_INTEGER,			/* binary, of 2, 4 or 8 bytes */
	EMOGI_REMOTE_FLOAT4,			/* binary */
	EMOGI_REMOTE_FLOAT8,			/* binary */
	EMOGI_REMOTE_RECEIVED,			/* binary, for the type's receive function */
	EMOGI_REMOTE_CHARACTERS		/* text, for the type's input function */
} EmogiRemoteFormat;

/* A column to read. */
typedef struct EmogiRemoteColumn
{
	const char *name;			/* local name */
	const char *remote_name;
	Oid			type;
	Oid			base;			/* the type itself, or the base type of a domain */
	int32		typmod;
	EmogiRemoteFormat form;			/* set by emogi_decode_choose_formats, like all below */
	Oid			remote_type;
	FmgrInfo	function;
	Oid			ioparam;
} EmogiRemoteColumn;

/* The ranges of a table's pages. */
typedef struct EmogiRemoteRanges
{
	uint64		npages;
	uint64		length;			/* of each range, in pages, a multiple of EMOGI_GROUP_PAGES */
	uint64		count;
	uint64		next;			/* next range to copy */
} EmogiRemoteRanges;

/*
 * Pages whose rows are sent as one row of arrays, if they are grouped: some 70 kB for two bigint
 * columns.
 */
#define EMOGI_GROUP_PAGES 16

/* A foreign table, or a shard of a Citus table. */
typedef struct EmogiRemoteTable
{
	Oid			relid;			/* local OID; for a shard, that of its Citus table */
	const char *name;			/* local name; for a shard, its remote name */
	const char *schema;			/* remote */
	const char *relation;		/* remote */
	int			ncolumns;		/* src, dst, weight, reverse */
	EmogiRemoteColumn columns[EMOGI_REMOTE_MAX_COLUMNS];
	bool		is_grouped;		/* each row of COPY has arrays, for the rows of EMOGI_GROUP_PAGES
								 * pages */
	Oid			oid;			/* remote OID, to which all rows must belong; 0 = unknown, or rows
								 * may belong to children, too */
	const char *packer;			/* remote schema of an emogi that packs its rows (pack_format.h), so
								 * that each row of COPY is a pack; NULL = none */
	const char *stamp;			/* stamp of its rows, in hexadecimal; NULL = unknown */
	/* its remote OID when the stamp was taken; 0 = no stamp requested */
	Oid			stamped;
	Oid			remote_types[EMOGI_REMOTE_MAX_COLUMNS];	/* remote types of the columns at that time;
														 * 0 = unknown */
	bool		is_text;		/* COPY sends text, because the binary format of some column is not
								 * accepted here */
	EmogiRemoteRanges ranges;
} EmogiRemoteTable;

/* A foreign server, or a Citus node. */
typedef struct EmogiRemoteServer
{
	const char *name;			/* for messages; HOST:PORT of a node */
	Oid			serverid;		/* InvalidOid = it is a node */
	const struct EmogiCitusNode *node;	/* NULL = it is a foreign server */
	List	   *options;		/* DefElem, including those of libpq; the last one of each name
								 * applies */
	bool		must_use_password;	/* a password in the options must be used, requested by the
									 * server */
	List	   *tables;			/* EmogiRemoteTable */
	int			ndescribed;		/* tables described so far, in their order */
	bool		will_be_cached;	/* the stamps of all tables of all servers are known, and the graph
								 * may be cached */
	const char *stamp_schema;	/* remote schema of the emogi that provides stamps; NULL = none, or
								 * not requested */
	char	   *snapshot;		/* its remote name; NULL = not exported */
} EmogiRemoteServer;

/* Phases of a connection. */
typedef enum EmogiRemotePhase
{
	EMOGI_REMOTE_CONNECTING,
	EMOGI_REMOTE_ENDING,			/* waits for the end of the previous call's transaction */
	EMOGI_REMOTE_BEGINNING,		/* begins its transaction */
	EMOGI_REMOTE_FINDING,			/* looks up the stamp function */
	EMOGI_REMOTE_STAMPING,			/* gets the stamps of all tables */
	EMOGI_REMOTE_SECURING,			/* makes statements fail that would hide rows */
	EMOGI_REMOTE_PREPARING,		/* prepares a table's SELECT, which locks it */
	EMOGI_REMOTE_DESCRIBING,		/* gets its columns */
	EMOGI_REMOTE_MEASURING,		/* gets its pages */
	EMOGI_REMOTE_COPYING,			/* copies a range */
	EMOGI_REMOTE_DONE
} EmogiRemotePhase;

/* Progress of a binary COPY. */
typedef struct EmogiRemoteCopy
{
	bool		has_begun;		/* the header has been read */
	bool		has_ended;		/* the end-of-data marker has been read */
} EmogiRemoteCopy;

/* A connection. */
typedef struct EmogiRemoteConnection
{
	EmogiRemoteServer *server;
	EmogiRemoteTable *table;		/* current table */
	PGconn	   *conn;			/* NULL = closed */
	StringInfoData key;			/* pool key, see connection.c */
	EmogiRemotePhase phase;
	/* the first of its server, whose snapshot the others import */
	bool		leads;
	bool		was_kept;		/* from the pool, and nothing has been received on it since */
	PostgresPollingStatusType poll; /* what it waits for while it connects */
	TimestampTz deadline;		/* for connecting; 0 = none */
	char	   *sql;			/* last statements sent; NULL = none */
	bool		is_sending;		/* data is pending: the socket buffer is full */
	bool		is_copying;		/* rows are being received */
	bool		has_copied;		/* the first row has been received */
	EmogiRemoteCopy copy;
	char	   *message;		/* a row in libpq's memory, while it is decoded */
} EmogiRemoteConnection;

/* ---- remote_tables.c ---- */

extern List *emogi_remote_tables_describe(const EmogiSource *source, List *elsewhere);
extern void emogi_remote_tables_write_layout(StringInfo bytes, const EmogiRemoteTable *table);

/* ---- citus_nodes.c ---- */

extern EmogiRemoteServer *emogi_citus_nodes_make_server(const struct EmogiCitusNode *node);

/* ---- remote_sql.c ---- */

extern char *emogi_remote_sql_begin(const EmogiRemoteServer *server, int version, bool exports);
extern const char *emogi_remote_sql_all_rows(void);
extern char *emogi_remote_sql_find_stamp_function(void);
extern char *emogi_remote_sql_stamps(const EmogiRemoteServer *server);
extern char *emogi_remote_sql_select(const EmogiRemoteTable *table);
extern char *emogi_remote_sql_measure(const EmogiRemoteTable *table);
extern char *emogi_remote_sql_copy(const EmogiRemoteTable *table, uint64 range);

/* ---- block_ranges.c ---- */

extern EmogiRemoteRanges emogi_block_ranges_divide(uint64 npages, int nconnections);
extern uint64 emogi_block_ranges_connections(const List *tables);

/* ---- connection.c ---- */

extern bool emogi_connection_is_allowed(const UserMapping *user);
extern bool emogi_connection_needs_password(const UserMapping *user);
extern void emogi_connection_start(EmogiRemoteConnection *connection);
extern void emogi_connection_flush(EmogiRemoteConnection *connection);
extern bool emogi_connection_continue(EmogiRemoteConnection *connection);
extern void emogi_connection_send(EmogiRemoteConnection *connection, char *sql);
extern void emogi_connection_release(EmogiRemoteConnection *connection);
extern void emogi_connection_close(EmogiRemoteConnection *connection);

/* ---- connection_pool.c ---- */

extern PGconn *emogi_connection_pool_take(const StringInfo key);
extern void emogi_connection_pool_return(const StringInfo key, PGconn *conn);

/* ---- remote_cancel.c ---- */

extern void emogi_remote_cancel(List *connections);

/* ---- remote_errors.c ---- */

extern const char *emogi_remote_errors_kind(const EmogiRemoteServer *server);
extern void emogi_remote_errors_connection(EmogiRemoteConnection *connection, const char *detail);
extern void emogi_remote_errors_result(EmogiRemoteConnection *connection, PGresult *result);
extern void emogi_remote_errors_protocol(EmogiRemoteConnection *connection);
extern void emogi_remote_errors_gone(EmogiRemoteConnection *connection);

#endif							/* EMOGI_REMOTE_INTERNAL_H */
