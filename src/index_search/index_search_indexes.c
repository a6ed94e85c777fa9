/*
 * index_search_indexes.c: the indexes of tables by which a walk finds the edges of a vertex.
 *
 * An index serves that would serve the server itself for `column = value` under the active snapshot: btree or hash, valid, over all
 * rows, with the column in the first place, and of the default operator class of its type, whose equality is that of keys.
 *
 * Of a filtered table (../analysis/table_filter.c) the column may also come after others that conditions set equal to constants: the index (tenant, src)
 * with row security by tenant. These are further keys of the scan; all conditions are evaluated on the rows all the same. A condition
 * that is no longer in its place must be leakproof, as for the server's own plans: a policy's may not be behind it. A partial index serves if
 * the conditions imply its predicate.
 *
 * Nobody is waited for: an index that another session holds a conflicting lock on, to rebuild it say, does not serve. The heaps are
 * locked, so none that was found can be dropped.
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

/* Can the keys of a Source be walked from? Which of several spellings of a key is given back depends on all rows: those cannot. */
bool
emogi_index_search_supports(const EmogiSource *source)
{
	return !source->is_query && source->reverse == 0 && source->key.class != EMOGI_KEY_COMPARED && source->key.nparts == 0;
}

/* What an index may be found by beside an end. */
typedef struct Wanted
{
	AttrNumber	from;			/* the column that it leads from */
	List	   *quals;			/* conditions on the heap's rows, in the order of evaluation */
} Wanted;

/*
 * Is the operator class of an index's column the default one of a type, in an access method that finds by equality, and its collation one by which
 * equal strings have equal bytes? Gets the equality.
 */
static bool
finds_equals(Relation index, int column, Oid type, EmogiSearchIndex *found)
{
	const bool	is_btree = index->rd_rel->relam == BTREE_AM_OID;
	const Oid	family = index->rd_opfamily[column];
	const Oid	input = index->rd_opcintype[column];
	const Oid	collation = index->rd_indcollation[column];
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_HASH_OPFAMILY);
	Oid			operator;

	if ((!is_btree && index->rd_rel->relam != HASH_AM_OID) || !OidIsValid(family) ||
		family != (is_btree ? cache->btree_opf : cache->hash_opf) || input != (is_btree ? cache->btree_opintype : cache->hash_opintype) ||
		(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
		return false;
	found->strategy = is_btree ? BTEqualStrategyNumber : HTEqualStrategyNumber;
	operator = get_opfamily_member(family, input, input, found->strategy);
	found->equals = OidIsValid(operator) ? get_opcode(operator) : InvalidOid;
	return OidIsValid(found->equals);
}

/* Is an index over all rows, or over all of which the conditions are true? */
static bool
has_all_edges(Relation index, List *quals)
{
	return heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) ||
		predicate_implied_by(RelationGetIndexPredicate(index), quals, false);
}

/* Does an index have all edges that the active snapshot sees? One that came over broken HOT chains has not those of older snapshots. */
static bool
is_whole(Relation index, List *quals)
{
	const Form_pg_index form = index->rd_index;

	return form->indisvalid && form->indisready && form->indislive &&
		(!form->indcheckxmin || TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data), TransactionXmin)) &&
		has_all_edges(index, quals);
}

/* Take off what changes the type of an expression in name alone. */
static Node *
strip_relabels(Node *node)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

/*
 * Does a condition set an index's column equal to a constant, by the index's own equality? Makes a key for the scan of it.
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
	if (!IsA(var, Var) || ((Var *) var)->varattno != index->rd_index->indkey.values[column] || !IsA(value, Const) || value->constisnull ||
		!OidIsValid(operator) || (OidIsValid(collation) && collation != operation->inputcollid) ||
		get_op_opfamily_strategy(operator, family) != BTEqualStrategyNumber)
		return false;
	get_op_opfamily_properties(operator, family, false, &strategy, &left_type, &right_type);
	ScanKeyEntryInitialize(key, 0, (AttrNumber) (column + 1), BTEqualStrategyNumber, right_type, operation->inputcollid, get_opcode(operator),
						   value->constvalue);
	return true;
}

/* Find a condition that sets an index's column equal to a constant, and may be evaluated before those in front of it. */
static bool
find_equality(List *quals, Relation index, int column, ScanKey key)
{
	ListCell   *cell;

	foreach(cell, quals)
		if (is_equality(lfirst(cell), index, column, key) && (cell == list_head(quals) || get_func_leakproof(key->sk_func.fn_oid)))
			return true;
	return false;
}

/* Does an index lead from a column, behind others that conditions set equal to constants? */
static bool
leads_from(Relation index, const Wanted *wanted, EmogiSearchIndex *found)
{
	const Form_pg_index form = index->rd_index;

	for (found->nprefix = 0; found->nprefix < form->indnkeyatts; found->nprefix++)
	{
		const int	column = found->nprefix;

		if (form->indkey.values[column] == wanted->from)
			return finds_equals(index, column, found->from_type, found);
		if (index->rd_rel->relam != BTREE_AM_OID || column == EMOGI_WALK_MAX_PREFIX ||
			!find_equality(wanted->quals, index, column, &found->prefix[column]))
			return false;
	}
	return false;
}

