/*
 * argument_hints.c: hint for a call of a function of the extension with arguments that it does not
 * take
 *
 * PostgreSQL's message has the call: "function emogi_bfs(unknown, integer, depth => integer) does
 * not exist".
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/varlena.h"

#include "source/source.h"

#define MAX_ARGUMENTS 16
#define MIN_PART 3				/* length of a part by which a name is recognized */
#define QUERY_OF_VALUES "'VALUES (1, 1.0), (2, 0.5)' or 'SELECT vertex, value FROM ...'"
#define QUERY_OF_PAIRS "'VALUES (1, 2), (3, 4)' or 'SELECT source, target FROM ...'"

/* An argument of the call. */
typedef struct Argument
{
	const char *name;			/* NULL = by position */
	const char *type;
} Argument;

/* Names in other products for parameters. */
static const char *const other_names[][2] = {
	{"sink", "target"}, {"sinks", "target"}, {"destination", "target"}, {"end", "target"},
	{"to", "target"}, {"from", "source"}, {"start", "source"}, {"root", "source"},
	{"hops", "max_depth"}, {"cutoff", "max_distance"}, {"radius", "max_distance"},
	{"filter", "edge_filter"}, {"where", "edge_filter"}, {"condition", "edge_filter"},
	{"iterations", "max_iterations"}, {"personalization", "start"}, {"seeds", "start"}
};

/* Get the arguments of a call, whose text begins behind the parenthesis; return their number. */
static int
read_arguments(char *text, Argument *arguments)
{
	char	   *end = strchr(text, ')');
	int			count = 0;

	if (end == NULL)
		return 0;
	*end = '\0';
	while (text != NULL && *text != '\0' && count < MAX_ARGUMENTS)
	{
		char	   *next = strstr(text, ", ");
		char	   *arrow;

		if (next != NULL)
			*next = '\0';
		arrow = strstr(text, " => ");
		if (arrow != NULL)
			*arrow = '\0';
		arguments[count++] = arrow != NULL ?
			(Argument) {text, arrow + strlen(" => ")} : (Argument) {NULL, text};
		text = next != NULL ? next + strlen(", ") : NULL;
	}
	return count;
}

/* Is a word one of those separated by blanks? */
static bool
has_word(const char *words, const char *word)
{
	const size_t length = strlen(word);

	for (const char *place = strstr(words, word); place != NULL; place = strstr(place + 1, word))
		if ((place == words || place[-1] == ' ') &&
			(place[length] == '\0' || place[length] == ' '))
			return true;
	return false;
}

/* Is one of two names a part of the other, which is more than a letter or two, or similar to it? */
static bool
are_similar(const char *a, const char *b)
{
	const int	max_distance = (int) strlen(a) / 3;
	const bool	may_be_part = strlen(a) >= MIN_PART && strlen(b) >= MIN_PART;

	return (may_be_part && (strstr(a, b) != NULL || strstr(b, a) != NULL)) ||
		varstr_levenshtein_less_equal(a, (int) strlen(a), b, (int) strlen(b), 1, 1, 1,
									  max_distance, true) <= max_distance;
}

/* Get the parameter that was likely meant by a name; NULL if there is none. */
static const char *
find_parameter(const char *parameters, const char *name)
{
	char	   *words = pstrdup(parameters);

	for (int i = 0; i < (int) lengthof(other_names); i++)
		if (strcmp(name, other_names[i][0]) == 0 && has_word(parameters, other_names[i][1]))
			return other_names[i][1];
	for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " "))
		if (are_similar(name, word))
			return word;
	return NULL;
}

/* Separate words by commas. */
static char *
with_commas(const char *words)
{
	StringInfoData list;

	initStringInfo(&list);
	for (; *words != '\0'; words++)
		appendStringInfo(&list, *words == ' ' ? ",%c" : "%c", *words);
	return list.data;
}

