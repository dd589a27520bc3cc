// Items and blocks that only one API format has. A caller of that format gets them as its provider sent them.

export const NATIVE_ITEMS = new Set<unknown>([
  ...['apply_patch_call', 'shell_call', 'local_shell_call', 'computer_call', 'tool_search_call', 'tool_search_output'],
  ...['apply_patch_call_output', 'shell_call_output', 'local_shell_call_output', 'computer_call_output'],
  ...['function_call_output', 'custom_tool_call_output', 'additional_tools', 'configuration_update'],
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'],
  ...['mcp_call', 'mcp_list_tools', 'mcp_approval_request', 'mcp_approval_response'],
  ...['program', 'program_output', 'compaction'],
])

export const NATIVE_BLOCKS = new Set<unknown>([
  ...['server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'tool_search_tool_result'],
  ...['code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result'],
  ...['mcp_tool_use', 'mcp_tool_result', 'mcp_tool_listing', 'advisor_tool_result', 'container_upload'],
  ...['compaction', 'fallback'],
])
