/*
 * decode.h: how remote_read.c has what COPY sends turned into edges, see decode.c.
 */
#ifndef EMOGI_DECODE_H
#define EMOGI_DECODE_H

#include "edges/sink.h"
#include "remote/remote_internal.h"

/* What decodes the rows of all servers of a read. */
typedef struct EmogiDecoder
{
	EmogiSink	sink;
	MemoryContext scrap;		/* for values of rows whose ends are not yet in the Region */
	int			nkept;			/* rows that have such */
	char	   *characters;		/* [most], of the field at hand, with an end */
	Size		most;
} EmogiDecoder;

extern void emogi_decode_choose_forms(EmogiRemoteTable *table, const Oid *types, bool binary);
extern bool emogi_decode_may_group(const EmogiRemoteTable *table);
extern void emogi_decode_open(EmogiDecoder *decoder, uint64 token);
extern bool emogi_decode_take(EmogiDecoder *decoder, EmogiRemoteTable *table, const char *message,
							  int length, EmogiRemoteCopy *copy);
extern void emogi_decode_finish(EmogiDecoder *decoder);

#endif							/* EMOGI_DECODE_H */
