/*
 * machine.h: the memory and processors that this server may use; see machine.c
 */
#ifndef EMOGI_MACHINE_H
#define EMOGI_MACHINE_H

extern uint64 emogi_machine_bytes(void);
extern uint64 emogi_machine_free_huge_bytes(void);
extern int	emogi_machine_processors(void);

#endif							/* EMOGI_MACHINE_H */
