/*
 * index_search_indexes.c: lookup of the table indexes that lead from a vertex to its edges.
 *
 * An index qualifies if the server itself could use it for `column = value` under the active
 * snapshot: a btree or hash index that is valid, covers all rows, has the column in first place,
 * and has the default operator class of the type, whose equality is that of keys.
 *
 * In a filtered table (../analysis/table_filter.c), the column may also follow others that
 * conditions set equal to constants: for example index (tenant, src) with row security by tenant.
 * These become further keys of the scan; all conditions are still evaluated on the rows. A
 * condition that is evaluated earlier than in its order must be leakproof, as in the server's own
 * plans, because it may precede a policy's. A partial index qualifies if the conditions imply its
 * predicate.
 *
 * Locks are never waited for: an index on which another session holds a conflicting lock, for
 * example to rebuild it, does not qualify. The heaps are locked, so no index that was found can be
 * dropped.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "analysis/analysis.h"
#include "edges/row_filter.h"
#include "index_search/index_search.h"

/*
 * Does an index's column have the default operator class of a type, in an access method that
 * supports equality, and a deterministic collation? Sets the equality in *found.
 */
static bool
finds_equals(Relation index, int column, Oid type, EmogiSearchIndex *found)
{
	const bool	is_btree = index->rd_rel->relam == BTREE_AM_OID;
	const Oid	family = index->rd_opfamily[column];
	const Oid	input = index->rd_opcintype[column];
	const Oid	collation = index->rd_indcollation[column];
	TypeCacheEntry *cache = lookup_type_cache(type,
											  TYPECACHE_BTREE_OPFAMILY | TYPECACHE_HASH_OPFAMILY);
	Oid			operator;

	if ((!is_btree && index->rd_rel->relam != HASH_AM_OID) || !OidIsValid(family) ||
		family != (is_btree ? cache->btree_opf : cache->hash_opf) ||
		input != (is_btree ? cache->btree_opintype : cache->hash_opintype) ||
		(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
		return false;
	found->strategy = is_btree ? BTEqualStrategyNumber : HTEqualStrategyNumber;
	operator = get_opfamily_member(family, input, input, found->strategy);
	found->equals = OidIsValid(operator) ? get_opcode(operator) : InvalidOid;
	return OidIsValid(found->equals);
}

/* Does an index cover all rows that satisfy the conditions? */
static bool
has_all_edges(Relation index, List *quals)
{
	return heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) ||
		predicate_implied_by(RelationGetIndexPredicate(index), quals, false);
}

/*
 * Does an index have all edges that the active snapshot sees? An index built over broken HOT chains
 * lacks rows for older snapshots.
 */
static bool
has_all_visible_rows(Relation index, List *quals)
{
	const Form_pg_index form = index->rd_index;

	return form->indisvalid && form->indisready && form->indislive &&
		(!form->indcheckxmin ||
		 TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							   TransactionXmin)) &&
		has_all_edges(index, quals);
}

/* Strip RelabelType nodes. */
static Node *
strip_relabels(Node *node)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

/*
 * Does a condition set an index's column equal to a constant, by the index's own equality? Sets
 * *key to its scan key.
 */
static bool
is_equality(Node *qual, Relation index, int column, ScanKey key)
{
	const OpExpr *operation = (OpExpr *) qual;
	const Oid	family = index->rd_opfamily[column];
	const Oid	collation = index->rd_indcollation[column];
	Oid			operator;
	const Const *value;
	Node	   *var;
	int			strategy;
	Oid			left_type;
	Oid			right_type;

	if (!IsA(qual, OpExpr) || list_length(operation->args) != 2)
		return false;
	operator = operation->opno;
	var = strip_relabels(linitial(operation->args));
	value = lsecond(operation->args);
	if (IsA(var, Const))
	{
		operator = get_commutator(operator);
		value = linitial(operation->args);
		var = strip_relabels(lsecond(operation->args));
	}
	if (!IsA(var, Var) || ((Var *) var)->varattno != index->rd_index->indkey.values[column] ||
		!IsA(value, Const) || value->constisnull ||
		!OidIsValid(operator) || (OidIsValid(collation) && collation != operation->inputcollid) ||
		get_op_opfamily_strategy(operator, family) != BTEqualStrategyNumber)
		return false;
	get_op_opfamily_properties(operator, family, false, &strategy, &left_type, &right_type);
	ScanKeyEntryInitialize(key, 0, (AttrNumber) (column + 1), BTEqualStrategyNumber, right_type,
						   operation->inputcollid, get_opcode(operator), value->constvalue);
	return true;
}

