#!/usr/bin/env python3
"""What measuring costs httpd. Needs run.sh first."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import overhead_study  # noqa: E402  (it is in the directory above)

STUDY = overhead_study.Study(
    here=HERE,
    root="ap_process_async_request",
    # Down to the system calls, the pools and the buckets.
    on_the_way="""
ap_process_async_request ap_process_request_internal ap_process_request_after_handler
ap_run_quick_handler ap_run_post_read_request ap_invoke_handler ap_run_insert_filter
ap_core_insert_filter ap_run_handler ap_run_fixups default_handler ap_set_last_modified ap_set_etag
ap_set_accept_ranges ap_set_content_length ap_make_etag ap_make_etag_ex make_etag_from_info
ap_meets_conditions ap_condition_if_none_match ap_condition_if_modified_since ap_condition_if_range
ap_run_translate_name ap_core_translate ap_run_map_to_storage core_map_to_storage ap_directory_walk
ap_location_walk ap_file_walk ap_if_walk prep_walk_cache ap_run_header_parser ap_run_access_checker
ap_run_access_checker_ex authz_some_auth_required authorize_user_core ap_run_type_checker
find_ct do_nothing ap_run_auth_checker ap_run_check_user_id ap_normalize_path ap_getparents
ap_unescape_url_keep2f unescape_url resolve_symlink get_entry ap_merge_per_dir_configs
ap_set_content_type ap_set_content_type_ex ap_add_output_filter add_any_filter add_any_filter_handle
ap_pass_brigade ap_byterange_filter ap_content_length_filter ap_http_header_filter
ap_http_chunk_filter ap_core_output_filter ap_request_core_filter ap_filter_reinstate_brigade
ap_filter_prepare_brigade ap_filter_should_yield send_brigade_nonblocking writev_nonblocking
sendfile_nonblocking setaside_remaining_output ap_filter_setaside_brigade
ap_bucket_eor_create eor_bucket_destroy eor_bucket_cleanup ap_run_log_transaction
multi_log_transaction config_log_transaction ap_default_log_writer process_item log_request_time
log_request_line log_status clf_log_bytes_sent log_remote_host log_remote_user ap_get_remote_host
basic_http_header basic_http_header_check send_all_header_fields form_header_field
basic_http_header_vec ap_basic_http_header ap_send_http_options create_response_line
validate_status_line ap_set_keepalive ap_find_token apr_file_open apr_file_close file_cleanup
apr_unix_file_cleanup apr_stat apr_file_info_get fill_out_finfo apr_bucket_alloc apr_bucket_free
apr_brigade_create apr_brigade_destroy apr_brigade_cleanup brigade_cleanup apr_brigade_length
apr_brigade_insert_file apr_bucket_file_create apr_bucket_file_make file_bucket_read
file_make_mmap apr_mmap_create mmap_cleanup mmap_bucket_read mmap_bucket_destroy
apr_bucket_heap_make heap_bucket_destroy apr_bucket_shared_make apr_bucket_shared_copy
apr_bucket_shared_split apr_bucket_simple_copy apr_socket_sendv apr_wait_for_io_or_timeout
apr_pool_create_ex apr_pool_destroy apr_pool_clear allocator_alloc allocator_free apr_palloc
apr_pcalloc apr_pstrdup apr_pstrmemdup apr_pstrcat apr_psprintf apr_pvsprintf apr_vformatter
psprintf_flush apr_pool_cleanup_register apr_pool_cleanup_kill apr_pool_cleanup_run run_cleanups
apr_table_get apr_table_set apr_table_setn apr_table_mergen apr_table_addn apr_table_unset
apr_table_make apr_table_overlay apr_table_compress apr_table_do apr_table_vdo apr_array_make
apr_array_push apr_array_push_noclear apr_array_copy apr_array_append apr_rfc822_date
ap_recent_rfc822_date cached_explode explode_time apr_time_exp_gmt apr_filepath_merge apr_fnmatch
apr_hash_get find_entry ap_update_child_status_from_conn update_child_status_internal
ap_increment_counts ap_explode_recent_localtime log_request_time_custom apr_file_write
ap_run_get_suspend_info ap_http_filter ap_discard_request_body ap_get_brigade
""",
    unit="request",
    rate="req/s",
    figures={"rate": r"^requests per second = ([\d.]+)",
             "latency_ms": r"^latency average = ([\d.]+)",
             "processor_s": r"^processor time of the server = ([\d.]+)"},
)

if __name__ == "__main__":
    overhead_study.main(STUDY, f"{__doc__}\n\n{overhead_study.__doc__}")
