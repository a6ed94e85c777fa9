/*
 * remote_state.h: the servers of one call while they are asked and read, for remote_read.c and
 * copy_protocol.c
 */
#ifndef EMOGI_REMOTE_STATE_H
#define EMOGI_REMOTE_STATE_H

#include "storage/latch.h"

#include "remote/decode.h"
#include "remote/remote_internal.h"

struct EmogiRemote
{
	EmogiCall  *call;
	MemoryContext context;		/* of this struct and everything below it */
	List	   *servers;		/* EmogiRemoteServer */
	List	   *connections;	/* EmogiRemoteConnection */
	bool		only_asks;		/* connections are done when stamps are known */
	EmogiDecoder decoder;
	WaitEventSet *events;		/* NULL = none */
	bool		is_changed;		/* the wait event set is out of date: sockets were added or removed,
								 * or wait for other events */
	bool		is_encrypted;	/* some connection is */
	bool		is_at_rest;		/* no server is executing a statement */
};

/* ---- copy_protocol.c ---- */

extern void emogi_copy_protocol_connect(EmogiRemote *reading, EmogiRemoteServer *server,
										bool leads);
extern void emogi_copy_protocol_begin(EmogiRemote *reading, EmogiRemoteConnection *connection);
extern void emogi_copy_protocol_reconnect(EmogiRemote *reading, EmogiRemoteConnection *connection);
extern void emogi_copy_protocol_read(EmogiRemoteConnection *connection);
extern void emogi_copy_protocol_copy(EmogiRemote *reading, EmogiRemoteConnection *connection);
extern void emogi_copy_protocol_advance(EmogiRemote *reading, EmogiRemoteConnection *connection);

#endif							/* EMOGI_REMOTE_STATE_H */