/*
 * Find a condition that sets an index's column equal to a constant and may be evaluated before
 * those in front of it.
 */
static bool
find_equality(List *quals, Relation index, int column, ScanKey key)
{
	ListCell   *cell;

	foreach(cell, quals)
		if (is_equality(lfirst(cell), index, column, key) &&
			(cell == list_head(quals) || get_func_leakproof(key->sk_func.fn_oid)))
			return true;
	return false;
}

/*
 * Does an index lead from a column, possibly after columns that conditions set equal to constants?
 */
static bool
leads_from(Relation index, AttrNumber from, List *quals, EmogiSearchIndex *found)
{
	const Form_pg_index form = index->rd_index;

	for (found->nprefix = 0; found->nprefix < form->indnkeyatts; found->nprefix++)
	{
		const int	column = found->nprefix;

		if (form->indkey.values[column] == from)
			return finds_equals(index, column, found->from_type, found);
		if (index->rd_rel->relam != BTREE_AM_OID || column == EMOGI_INDEX_MAX_PREFIX ||
			!find_equality(quals, index, column, &found->prefix[column]))
			return false;
	}
	return false;
}

/* Is an index better than another, because it finds fewer rows or has fewer columns? */
static bool
is_better(const EmogiSearchIndex *index, const EmogiSearchIndex *other)
{
	const bool	is_partial = RelationGetIndexPredicate(index->index) != NIL;

	if (index->nprefix != other->nprefix)
		return index->nprefix > other->nprefix;
	if (is_partial != (RelationGetIndexPredicate(other->index) != NIL))
		return is_partial;
	return index->index->rd_index->indnatts < other->index->rd_index->indnatts;
}

/*
 * Use an index from a column if it leads from there, and is better than the one found so far, which
 * is closed. Return true if it is used.
 */
static bool
offer_index(Relation index, AttrNumber from, List *quals, EmogiSearchIndex *found)
{
	EmogiSearchIndex candidate = *found;

	candidate.index = index;
	if (!leads_from(index, from, quals, &candidate) ||
		(found->index != NULL && !is_better(&candidate, found)))
		return false;
	if (found->index != NULL)
		index_close(found->index, AccessShareLock);
	*found = candidate;
	return true;
}

/* How long the choice among the indexes of a heap is valid. */
typedef struct Validity
{
	bool		is_lasting;		/* it follows from the catalogs, and the conditions if any */
	bool		suits_conditions;	/* conditions do not matter */
} Validity;

/* Open an index of a heap; NULL if it lacks visible edges, or is locked. */
static Relation
open_index(Oid relid, List *quals, Validity *validity)
{
	Relation	index;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		validity->is_lasting = false;
		return NULL;
	}
	index = index_open(relid, NoLock);
	validity->is_lasting &= !index->rd_index->indcheckxmin;
	validity->suits_conditions &= index->rd_index->indnkeyatts == 1 &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
	if (has_all_visible_rows(index, quals))
		return index;
	index_close(index, AccessShareLock);
	return NULL;
}

/* Get the number of a source's column in one of its heaps; 0 = none. */
static AttrNumber
column_of(const EmogiSource *source, AttrNumber column, Relation heap)
{
	return column == 0 || RelationGetRelid(heap) == source->relid ? column :
		get_attnum(RelationGetRelid(heap), get_attname(source->relid, column, false));
}

