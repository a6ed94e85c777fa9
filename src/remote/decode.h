/*
 * decode.h: decoding of COPY data into edges, for remote_read.c; see decode.c
 */
#ifndef EMOGI_DECODE_H
#define EMOGI_DECODE_H

#include "edges/sink.h"
#include "remote/remote_internal.h"

/* The decoder for the rows of all servers of a read. */
typedef struct EmogiDecoder
{
	EmogiSink	sink;
	MemoryContext scrap;		/* values of rows whose ends are not in the arena yet */
	int			nkept;			/* rows with such values */
	char	   *characters;		/* [max_size], null-terminated copy of the current field */
	Size		max_size;
} EmogiDecoder;

extern void emogi_decode_choose_formats(EmogiRemoteTable *table, const Oid *types, bool binary);
extern bool emogi_decode_may_group(const EmogiRemoteTable *table);
extern void emogi_decode_open(EmogiDecoder *decoder, uint64 token);
extern bool emogi_decode_message(EmogiDecoder *decoder, EmogiRemoteTable *table,
								 const char *message, int length, EmogiRemoteCopy *copy);
extern void emogi_decode_finish(EmogiDecoder *decoder);

#endif							/* EMOGI_DECODE_H */
