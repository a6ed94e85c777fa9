/*
 * machine.h: what this server has of the machine; see machine.c.
 */
#ifndef EMOGI_MACHINE_H
#define EMOGI_MACHINE_H

extern uint64 emogi_machine_bytes(void);
extern uint64 emogi_machine_free_huge_bytes(void);
extern int	emogi_machine_processors(void);

#endif							/* EMOGI_MACHINE_H */