/* Get the base type of a column of a heap; 0 = none. */
static Oid
type_of(Relation heap, AttrNumber column)
{
	return column == 0 ? InvalidOid :
		getBaseType(TupleDescAttr(RelationGetDescr(heap), column - 1)->atttypid);
}

/*
 * Find the best index of a heap from either endpoint column to the other: the one with the most
 * prefix columns set by conditions, then a partial one, then the one with the fewest columns, then
 * the oldest.
 */
static void
find_in_heap(const EmogiSource *source, const EmogiRowFilterPlan *filter, Relation heap,
			 EmogiSearchIndex *by_src, EmogiSearchIndex *by_dst)
{
	const AttrNumber src = column_of(source, source->src, heap);
	const AttrNumber dst = column_of(source, source->dst, heap);
	const AttrNumber weight = column_of(source, source->weight, heap);
	const AttrNumber reverse = column_of(source, source->reverse, heap);
	List	   *quals = emogi_row_filter_quals(filter, heap);
	const uint64 changes = emogi_analysis_count_changes();
	Validity	validity = {.is_lasting = true,.suits_conditions = true};
	ListCell   *cell;

	*by_src = (EmogiSearchIndex) {
		.heap = RelationGetRelid(heap),
		.from_type = type_of(heap, src),
		.to = dst,
		.to_type = type_of(heap, dst),
		.weight = weight,
		.weight_type = type_of(heap, weight),
		.reverse = reverse,
		.reverse_type = type_of(heap, reverse)
	};
	*by_dst = *by_src;
	by_dst->from_type = by_src->to_type;
	by_dst->to = src;
	by_dst->to_type = by_src->from_type;
	foreach(cell, RelationGetIndexList(heap))
	{
		Relation	index = open_index(lfirst_oid(cell), quals, &validity);
		int			nusers;

		if (index == NULL)
			continue;
		nusers = offer_index(index, src, quals, by_src) + offer_index(index, dst, quals, by_dst);
		if (nusers == 0)
			index_close(index, AccessShareLock);
		else if (nusers == 2)
			by_dst->index = index_open(RelationGetRelid(index), AccessShareLock);
	}
	if (validity.is_lasting && (validity.suits_conditions || quals == NIL))
		emogi_known_indexes_note(source, changes, validity.suits_conditions, by_src, by_dst);
}

/* Find the best indexes of a heap, which is locked; none if the system uses it. */
static void
search_heap(const EmogiSearchIndexes *indexes, Oid relid, EmogiSearchIndex *by_src,
			EmogiSearchIndex *by_dst)
{
	Relation	heap = table_open(relid, NoLock);

	if (!IsCatalogRelation(heap) && heap->rd_rel->relhasindex)
		find_in_heap(indexes->source, &indexes->filter, heap, by_src, by_dst);
	table_close(heap, NoLock);
}

/* Close the indexes of one direction. */
static void
close_indexes(EmogiSearchIndex *indexes, int count)
{
	for (int i = 0; i < count; i++)
		if (indexes[i].index != NULL)
			index_close(indexes[i].index, AccessShareLock);
	pfree(indexes);
}

/* Close the indexes of one direction, and set them to none, if one of them is missing. */
static void
drop_incomplete(EmogiSearchIndex **indexes, int count)
{
	if (*indexes == NULL || (*indexes)[count - 1].index != NULL)
		return;
	close_indexes(*indexes, count);
	*indexes = NULL;
}

/* Find the indexes of each heap of a source; those of a direction are NULL if a heap has none. */
static void
find_indexes(List *leaves, EmogiSearchIndexes *indexes)
{
	int			count = 0;
	ListCell   *cell;

	indexes->by_src = palloc(indexes->nleaves * sizeof *indexes->by_src);
	indexes->by_dst = palloc(indexes->nleaves * sizeof *indexes->by_dst);
	foreach(cell, leaves)
	{
		EmogiSearchIndex by_src = {.index = NULL};
		EmogiSearchIndex by_dst = {.index = NULL};

		if (!emogi_known_indexes_open(indexes->source, indexes->filter.quals != NIL,
									  lfirst_oid(cell), &by_src, &by_dst))
			search_heap(indexes, lfirst_oid(cell), &by_src, &by_dst);
		if (indexes->by_src != NULL)
			indexes->by_src[count] = by_src;
		if (indexes->by_dst != NULL)
			indexes->by_dst[count] = by_dst;
		count++;
		drop_incomplete(&indexes->by_src, count);
		drop_incomplete(&indexes->by_dst, count);
		if (indexes->by_src == NULL && indexes->by_dst == NULL)
			return;
	}
}

