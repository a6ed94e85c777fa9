/*
 * check.h: counted checks. A program prints one line per failed check, and the counts at the end.
 */
#ifndef EMOGI_CHECK_H
#define EMOGI_CHECK_H

#include <stdbool.h>
#include <stdio.h>

static unsigned long checks_passed;
static unsigned long checks_failed;

/*
 * Count a check, given a condition and a printf format with its arguments. If it fails, print its
 * place, the condition, and the message.
 */
#define CHECK(condition, ...) \
	do { \
		if (condition) \
			checks_passed++; \
		else \
		{ \
			checks_failed++; \
			printf("%s:%d: not %s: ", __FILE__, __LINE__, #condition); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

/* Print the counts; returns the exit status. */
static inline int
check_report(const char *name)
{
	printf("%s: %lu passed, %lu failed\n", name, checks_passed, checks_failed);
	return checks_failed > 0 ? 1 : 0;
}

#endif							/* EMOGI_CHECK_H */
