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

#include "edges/row_filter.h"
#include "index_search/index_search.h"

/* What an index must provide. */
typedef struct IndexRequest
{
	AttrNumber	from;			/* endpoint column to search by */
	AttrNumber	to;				/* the other one */
	AttrNumber	weight;			/* 0 = none */
	AttrNumber	reverse;		/* likewise */
	List	   *quals;			/* conditions on the heap's rows, in the order of evaluation */
} IndexRequest;

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
 * Does an index lead from the requested column, possibly after columns that conditions set equal to
 * constants?
 */
static bool
leads_from(Relation index, const IndexRequest *request, EmogiSearchIndex *found)
{
	const Form_pg_index form = index->rd_index;

	for (found->nprefix = 0; found->nprefix < form->indnkeyatts; found->nprefix++)
	{
		const int	column = found->nprefix;

		if (form->indkey.values[column] == request->from)
			return finds_equals(index, column, found->from_type, found);
		if (index->rd_rel->relam != BTREE_AM_OID || column == EMOGI_INDEX_MAX_PREFIX ||
			!find_equality(request->quals, index, column, &found->prefix[column]))
			return false;
	}
	return false;
}

/*
 * Open an index of a heap if it leads from the requested column; false if it does not, or is
 * locked.
 */
static bool
open_index(Oid relid, const IndexRequest *request, EmogiSearchIndex *found)
{
	Relation	index;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	index = found->index = index_open(relid, NoLock);
	if (has_all_visible_rows(index, request->quals) && leads_from(index, request, found))
		return true;
	index_close(index, AccessShareLock);
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

/* Get the base type of a column of a heap; 0 = none. */
static Oid
type_of(Relation heap, AttrNumber column)
{
	return column == 0 ? InvalidOid :
		getBaseType(TupleDescAttr(RelationGetDescr(heap), column - 1)->atttypid);
}

/*
 * Find the best index of a heap from one column to another: the one with the most prefix columns
 * set by conditions, then a partial one, then the one with the fewest columns, then the oldest.
 */
static void
find_index(Relation heap, const IndexRequest *request, EmogiSearchIndex *found)
{
	EmogiSearchIndex candidate = {
		.heap = RelationGetRelid(heap),
		.from_type = type_of(heap, request->from),
		.to = request->to,
		.to_type = type_of(heap, request->to),
		.weight = request->weight,
		.weight_type = type_of(heap, request->weight),
		.reverse = request->reverse,
		.reverse_type = type_of(heap, request->reverse)
	};
	ListCell   *cell;

	*found = candidate;
	foreach(cell, RelationGetIndexList(heap))
	{
		if (!open_index(lfirst_oid(cell), request, &candidate))
			continue;
		if (found->index != NULL && !is_better(&candidate, found))
			index_close(candidate.index, AccessShareLock);
		else
		{
			if (found->index != NULL)
				index_close(found->index, AccessShareLock);
			*found = candidate;
		}
	}
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

/* Get the name of a column of a source; NULL = none. */
static const char *
name_of(const EmogiSource *source, AttrNumber column)
{
	return column > 0 ? get_attname(source->relid, column, false) : NULL;
}

/* Find the index of each heap of a source from one column to another; NULL if a heap has none. */
static EmogiSearchIndex *
find_indexes(const EmogiSource *source, List *leaves, const char *from, const char *to)
{
	const EmogiRowFilterPlan filter = emogi_row_filter_plan(source);
	EmogiSearchIndex *indexes = palloc(list_length(leaves) * sizeof *indexes);
	const char *weight = name_of(source, source->weight);
	const char *reverse = name_of(source, source->reverse);
	int			count = 0;
	ListCell   *cell;

	foreach(cell, leaves)
	{
		const Oid	relid = lfirst_oid(cell);
		Relation	heap = table_open(relid, NoLock);

		if (!IsCatalogRelation(heap) && heap->rd_rel->relhasindex)
		{
			const IndexRequest request = {
				get_attnum(relid, from), get_attnum(relid, to),
				weight != NULL ? get_attnum(relid, weight) : 0,
				reverse != NULL ? get_attnum(relid, reverse) : 0,
				emogi_row_filter_quals(&filter, heap)
			};

			find_index(heap, &request, &indexes[count]);
		}
		else
			indexes[count].index = NULL;
		table_close(heap, NoLock);
		if (indexes[count++].index == NULL)
		{
			close_indexes(indexes, count);
			return NULL;
		}
	}
	return indexes;
}

/* Close a source's indexes, and release their locks. */
void
emogi_index_search_close(EmogiSearchIndexes *indexes)
{
	if (indexes->by_src != NULL)
		close_indexes(indexes->by_src, indexes->nleaves);
	if (indexes->by_dst != NULL)
		close_indexes(indexes->by_dst, indexes->nleaves);
}

/* Are there the indexes that a search needs? */
static bool
suffice(const EmogiSearchIndexes *indexes, const EmogiIndexSearch *search)
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
		case EMOGI_COLLECTS_CYCLES:
		case EMOGI_COLLECTS_NEAR:
			break;
	}
	return have_along;
}

/*
 * Open the indexes for a search over the heaps of a source, which are locked; false, with none
 * open, if it lacks some. Indexes of the other direction, if any, tell whether a vertex without an
 * edge in this one is in the graph.
 */
bool
emogi_index_search_open(const EmogiSource *source, List *leaves, const EmogiIndexSearch *search,
						EmogiSearchIndexes *indexes)
{
	const char *src = get_attname(source->relid, source->src, false);
	const char *dst = get_attname(source->relid, source->dst, false);

	*indexes = (EmogiSearchIndexes) {.source = source,.nleaves = list_length(leaves)};
	indexes->by_src = find_indexes(source, leaves, src, dst);
	indexes->by_dst = find_indexes(source, leaves, dst, src);
	if (suffice(indexes, search))
		return true;
	emogi_index_search_close(indexes);
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

	snprintf(names, EMOGI_INDEX_NAMES_BYTES, "%s%s%s",
			 by_src ? RelationGetRelationName(indexes->by_src[0].index) : "",
			 by_src && by_dst ? ", " : "",
			 by_dst ? RelationGetRelationName(indexes->by_dst[0].index) : "");
}