/* Close a source's indexes, and release their locks. */
void
emogi_index_search_release(EmogiSearchIndexes *indexes)
{
	if (indexes->by_src != NULL)
		close_indexes(indexes->by_src, indexes->nleaves);
	if (indexes->by_dst != NULL)
		close_indexes(indexes->by_dst, indexes->nleaves);
}

/* Are there the indexes that a search needs? */
bool
emogi_index_search_suffices(const EmogiSearchIndexes *indexes, const EmogiIndexSearch *search)
{
	const bool	have_both = indexes->by_src != NULL && indexes->by_dst != NULL;
	const bool	have_along = search->direction == EMOGI_OUT ? indexes->by_src != NULL :
		search->direction == EMOGI_IN ? indexes->by_dst != NULL : have_both;

	if (indexes->source->reverse > 0)
		return have_both;
	switch (search->kind)
	{
		case EMOGI_COLLECTS_WALKS:
			return have_along &&
				(have_both || strspn(search->steps, ">") == strlen(search->steps));
		case EMOGI_COLLECTS_PATHS:	/* by weights they are searched from the sources */
			return have_along || (search->direction != EMOGI_BOTH && !search->is_weighted &&
								  (indexes->by_src != NULL || indexes->by_dst != NULL));
		case EMOGI_COLLECTS_RANKED:
			return have_along || (search->direction != EMOGI_BOTH &&
								  (indexes->by_src != NULL || indexes->by_dst != NULL));
		case EMOGI_SEARCHES:
		case EMOGI_COUNTS:
		case EMOGI_COLLECTS_CYCLES:
		case EMOGI_COLLECTS_NEAR:
			break;
	}
	return have_along;
}

/*
 * Find and open the indexes for a search over the heaps of a source, which are locked; false, with
 * none open, if it lacks some. Indexes of the other direction, if any, tell whether a vertex
 * without an edge in this one is in the graph. indexes->filter is set; the indexes refer to it.
 */
bool
emogi_index_search_find(const EmogiSource *source, List *leaves, const EmogiIndexSearch *search,
						EmogiSearchIndexes *indexes)
{
	indexes->source = source;
	indexes->nleaves = list_length(leaves);
	find_indexes(leaves, indexes);
	if (emogi_index_search_suffices(indexes, search))
		return true;
	emogi_index_search_release(indexes);
	return false;
}

/*
 * Write the names of the indexes that a search uses; with several heaps, those of the first. names:
 * [EMOGI_INDEX_NAMES_BYTES].
 */
void
emogi_index_search_name(const EmogiSearchIndexes *indexes, EmogiDirection direction, char *names)
{
	const bool	all = indexes->source->reverse > 0;
	const bool	by_src = indexes->by_src != NULL &&
		(all || direction != EMOGI_IN || indexes->by_dst == NULL);
	const bool	by_dst = indexes->by_dst != NULL &&
		(all || direction != EMOGI_OUT || indexes->by_src == NULL);

	strlcpy(names, by_src ? RelationGetRelationName(indexes->by_src[0].index) : "",
			EMOGI_INDEX_NAMES_BYTES);
	if (by_src && by_dst)
		strlcat(names, ", ", EMOGI_INDEX_NAMES_BYTES);
	if (by_dst)
		strlcat(names, RelationGetRelationName(indexes->by_dst[0].index),
				EMOGI_INDEX_NAMES_BYTES);
}
