/*
 * servers.h: from foreign tables of postgres_fdw, and Citus tables, to edges, by connections of our own.
 *
 * postgres_fdw reads a table by a cursor on one connection, as text. Here several connections to each server share one snapshot there, and
 * each copies ranges of pages in binary form.
 *
 * A Citus table is read in the same way: its shards are tables of its nodes.
 *
 * tables.c says which tables are read so, and with what columns; nodes.c how to get to nodes. read.c has all servers read at once: connection.c opens and closes a
 * connection, cancel.c ends what servers are at, texts.c writes what is sent there, ranges.c divides tables, decode.c makes edges of what comes back (decode.h), and report.c
 * makes errors of what goes wrong.
 */
#ifndef EMOGI_SERVERS_H
#define EMOGI_SERVERS_H

#include "edges/edges.h"

/* ---- tables.c ---- */

extern bool emogi_servers_list(const EmogiSource *source, List *relids, List **heaps, List **elsewhere);

/* ---- read.c ---- */

extern void emogi_servers_read(EmogiCall *call, const EmogiSource *source, List *heaps, List *elsewhere, EmogiWeights weights, bool careful);

#endif							/* EMOGI_SERVERS_H */
