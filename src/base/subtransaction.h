/*
 * subtransaction.h: work that may fail without failing the call; it runs in a subtransaction
 * (subtransaction.c)
 */
#ifndef EMOGI_SUBTRANSACTION_H
#define EMOGI_SUBTRANSACTION_H

extern ErrorData *emogi_subtransaction_run(void (*work) (void *), void *context);
extern bool emogi_subtransaction_try(void (*work) (void *), void *context);
extern bool emogi_subtransaction_has_succeeded(ErrorData *error);
extern bool emogi_subtransaction_was_stopped(const ErrorData *error);

#endif							/* EMOGI_SUBTRANSACTION_H */
