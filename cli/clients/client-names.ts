export const clientNames = [
  'claude-code',
  'codex',
  'gemini-cli',
  'opencode',
  'qwen-code',
  'pi',
  'aider',
  'continue',
  'llm',
  'zed',
  'openai-env',
] as const
export type ClientName = (typeof clientNames)[number]