/* Get the hint for a name that no parameter has; NULL if all names are right. */
static char *
explain_name(const char *function, const char *parameters, const Argument *arguments, int count)
{
	for (int i = 0; i < count; i++)
	{
		const char *name = arguments[i].name;
		const char *likely;

		if (name == NULL || strcmp(name, "columns") == 0 || has_word(parameters, name))
			continue;
		likely = strlen(name) <= NAMEDATALEN ? find_parameter(parameters, name) : NULL;
		return psprintf("%s has no parameter %s.%s%s%s Its parameters are: %s.", function,
						name, likely != NULL ? " Perhaps you meant " : "",
						likely != NULL ? likely : "", likely != NULL ? "." : "",
						with_commas(parameters));
	}
	return NULL;
}

/* Is a type that of an array? */
static bool
is_array(const Argument *argument)
{
	const size_t length = strlen(argument->type);

	return length > 2 && strcmp(argument->type + length - 2, "[]") == 0;
}

/* Get the hint for an array in the place of a query; NULL if there is none. */
static char *
explain_array(const Argument *arguments, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (arguments[i].name == NULL || !is_array(&arguments[i]))
			continue;
		if (strcmp(arguments[i].name, "start") == 0)
			return pstrdup("Start values are a query: " QUERY_OF_VALUES ".");
		if (strcmp(arguments[i].name, "pairs") == 0)
			return pstrdup("Pairs are a query: " QUERY_OF_PAIRS ".");
	}
	return NULL;
}

/*
 * Get the hint for two vertices in the place of a query of pairs; NULL if there are none. The
 * second argument of emogi_similarity is a measure.
 */
static char *
explain_pair(const char *function, const char *parameters, const Argument *arguments)
{
	if (!has_word(parameters, "pairs") || has_word(parameters, "measure") ||
		is_array(&arguments[1]) || is_array(&arguments[2]))
		return NULL;
	return psprintf("Pairs are a query: %s('edges', 'VALUES (1, 5)'). For one pair, use "
					"emogi_shortest_path('edges', 1, 5).", function);
}

/* Get the hint for one vertex beside an array; NULL if the ends are alike. */
static char *
explain_ends(const char *function, const char *parameters, const Argument *arguments)
{
	if (has_word(parameters, "sources"))
		return is_array(&arguments[1]) && is_array(&arguments[2]) ? NULL :
			psprintf("Both ends are arrays: %s('edges', ARRAY[1, 2], ARRAY[5]).", function);
	if (!has_word(parameters, "source") || !has_word(parameters, "target") ||
		is_array(&arguments[1]) == is_array(&arguments[2]))
		return NULL;
	if (strcmp(function, "emogi_simple_paths") == 0)
		return is_array(&arguments[1]) ?
			pstrdup("emogi_simple_paths takes one source. For several, call it in LATERAL.") : NULL;
	if (strcmp(function, "emogi_shortest_path") == 0)
		return pstrdup("emogi_shortest_path takes one source and one target. For many, use "
					   "emogi_shortest_paths('edges', ARRAY[1], ARRAY[4, 5]).");
	return psprintf("The ends are two vertices, or two arrays: %s('edges', ARRAY[1], ARRAY[4, 5]).",
					function);
}

/*
 * Get the hint for a call; NULL if its arguments tell no reason. function: its name, which the call
 * begins with; parameters: all except columns, separated by blanks.
 */
char *
emogi_argument_hints_explain(const char *function, const char *parameters, const char *call)
{
	Argument	arguments[MAX_ARGUMENTS];
	const int	count = call[strlen(function)] == '(' ?
		read_arguments(pstrdup(call + strlen(function) + 1), arguments) : 0;
	char	   *hint = explain_name(function, parameters, arguments, count);

	if (hint == NULL)
		hint = explain_array(arguments, count);
	if (hint != NULL || count < 3 || arguments[1].name != NULL || arguments[2].name != NULL)
		return hint;
	hint = explain_pair(function, parameters, arguments);
	return hint != NULL ? hint : explain_ends(function, parameters, arguments);
}
