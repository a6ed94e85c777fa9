/*
 * watchdog.h: a thread that ends the engine worker if it outlives the postmaster.
 */
#ifndef EMOGI_WATCHDOG_H
#define EMOGI_WATCHDOG_H

extern int	emogi_watchdog_start(void);

#endif							/* EMOGI_WATCHDOG_H */
