/*
 * attempt.h: work that may fail without failing the call; it runs in a subtransaction (attempt.c)
 */
#ifndef EMOGI_ATTEMPT_H
#define EMOGI_ATTEMPT_H

extern ErrorData *emogi_attempt(void (*work) (void *), void *context);
extern bool emogi_attempt_was_stopped(const ErrorData *error);

#endif							/* EMOGI_ATTEMPT_H */
