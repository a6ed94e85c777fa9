/*
 * verify_wrong.h: how the verifiers say why an answer is wrong.
 */
#ifndef EMOGI_VERIFY_WRONG_H
#define EMOGI_VERIFY_WRONG_H

#include "engine.h"

#include <stdarg.h>
#include <stdio.h>

/* Write why an answer is wrong; gets false. */
static inline bool __attribute__((format(printf, 2, 3)))
emogi_wrong(EmogiError *error, const char *format, ...)
{
	va_list		args;

	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	error->detail[0] = '\0';
	return false;
}

#endif							/* EMOGI_VERIFY_WRONG_H */
