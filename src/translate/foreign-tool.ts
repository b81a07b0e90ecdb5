import type { Tool } from './conversation.ts'

/** Anthropic's own tools that the client runs: only Claude knows their definitions. */
const ofClient = /^(?:bash|text_editor|memory|computer)_/

/** OpenAI's tool that makes images, as Gemini's models for images do unasked. */
export const imageTool = 'image_generation'

/** Why a tool that only one vendor has is refused at another. */
export function foreignTool({ type, name }: Tool): string {
  const tool = type ?? name
  return ofClient.test(tool)
    ? `the tool ${tool} is known to Claude only; declare one with a schema of its own`
    : `the tool ${tool} is hosted by another provider`
}
