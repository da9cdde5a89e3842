"""Test files by how long they take, measured on two cores, named without `tests/` and `.py`; all others are quick."""

# These begin first, longest first. A file is one process's (`--dist loadfile`), so one that begins last is waited for
# alone.
FIRST = (
    "worker/test_supervisor", "browser/test_quickstart_in_browser", "worker/test_full_disk",
    "browser/test_bad_records_in_browser", "worker/test_stop_phases", "worker/test_supervisor_starts",
    "browser/test_launch_page", "browser/test_workbench", "browser/test_planted_secrets", "browser/test_charts",
    "storage/test_script_run", "storage/test_other_versions", "worker/test_scoring", "browser/test_compare",
    "worker/test_stages", "browser/test_spec_problems", "browser/test_following", "browser/test_workbench_runs",
    "browser/test_compare_late", "browser/test_compare_zoom", "browser/test_rewards_page",
    "browser/test_reward_library_page", "worker/test_warm_start",
    "worker/sandbox/test_threats", "app/test_connections", "worker/test_locked_files",
    "storage/test_hostile_folders", "worker/test_judge_ports", "worker/sandbox/test_network",
    "worker/test_dry_run", "worker/test_parquet", "app/test_calls", "app/test_login", "app/test_command",
    "app/test_comments_stay", "worker/rewards/test_code_tests", "storage/test_doctor_corpus", "worker/test_quantized",
    "worker/test_gym", "project/test_bench_gpu", "app/test_any_text", "worker/rewards/test_rewards",
    "worker/test_describe_model", "app/test_launch", "worker/test_workbench_bad_input", "worker/test_capture",
    "worker/test_copied_home", "worker/sandbox/test_bad_input", "worker/test_build", "app/test_launch_made",
    "worker/test_table", "worker/test_question_server",
)  # fmt: skip

# What `make test` leaves to `make test-all`: faults at every phase, matrices of bad states, races, waits for real
# limits. Whoever changes what they are about runs them, and CI always does.
LONG = (
    "app/test_any_text", "app/test_calls", "app/test_comments_stay", "app/test_connections", "app/test_login",
    "browser/test_bad_records_in_browser", "browser/test_builder_of_a_file", "browser/test_charts",
    "browser/test_compare", "browser/test_compare_late", "browser/test_compare_zoom",
    "browser/test_files_as_people_have_them", "browser/test_following", "browser/test_hostile_text",
    "browser/test_import_in_browser", "browser/test_launch_in_sight", "browser/test_launch_page",
    "browser/test_login", "browser/test_lost_modules", "browser/test_meanwhile", "browser/test_new_run_begun",
    "browser/test_new_run_rewards", "browser/test_new_run_stays_true", "browser/test_nothing_lost",
    "browser/test_page_start", "browser/test_planted_secrets", "browser/test_readable_text",
    "browser/test_reward_library_page", "browser/test_rewards_in_a_run", "browser/test_rewards_page",
    "browser/test_said_early", "browser/test_small_things", "browser/test_spec_problems", "browser/test_trusted",
    "browser/test_workbench", "browser/test_workbench_runs", "project/test_bench_gpu", "storage/test_hostile_folders",
    "storage/test_other_versions", "storage/test_script_run", "worker/rewards/test_code_tests",
    "worker/rewards/test_code_tests_tricks", "worker/sandbox/test_bad_input", "worker/sandbox/test_network",
    "worker/sandbox/test_threats", "worker/test_backup_of_training",
    "worker/test_capture", "worker/test_copied_home", "worker/test_endings",
    "worker/test_full_disk", "worker/test_gym", "worker/test_judge_ports", "worker/test_locked_files",
    "worker/test_parquet", "worker/test_quantized", "worker/test_scoring", "worker/test_stages",
    "worker/test_stop_phases", "worker/test_supervisor_starts", "worker/test_warm_start",
)  # fmt: skip

# Others that take more than a few seconds, or that import torch: what `--quick` leaves out beside those above, the
# browser's and the sandbox's.
SLOW = (
    "app/test_answer_cache", "app/test_bad_records", "app/test_doctor_command", "app/test_launch",
    "app/test_launch_made", "app/test_logging_out", "app/test_proxy",
    "app/test_server", "app/test_three_views", "app/test_uploads", "app/test_work_once", "app/test_worker_process",
    "project/test_wheel", "storage/test_check_model", "storage/test_presets", "storage/test_record_faults",
    "storage/test_script", "storage/test_script_data", "storage/test_script_like_trl", "storage/test_setting_names",
    "storage/test_slow_patterns",
    "worker/rewards/test_code_tests_alone", "worker/rewards/test_judge",
    "worker/rewards/test_like_trl", "worker/rewards/test_reward_model", "worker/rewards/test_rewards",
    "worker/test_build", "worker/test_build_rewards", "worker/test_catalogue", "worker/test_checkpoints",
    "worker/test_awkward_columns", "worker/test_damaged_files", "worker/test_data", "worker/test_describe_model",
    "worker/test_data_checked", "worker/test_encodings", "worker/test_file_reading", "worker/test_workbook_reading",
    "worker/test_kl_control", "worker/test_models", "worker/test_preview", "worker/test_question_server",
    "worker/test_resume_from", "worker/test_rewards_in_training", "worker/test_said_early", "worker/test_starter",
    "worker/test_table", "worker/test_trackers", "worker/test_values_trl_takes",
    "worker/test_worker_fixes_lose_nothing", "worker/test_workbench_bad_input",
    "worker/test_workbench_completions", "worker/test_workbench_process",
    "worker/test_workbench_rescore", "worker/test_workbench_score",
)  # fmt: skip
