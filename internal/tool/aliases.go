package tool

// otherNames maps the names that other agents use for a field to ours. A name
// counts only where the tool has no field of that name and has the canonical
// one. camelCase forms are found by rule and are not listed.
func otherNames(name string) []string {
	switch name {
	case "file_path", "filepath", "filename", "file", "notebook_path", "absolute_path", "target_file":
		return []string{"path"}
	case "old_str", "old_text":
		return []string{"old_string"}
	case "new_str", "new_text":
		return []string{"new_string"}
	case "new_source":
		return []string{"source"}
	case "edit_mode", "output_mode":
		return []string{"mode"}
	case "subagent_type":
		return []string{"agent"}
	case "timeout":
		return []string{"timeout_ms"}
	case "include":
		return []string{"glob"}
	case "cmd":
		return []string{"command"}
	case "start_line":
		return []string{"offset"}
	case "include_ignored", "no_ignore":
		return []string{"include_ignored"}
	case "query", "regex":
		return []string{"pattern"}
	case "pattern", "search":
		return []string{"query"}
	case "-i", "case_insensitive":
		return []string{"ignore_case"}
	case "-A":
		return []string{"after"}
	case "-B":
		return []string{"before"}
	case "-C":
		return []string{"context"}
	case "head_limit", "max_results":
		return []string{"limit"}
	case "file_text", "contents", "text":
		return []string{"content"}
	case "setting":
		return []string{"key"}
	case "dir", "directory", "dir_path":
		return []string{"path"}
	case "cached":
		return []string{"staged"}
	case "commit", "revision", "rev", "sha":
		return []string{"ref"}
	case "input", "diff":
		return []string{"patch"}
	case "paths", "file_paths":
		return []string{"files"}
	case "source", "src", "old_path", "source_path":
		return []string{"from"}
	case "destination", "dest", "new_path", "destination_path":
		return []string{"to"}
	}
	return otherPlanNames(name)
}

// saysNothing names the fields by which other agents ask for what every tool does
// anyway: lines come with their numbers.
func saysNothing(name string) bool { return name == "-n" }

// otherPlanNames are those of the tools for plans, items, facts and questions.
func otherPlanNames(name string) []string {
	switch name {
	case "items", "plan", "steps", "todo_list":
		return []string{"todos"}
	case "step", "task":
		return []string{"content", "subject"}
	case "title":
		return []string{"subject", "header"}
	case "details":
		return []string{"description", "detail"}
	case "description":
		return []string{"detail"}
	case "choices", "answers":
		return []string{"options"}
	case "multi_select", "multiselect", "allow_multiple":
		return []string{"multiple"}
	case "state":
		return []string{"status"}
	case "reason":
		return []string{"note"}
	case "task_id", "item_id", "bash_id", "shell_id", "agent_id":
		return []string{"id"}
	case "assignee":
		return []string{"owner"}
	case "depends_on", "dependencies":
		return []string{"blocked_by"}
	case "fact", "content":
		return []string{"text"}
	case "category", "type":
		return []string{"kind"}
	}
	return nil
}

// otherValues maps the values that other agents use in an enumeration to ours;
// they count only where ours is allowed and theirs is not.
func otherValues(value string) string {
	switch value {
	case "done", "complete", "finished":
		return "completed"
	case "todo", "open", "not_started":
		return "pending"
	case "doing", "active", "started", "in-progress":
		return "in_progress"
	case "cancelled", "canceled", "deleted":
		return "stopped"
	case "files_with_matches":
		return "files"
	case "lines", "matches":
		return "content"
	case "stop", "terminate":
		return "kill"
	case "output":
		return "logs"
	case "follow":
		return "watch"
	case "python3", "py":
		return "python"
	case "javascript", "js", "nodejs":
		return "node"
	case "sh", "shell":
		return "bash"
	}
	return ""
}
