/*
 * far.h: what the files of this room share: servers, tables there, and connections.
 *
 * All of it lies in memory of one read, but for what libpq has allocated.
 */
#ifndef EMOGI_FAR_H
#define EMOGI_FAR_H

#include "fmgr.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "libpq-fe.h"

#include "servers/servers.h"

/* Two ends, a weight, and that of the way back. */
#define EMOGI_FAR_MOST_COLUMNS 4

/* How a column's values come. */
typedef enum EmogiFarForm
{
	EMOGI_FAR_INTEGER,			/* binary, of 2, 4 or 8 bytes */
	EMOGI_FAR_FLOAT4,			/* binary */
	EMOGI_FAR_FLOAT8,			/* binary */
	EMOGI_FAR_RECEIVED,			/* binary, for the type's receive function */
	EMOGI_FAR_CHARACTERS		/* characters, for the type's input function */
} EmogiFarForm;

/* A column that is read. */
typedef struct EmogiFarColumn
{
	const char *name;			/* here */
	const char *far_name;
	Oid			type;
	Oid			base;			/* what the type is, or is a domain over */
	int32		typmod;
	EmogiFarForm form;			/* by emogi_decode_choose_forms, as all below */
	Oid			far_type;
	FmgrInfo	function;
	Oid			ioparam;
} EmogiFarColumn;

/* The ranges of a table's pages. */
typedef struct EmogiFarRanges
{
	uint64		npages;
	uint64		length;			/* of each range, in pages, a multiple of EMOGI_GROUP_PAGES */
	uint64		count;
	uint64		next;			/* that nobody has taken yet */
} EmogiFarRanges;

/* Pages whose rows come as one, where they are grouped: some 70 kB of two bigint columns. */
#define EMOGI_GROUP_PAGES 16

/* A foreign table, or a shard of a table of Citus. */
typedef struct EmogiFarTable
{
	Oid			relid;			/* here; of a shard that of its Citus table */
	const char *name;			/* here; of a shard there */
	const char *schema;			/* there */
	const char *relation;		/* there */
	int			ncolumns;		/* src, dst, weight, reverse */
	EmogiFarColumn columns[EMOGI_FAR_MOST_COLUMNS];
	bool		is_grouped;		/* each row of COPY has arrays, of the rows of EMOGI_GROUP_PAGES pages */
	Oid			oid;			/* there, which all rows must be of; 0 = unknown, or rows may be of children, too */
	const char *packer;			/* schema there of the emogi that packs its rows (packed.h), each row of COPY being a pack; NULL = none */
	const char *stamp;			/* what tells its rows, in hexadecimal; NULL = nobody has told */
	Oid			stamped;		/* its OID there, when that was told; 0 = it was not asked for */
	Oid			far_types[EMOGI_FAR_MOST_COLUMNS];	/* of the columns, likewise; 0 = unknown */
	bool		is_text;		/* COPY sends text: of one column at least the binary form is not what the type here takes */
	EmogiFarRanges ranges;
} EmogiFarTable;

/* A server: a foreign one, or a node of Citus. */
typedef struct EmogiFarServer
{
	const char *name;			/* in messages: of a node HOST:PORT */
	Oid			serverid;		/* InvalidOid = it is a node */
	const struct EmogiCitusNode *node;	/* NULL = it is a foreign server */
	List	   *options;		/* DefElem, those of libpq among them; of two of the same name the later one counts */
	bool		must_use_password;	/* that is among them, and that the server has asked for */
	List	   *tables;			/* EmogiFarTable */
	int			ndescribed;		/* tables, in their order */
	bool		is_told;		/* the stamps of all tables of all servers are known, and the graph may be kept */
	const char *teller;			/* schema there of the emogi that tells stamps; NULL = none, or it was not asked */
	char	   *snapshot;		/* its name there; NULL = nobody else imports it */
} EmogiFarServer;

