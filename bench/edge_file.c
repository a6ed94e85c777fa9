/*
 * edge_file.c: read the edges of a graph from a text file.
 */
#include "edge_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY ((uint64_t) 1 << 16)

/* The edges read so far. */
typedef struct EdgeList
{
	EmogiEdge  *edges;			/* [capacity], malloced */
	uint64_t	nedges;
	uint64_t	capacity;
} EdgeList;

/* Set an error about a file; returns the status. */
static EmogiStatus
refuse(EmogiError *error, EmogiStatus status, const char *message, const char *path, uint64_t line)
{
	snprintf(error->message, sizeof(error->message), "%s", message);
	if (line > 0)
		snprintf(error->detail, sizeof(error->detail), "%.200s, line %llu", path, (unsigned long long) line);
	else
		snprintf(error->detail, sizeof(error->detail), "%.200s", path);
	return status;
}

/* Add an edge; returns false if out of memory. */
static bool
add_edge(EdgeList *list, EmogiEdge edge)
{
	if (list->nedges == list->capacity)
	{
		const uint64_t capacity = list->capacity > 0 ? 2 * list->capacity : FIRST_CAPACITY;
		EmogiEdge  *edges = realloc(list->edges, capacity * sizeof(EmogiEdge));

		if (edges == NULL)
			return false;
		list->edges = edges;
		list->capacity = capacity;
	}
	list->edges[list->nedges++] = edge;
	return true;
}

/* Read a number and advance past it; returns false unless a number followed by a blank is found. */
static bool
take_number(const char **text, int64_t *number)
{
	char	   *end;

	errno = 0;
	*number = strtoll(*text, &end, 10);
	if (errno != 0 || end == *text || (*end != '\0' && strchr(" \t\r\n", *end) == NULL))
		return false;
	*text = end;
	return true;
}

/* Read all lines into a list. */
static EmogiStatus
read_lines(FILE *file, const char *path, EdgeList *list, EmogiError *error)
{
	char	   *text = NULL;
	size_t		room = 0;
	EmogiStatus status = EMOGI_OK;

	for (uint64_t line = 1; status == EMOGI_OK && getline(&text, &room, file) >= 0; line++)
	{
		const char *at = text + strspn(text, " \t\r\n");
		EmogiEdge	edge;

		if (*at == '\0' || *at == '#' || *at == '%')
			continue;
		if (!take_number(&at, &edge.src) || !take_number(&at, &edge.dst))
			status = refuse(error, EMOGI_BAD_INPUT, "line is not a pair of numbers", path, line);
		else if (!add_edge(list, edge))
			status = refuse(error, EMOGI_NO_MEMORY, "out of memory for the edges of a file", path, line);
	}
	if (status == EMOGI_OK && ferror(file))
		status = refuse(error, EMOGI_BAD_INPUT, "could not read edge file", path, 0);
	free(text);
	return status;
}

EmogiStatus
emogi_read_edges(const char *path, EmogiEdgeSet *set, EmogiError *error)
{
	FILE	   *file = fopen(path, "r");
	EdgeList	list = {0};
	EmogiStatus status;

	if (file == NULL)
		return refuse(error, EMOGI_BAD_INPUT, "could not open edge file", path, 0);
	status = read_lines(file, path, &list, error);
	fclose(file);
	if (status == EMOGI_OK && list.nedges == 0)
		status = refuse(error, EMOGI_BAD_INPUT, "edge file contains no edges", path, 0);
	if (status == EMOGI_OK && !emogi_edge_set_fill(set, list.edges, list.nedges, EMOGI_CHUNK_EDGES))
		status = refuse(error, EMOGI_NO_MEMORY, "out of memory for the edges of a file", path, 0);
	free(list.edges);
	return status;
}
