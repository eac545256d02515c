#!/usr/bin/env python3
"""What measuring costs PostgreSQL. Needs run.sh first."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import overhead_study  # noqa: E402  (it is in the directory above)

STUDY = overhead_study.Study(
    here=HERE,
    root="PostgresMain",
    # Down to commit, planner, executor nodes and buffers.
    on_the_way="""
PostgresMain exec_simple_query start_xact_command finish_xact_command StartTransactionCommand
StartTransaction CommitTransactionCommand CommitTransaction RecordTransactionCommit XLogFlush
XLogWrite XLogInsert XLogRecordAssemble XLogInsertRecord ProcArrayEndTransaction
ResourceOwnerRelease ResourceOwnerReleaseInternal ProcReleaseLocks LockReleaseAll AtEOXact_Inval
AtEOXact_RelationCache ReadCommand SocketBackend pq_getmessage ReadyForQuery EndCommand
pg_parse_query raw_parser base_yyparse pg_analyze_and_rewrite_fixedparams parse_analyze_fixedparams
transformTopLevelStmt transformOptionalSelectInto transformStmt transformUpdateStmt
transformSelectStmt transformInsertStmt setTargetTable transformFromClause transformFromClauseItem
transformTargetList transformWhereClause transformExpr transformExprRecurse make_op pg_rewrite_query
QueryRewrite pg_plan_queries pg_plan_query standard_planner subquery_planner preprocess_expression
grouping_planner query_planner build_simple_rel get_relation_info make_one_rel
set_base_rel_pathlists set_rel_pathlist set_plain_rel_pathlist create_index_paths get_index_paths
build_index_paths create_index_path cost_index create_plan create_plan_recurse create_scan_plan
set_plan_references PortalStart PortalRun PortalRunMulti PortalRunSelect FillPortalStore
PortalRunUtility ProcessQuery CreateQueryDesc ExecutorStart standard_ExecutorStart InitPlan
ExecInitNode ExecInitModifyTable ExecInitIndexScan ExecutorRun standard_ExecutorRun ExecutePlan
ExecModifyTable ExecUpdate ExecUpdateAct ExecUpdateEpilogue ExecInsert ExecInsertIndexTuples
heapam_tuple_update heap_update heapam_tuple_insert heap_insert RelationGetBufferForTuple
heap_prepare_insert IndexNext index_beginscan index_getnext_slot index_getnext_tid index_fetch_heap
btgettuple _bt_first _bt_search _bt_readpage ReadBufferExtended ReadBuffer_common BufferAlloc
LockBuffer LWLockAcquire LWLockRelease ExecutorFinish standard_ExecutorFinish ExecutorEnd
standard_ExecutorEnd ExecEndPlan ExecEndNode PortalDrop CreatePortal table_open relation_open
try_table_open RelationIdGetRelation LockRelationOid LockAcquireExtended SearchCatCacheInternal
GetSnapshotData PushActiveSnapshot
""",
    unit="transaction",
    rate="tps",
    figures={"rate": r"^tps = ([\d.]+)", "latency_ms": r"^latency average = ([\d.]+)",
             "processor_s": r"^processor time of the server = ([\d.]+)"},
    uprobes=(10, 100),
    binaries=("installed/bin/postgres",),
)

if __name__ == "__main__":
    overhead_study.main(STUDY, f"{__doc__}\n\n{overhead_study.__doc__}")
