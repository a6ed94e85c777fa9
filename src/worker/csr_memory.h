/*
 * csr_memory.h: memory between the steps of a build; see csr_memory.c
 */
#ifndef EMOGI_CSR_MEMORY_H
#define EMOGI_CSR_MEMORY_H

#include "worker/threads.h"

extern bool emogi_csr_memory_alloc(EmogiWork *work);
extern bool emogi_csr_memory_alloc_result(EmogiWork *work);

#endif							/* EMOGI_CSR_MEMORY_H */
