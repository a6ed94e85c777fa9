/*
 * edge_file.h: read the edges of a graph from a text file.
 */
#ifndef EMOGI_BENCH_EDGE_FILE_H
#define EMOGI_BENCH_EDGE_FILE_H

#include "build.h"

/*
 * Read "source target" pairs, one per line: 64-bit integers separated by blanks. The rest of a line
 * is ignored. Empty lines and lines that begin with # or % are skipped. EMOGI_BAD_INPUT is returned
 * for an invalid line, with its number, for a file that cannot be read, and for a file without
 * edges. Frees all memory unless it returns EMOGI_OK.
 */
extern EmogiStatus emogi_read_edges(const char *path, EmogiEdgeSet *set, EmogiError *error);

#endif							/* EMOGI_BENCH_EDGE_FILE_H */
