/*
 * limits.h: limits per session and per role; see limits.c
 */
#ifndef EMOGI_LIMITS_H
#define EMOGI_LIMITS_H

#include "base/shared.h"

typedef enum EmogiLimit
{
	EMOGI_WITHIN_LIMITS = 0,
	EMOGI_LIMIT_SLOTS,			/* all slots of the server are in use */
	EMOGI_LIMIT_ROLE_SLOTS,
	EMOGI_LIMIT_SESSION_CALLS,
	EMOGI_LIMIT_ROLE_CALLS,
	EMOGI_LIMIT_SESSION_MEMORY,
	EMOGI_LIMIT_ROLE_MEMORY
} EmogiLimit;

extern void emogi_limits_define(void);
extern void emogi_limits_set_size_callback(uint64 (*bytes) (int graph));
extern void emogi_limits_open_account(int index, int pid, Oid userid, bool limited);
extern void emogi_limits_close_account(int index);
extern EmogiLimit emogi_limits_check_calls(int pid, Oid userid);
extern EmogiLimit emogi_limits_check_slots(Oid userid);
extern EmogiLimit emogi_limits_check_memory(const EmogiAccount *account, uint64 nextents);
extern void emogi_limits_report(EmogiLimit limit);
extern uint64 emogi_limits_allowed_bytes(void);
extern uint64 emogi_limits_backend_bytes(void);
extern uint64 emogi_limits_others_bytes(void);
extern uint64 emogi_limits_role_bytes(void);
extern uint64 emogi_limits_bytes_of_calls(Oid userid);
extern int	emogi_limits_server_connections(void);

#endif							/* EMOGI_LIMITS_H */
