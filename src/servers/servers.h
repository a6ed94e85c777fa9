/*
 * servers.h: from foreign tables of postgres_fdw, and Citus tables, to edges, by connections of our own.
 *
 * postgres_fdw reads a table by a cursor on one connection, as text. Here several connections to each server share one snapshot there, and
 * each copies ranges of pages in binary form.
 *
 * A Citus table is read in the same way: its shards are tables of its nodes.
 *
 * A Graph of such tables is kept while all servers tell that nothing has changed: where they have emogi, too, that tells what their rows are known by (stamp.c).
 *
 * tables.c says which tables are read so, and with what columns; nodes.c how to get to nodes. read.c has all servers asked and read at once, and steps.c is what a connection
 * goes through: connection.c opens and closes it, or keeps it for the next call (kept.c), cancel.c ends what servers are at, texts.c writes what is sent there, ranges.c divides tables, decode.c makes edges of what comes back (decode.h), and report.c
 * makes errors of what goes wrong.
 */
#ifndef EMOGI_SERVERS_H
#define EMOGI_SERVERS_H

#include "edges/edges.h"

/* ---- tables.c ---- */

extern bool emogi_servers_list(const EmogiSource *source, List *relids, List **heaps, List **elsewhere);

/* ---- read.c ---- */

/* The servers of one call. */
typedef struct EmogiServers EmogiServers;

extern EmogiServers *emogi_servers_open(EmogiCall *call, const EmogiSource *source, List *elsewhere);
extern void emogi_servers_close(int code, Datum servers);
extern void emogi_servers_leave(EmogiServers *servers);
extern const char *emogi_servers_ask(EmogiServers *servers, uint8 *digest);
extern void emogi_servers_read(EmogiServers *servers, const EmogiSource *source, List *heaps, EmogiWeights weights, bool careful);

#endif							/* EMOGI_SERVERS_H */
