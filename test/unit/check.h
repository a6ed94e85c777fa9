/*
 * check.h: counted checks. A program prints one line for each that fails and one at the end.
 */
#ifndef EMOGI_CHECK_H
#define EMOGI_CHECK_H

#include <stdbool.h>
#include <stdio.h>

static unsigned long checks_passed;
static unsigned long checks_failed;

/* Count a check; prints where and what when it fails. A condition and a printf format with its arguments. */
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

/* Print the count; get the exit status. */
static inline int
check_report(const char *name)
{
	printf("%s: %lu passed, %lu failed\n", name, checks_passed, checks_failed);
	return checks_failed > 0 ? 1 : 0;
}

#endif							/* EMOGI_CHECK_H */
