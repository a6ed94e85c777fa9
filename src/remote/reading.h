/*
 * reading.h: the servers of one call while they are asked and read, for remote_read.c and
 * copy_steps.c.
 */
#ifndef EMOGI_READING_H
#define EMOGI_READING_H

#include "storage/latch.h"

#include "remote/decode.h"
#include "remote/remote_internal.h"

struct EmogiRemote
{
	EmogiCall  *call;
	MemoryContext context;		/* of all this */
	List	   *servers;		/* EmogiRemoteServer */
	List	   *connections;	/* EmogiRemoteConnection */
	bool		only_asks;		/* connections are done when stamps are known */
	EmogiDecoder decoder;
	WaitEventSet *events;		/* NULL = there is none */
	bool		is_changed;		/* sockets are others, or wait for something else, than the set of
								 * events says */
	bool		is_encrypted;	/* some connection */
	bool		is_at_rest;		/* servers are at nothing */
};

/* ---- copy_steps.c ---- */

extern void emogi_copy_steps_connect(EmogiRemote *reading, EmogiRemoteServer *server, bool leads);
extern void emogi_copy_steps_begin(EmogiRemote *reading, EmogiRemoteConnection *connection);
extern void emogi_copy_steps_reconnect(EmogiRemote *reading, EmogiRemoteConnection *connection);
extern void emogi_copy_steps_read(EmogiRemoteConnection *connection);
extern void emogi_copy_steps_copy(EmogiRemote *reading, EmogiRemoteConnection *connection);
extern void emogi_copy_steps_run_on(EmogiRemote *reading, EmogiRemoteConnection *connection);

#endif							/* EMOGI_READING_H */
