/*
 * task_vertices.h: the vertices of a task's graph (task_vertices.c)
 */
#ifndef EMOGI_TASK_VERTICES_H
#define EMOGI_TASK_VERTICES_H

#include "function/function.h"

extern bool emogi_task_has_vertex(const EmogiTask *task, const EmogiOverlay *overlay,
								  const EmogiGraph *graph, int64 key);

#endif							/* EMOGI_TASK_VERTICES_H */
