import type { ServerResponse } from 'node:http'

export const chatUsage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }

/** A whole answer of OpenAI's chat format. */
export function answerChat(response: ServerResponse): void {
  const choices = [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ choices, usage: chatUsage }))
}

/** An error for which a route may retry or fall back. */
export function failChat(response: ServerResponse): void {
  response.writeHead(500, { 'content-type': 'application/json' })
  response.end('{"error":{"message":"no"}}')
}