/* Open an index of a heap if it leads from a column; false when it does not, or is locked. */
static bool
open_index(Oid relid, const Wanted *wanted, EmogiSearchIndex *found)
{
	Relation	index;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	index = found->index = index_open(relid, NoLock);
	if (is_whole(index, wanted->quals) && leads_from(index, wanted, found))
		return true;
	index_close(index, AccessShareLock);
	return false;
}

/* Is an index better than another? It finds fewer rows, or has fewer columns. */
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
 * Find the index of a heap that leads from one column to another: of several that behind the most columns that conditions set, then a partial one,
 * then that with the fewest columns, then the oldest.
 */
static void
find_index(Relation heap, const Wanted *wanted, AttrNumber to, EmogiSearchIndex *found)
{
	TupleDesc	desc = RelationGetDescr(heap);
	EmogiSearchIndex each = {
		.heap = RelationGetRelid(heap),
		.from_type = getBaseType(TupleDescAttr(desc, wanted->from - 1)->atttypid),
		.to = to,
		.to_type = getBaseType(TupleDescAttr(desc, to - 1)->atttypid)
	};
	ListCell   *cell;

	*found = each;
	foreach(cell, RelationGetIndexList(heap))
	{
		if (!open_index(lfirst_oid(cell), wanted, &each))
			continue;
		if (found->index != NULL && !is_better(&each, found))
			index_close(each.index, AccessShareLock);
		else
		{
			if (found->index != NULL)
				index_close(found->index, AccessShareLock);
			*found = each;
		}
	}
}

/* Close the indexes of one end. */
static void
close_indexes(EmogiSearchIndex *indexes, int count)
{
	for (int i = 0; i < count; i++)
		if (indexes[i].index != NULL)
			index_close(indexes[i].index, AccessShareLock);
	pfree(indexes);
}

/* Find the index of each heap of a Source that leads from one column to another; NULL when one heap has none. */
static EmogiSearchIndex *
find_indexes(const EmogiSource *source, List *leaves, const char *from, const char *to)
{
	const EmogiRowFilterPlan filter = emogi_row_filter_plan(source);
	EmogiSearchIndex *indexes = palloc(list_length(leaves) * sizeof *indexes);
	int			count = 0;
	ListCell   *cell;

	foreach(cell, leaves)
	{
		const Oid	relid = lfirst_oid(cell);
		Relation	heap = table_open(relid, NoLock);

		if (!IsCatalogRelation(heap) && heap->rd_rel->relhasindex)
		{
			const Wanted wanted = {get_attnum(relid, from), emogi_row_filter_quals(&filter, heap)};

			find_index(heap, &wanted, get_attnum(relid, to), &indexes[count]);
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

/* Close the indexes of a Source, and give their locks back. */
void
emogi_index_search_close(EmogiSearchIndexes *indexes)
{
	if (indexes->by_src != NULL)
		close_indexes(indexes->by_src, indexes->nleaves);
	if (indexes->by_dst != NULL)
		close_indexes(indexes->by_dst, indexes->nleaves);
}

/*
 * Open the indexes by which a walk in some direction can go over the heaps of a Source, which are locked; false when there are none, and
 * none is open. Those of the other direction, where there are any, tell whether a vertex without an edge in this one is in the graph.
 */
bool
emogi_index_search_open(const EmogiSource *source, List *leaves, EmogiDirection direction, EmogiSearchIndexes *indexes)
{
	const char *src = get_attname(source->relid, source->src, false);
	const char *dst = get_attname(source->relid, source->dst, false);
	bool		found = false;

	*indexes = (EmogiSearchIndexes) {.source = source,.nleaves = list_length(leaves)};
	if (direction != EMOGI_IN)
	{
		indexes->by_src = find_indexes(source, leaves, src, dst);
		if (indexes->by_src == NULL)
			return false;
		found = direction == EMOGI_OUT;
	}
	indexes->by_dst = find_indexes(source, leaves, dst, src);
	if (direction == EMOGI_IN && indexes->by_dst != NULL)
		indexes->by_src = find_indexes(source, leaves, src, dst);
	found |= indexes->by_dst != NULL;
	if (!found)
		emogi_index_search_close(indexes);
	return found;
}

/* Name the indexes that a walk goes over; of several heaps' those of the first. names: [EMOGI_INDEX_NAMES_BYTES]. */
void
emogi_index_search_name(const EmogiSearchIndexes *indexes, EmogiDirection direction, char *names)
{
	const char *by_src = direction != EMOGI_IN ? RelationGetRelationName(indexes->by_src[0].index) : "";
	const char *by_dst = direction != EMOGI_OUT ? RelationGetRelationName(indexes->by_dst[0].index) : "";

	snprintf(names, EMOGI_INDEX_NAMES_BYTES, "%s%s%s", by_src, direction == EMOGI_BOTH ? ", " : "", by_dst);
}
