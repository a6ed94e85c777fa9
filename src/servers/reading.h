/*
 * reading.h: the servers of one call while they are asked and read, for read.c and steps.c.
 */
#ifndef EMOGI_READING_H
#define EMOGI_READING_H

#include "storage/latch.h"

#include "servers/decode.h"
#include "servers/far.h"

struct EmogiServers
{
	EmogiCall  *call;
	MemoryContext context;		/* of all this */
	List	   *servers;		/* EmogiFarServer */
	List	   *connections;	/* EmogiFarConnection */
	bool		only_asks;		/* connections are done when stamps are known */
	EmogiDecoder decoder;
	WaitEventSet *events;		/* NULL = there is none */
	bool		is_changed;		/* sockets are others, or wait for something else, than the set of events says */
	bool		is_encrypted;	/* some connection */
	bool		is_at_rest;		/* servers are at nothing */
};

/* ---- steps.c ---- */

extern void emogi_steps_connect(EmogiServers *reading, EmogiFarServer *server, bool leads);
extern void emogi_steps_begin(EmogiServers *reading, EmogiFarConnection *connection);
extern void emogi_steps_reconnect(EmogiServers *reading, EmogiFarConnection *connection);
extern void emogi_steps_read(EmogiFarConnection *connection);
extern void emogi_steps_copy(EmogiServers *reading, EmogiFarConnection *connection);
extern void emogi_steps_run_on(EmogiServers *reading, EmogiFarConnection *connection);

#endif							/* EMOGI_READING_H */
