/*
 * edge_file.h: the edges of a graph from a text file.
 */
#ifndef EMOGI_BENCH_EDGE_FILE_H
#define EMOGI_BENCH_EDGE_FILE_H

#include "build.h"

/*
 * Read "source target" pairs, one a line: whole numbers of 64 bits between blanks. What follows the pair is not looked
 * at, empty lines and those that begin with # or % are left out. BAD_INPUT names the line that cannot be understood, the
 * file that cannot be read or has no edge; nothing is left allocated after what is not OK.
 */
extern EmogiStatus emogi_read_edges(const char *path, EmogiEdgeSet *set, EmogiError *error);

#endif							/* EMOGI_BENCH_EDGE_FILE_H */
