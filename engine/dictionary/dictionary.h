/*
 * dictionary.h: building a dictionary (contract/dictionary.h), with the threads of a pool.
 */
#ifndef EMOGI_DICTIONARY_BUILD_H
#define EMOGI_DICTIONARY_BUILD_H

#include "contract/dictionary.h"
#include "threads/pool.h"

/*
 * Build a dictionary of all keys of a table, and turn the endpoints of edges into codes. Runs on
 * all threads of the pool; polls control->cancel. The dictionary depends only on the set of keys.
 * The caller must read the edges' min_key and max_key from the chunks again.
 */
extern EmogiStatus emogi_dictionary_build(EmogiPool *pool, const EmogiDictionaryInput *input,
										  EmogiDictionary **dictionary,
										  EmogiControl *control, EmogiError *error);

#endif							/* EMOGI_DICTIONARY_BUILD_H */
