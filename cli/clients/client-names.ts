export const clientNames = ['claude-code', 'codex', 'gemini-cli', 'openai-env'] as const
export type ClientName = (typeof clientNames)[number]
