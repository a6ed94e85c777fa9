/*
 * remote.h: reading foreign tables of postgres_fdw, and Citus tables, over emogi's own connections
 *
 * postgres_fdw reads a table through a cursor on one connection, as text. Here several connections
 * to each server share one snapshot there, and each copies ranges of pages in binary format.
 *
 * A Citus table is read in the same way: its shards are tables of its nodes.
 *
 * A graph of such tables stays cached until a server reports a change. If the servers have emogi
 * installed, it provides stamps of their tables' rows (version_stamp.c).
 *
 * Files:
 *
 * - remote_tables.c: the tables that are read in this way, and their columns
 * - citus_nodes.c: connection options of nodes
 * - remote_read.c: asks and reads all servers concurrently
 * - copy_protocol.c: the steps of one connection
 * - connection.c, connection_pool.c: open, close and pool connections
 * - remote_cancel.c: cancels statements on servers
 * - remote_sql.c: the SQL sent to servers
 * - block_ranges.c: divides tables into ranges of pages
 * - decode.c: converts answers to edges (decode.h): decode_formats.c chooses the formats,
 *   decode_rows.c, decode_groups.c and decode_values.c convert rows, groups of rows and values
 * - pack.c: emogi_pages, which sends packed rows to another server's emogi (pack_format.h)
 * - remote_errors.c: reports errors of servers
 */
#ifndef EMOGI_REMOTE_H
#define EMOGI_REMOTE_H

#include "edges/edges.h"

/* ---- remote_tables.c ---- */

extern bool emogi_remote_list(const EmogiSource *source, List *relids, List **heaps,
							  List **elsewhere);

/* ---- remote_read.c ---- */

/* The servers of one call. */
typedef struct EmogiRemote EmogiRemote;

extern EmogiRemote *emogi_remote_open(EmogiCall *call, const EmogiSource *source, List *elsewhere);
extern void emogi_remote_close(int code, Datum servers);
extern void emogi_remote_release(EmogiRemote *servers);
extern const char *emogi_remote_get_fingerprint(EmogiRemote *servers, uint8 *fingerprint);
extern void emogi_remote_read(EmogiRemote *servers, const EmogiSource *source, List *heaps,
							  EmogiWeights weights, bool secure_hash);

#endif							/* EMOGI_REMOTE_H */
