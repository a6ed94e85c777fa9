/*
 * remote.h: from foreign tables of postgres_fdw, and Citus tables, to edges, by connections of our
 * own.
 *
 * postgres_fdw reads a table by a cursor on one connection, as text. Here several connections to
 * each server share one snapshot there, and each copies ranges of pages in binary form.
 *
 * A Citus table is read in the same way: its shards are tables of its nodes.
 *
 * A Graph of such tables is kept while all servers tell that nothing has changed: where they have
 * emogi, too, that tells what their rows are known by (version_stamp.c).
 *
 * remote_tables.c says which tables are read so, and with what columns; citus_nodes.c how to get to
 * nodes. remote_read.c has all servers asked and read at once, and copy_steps.c is what a
 * connection goes through: connection.c opens and closes it, or keeps it for the next call
 * (connection_pool.c), remote_cancel.c ends what servers are at, remote_sql.c writes what is sent
 * there, block_ranges.c divides tables, decode.c makes edges of what comes back (decode.h), and
 * remote_errors.c makes errors of what goes wrong.
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
extern void emogi_remote_leave(EmogiRemote *servers);
extern const char *emogi_remote_ask(EmogiRemote *servers, uint8 *fingerprint);
extern void emogi_remote_read(EmogiRemote *servers, const EmogiSource *source, List *heaps,
							  EmogiWeights weights, bool careful);

#endif							/* EMOGI_REMOTE_H */