/* What a connection does. */
typedef enum EmogiFarPhase
{
	EMOGI_FAR_CONNECTING,
	EMOGI_FAR_ENDING,			/* the transaction of the call before */
	EMOGI_FAR_BEGINNING,		/* its transaction */
	EMOGI_FAR_FINDING,			/* who tells stamps there */
	EMOGI_FAR_STAMPING,			/* the stamps of all tables */
	EMOGI_FAR_SECURING,			/* that no row is hidden */
	EMOGI_FAR_PREPARING,		/* a table's SELECT, which locks it */
	EMOGI_FAR_DESCRIBING,		/* its columns */
	EMOGI_FAR_MEASURING,		/* its pages */
	EMOGI_FAR_COPYING,			/* a range */
	EMOGI_FAR_DONE
} EmogiFarPhase;

/* What has come of a binary COPY. */
typedef struct EmogiFarCopy
{
	bool		has_begun;		/* its first bytes */
	bool		has_ended;		/* what says that there are no more rows */
} EmogiFarCopy;

/* A connection. */
typedef struct EmogiFarConnection
{
	EmogiFarServer *server;
	EmogiFarTable *table;		/* that it is at */
	PGconn	   *conn;			/* NULL = closed */
	StringInfoData key;			/* what it was opened with */
	EmogiFarPhase phase;
	bool		leads;			/* it is the first of its server, whose snapshot the others import */
	bool		was_kept;		/* by the session, and nothing has come by it since */
	PostgresPollingStatusType poll; /* what it waits for while it connects */
	TimestampTz deadline;		/* to be connected by; 0 = none */
	char	   *sql;			/* what was sent last; NULL = nothing */
	bool		is_sending;		/* some of it is still here: the socket takes no more for now */
	bool		is_copying;		/* rows are coming */
	bool		has_copied;		/* they have begun to come */
	EmogiFarCopy copy;
	char	   *message;		/* a row of libpq's, while it is decoded */
} EmogiFarConnection;

/* ---- tables.c ---- */

extern List *emogi_tables_describe(const EmogiSource *source, List *elsewhere);
extern void emogi_tables_write_layout(StringInfo bytes, const EmogiFarTable *table);

/* ---- nodes.c ---- */

extern EmogiFarServer *emogi_nodes_make_server(const struct EmogiCitusNode *node);

/* ---- texts.c ---- */

extern char *emogi_texts_begin(const EmogiFarServer *server, int version, bool exports);
extern const char *emogi_texts_all_rows(void);
extern char *emogi_texts_find_teller(void);
extern char *emogi_texts_stamps(const EmogiFarServer *server);
extern char *emogi_texts_select(const EmogiFarTable *table);
extern char *emogi_texts_measure(const EmogiFarTable *table);
extern char *emogi_texts_copy(const EmogiFarTable *table, uint64 range);

/* ---- ranges.c ---- */

extern EmogiFarRanges emogi_ranges_divide(uint64 npages, int nconnections);
extern uint64 emogi_ranges_connections(const List *tables);

/* ---- connection.c ---- */

extern bool emogi_connection_may(const UserMapping *user);
extern bool emogi_connection_needs_password(const UserMapping *user);
extern void emogi_connection_start(EmogiFarConnection *connection);
extern void emogi_connection_flush(EmogiFarConnection *connection);
extern bool emogi_connection_continue(EmogiFarConnection *connection);
extern void emogi_connection_send(EmogiFarConnection *connection, char *sql);
extern void emogi_connection_leave(EmogiFarConnection *connection);
extern void emogi_connection_close(EmogiFarConnection *connection);

/* ---- kept.c ---- */

extern PGconn *emogi_kept_take(const StringInfo key);
extern void emogi_kept_give(const StringInfo key, PGconn *conn);

/* ---- cancel.c ---- */

extern void emogi_cancel_statements(List *connections);

/* ---- report.c ---- */

extern const char *emogi_report_kind(const EmogiFarServer *server);
extern void emogi_report_connection(EmogiFarConnection *connection, const char *detail);
extern void emogi_report_result(EmogiFarConnection *connection, PGresult *result);
extern void emogi_report_protocol(EmogiFarConnection *connection);
extern void emogi_report_gone(EmogiFarConnection *connection);

#endif							/* EMOGI_FAR_H */
