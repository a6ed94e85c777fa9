/*
 * edge_names.h: the rows that a graph was built from, in which the names of edges are looked up
 *
 * edge_names_rows.c describes them, edge_names.c queries them.
 */
#ifndef EMOGI_EDGE_NAMES_H
#define EMOGI_EDGE_NAMES_H

#include "function/function.h"

/* A selection criterion of rows: their key, or a column of it. */
typedef struct EmogiNameChoice
{
	const char *column;			/* SQL expression */
	int			part;			/* number in a key that is a row; -1 = the whole key */
	EmogiKeyType key;
} EmogiNameChoice;

/* The rows of a graph, as query text, and its columns as SQL expressions over the relation r. */
typedef struct EmogiNamedRows
{
	char	   *from;			/* "relation" or "(query)", with aliases */
	const char *src;
	const char *dst;
	const char *weight;			/* NULL = none */
	const char *reverse;
	const char *edge;			/* NULL = edges have no names */
	Oid			edge_type;
	Oid			edge_collation;
	bool		is_named;		/* the caller named the column of names */
	EmogiKeyType key;
	/* [nchoices]; if there are none, all rows are read */
	EmogiNameChoice choices[EMOGI_KEY_MAX_PARTS];
	int			nchoices;
	double		count;			/* of rows, estimated; -1 = unknown */
	bool		by_hash;		/* all rows are scanned and hashed against the steps; otherwise an
								 * index finds them */
} EmogiNamedRows;

extern void emogi_edge_names_describe(const EmogiSource *source, EmogiNamedRows *rows);

#endif							/* EMOGI_EDGE_NAMES_H */
