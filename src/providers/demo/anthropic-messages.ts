import { asPositiveCount, type JsonObject } from '../../core/json/json-value.ts'
import { answerJson, answerStream, type DemoAnswer, demoId, namedEvent } from './answer.ts'
import { composeReply, countTokens, type DemoReply, readMessages, readText } from './reply.ts'

/** `POST /v1/messages`. Source: wire/streaming.md section 3. */
export function answerMessages(body: JsonObject, model: string, long: boolean): DemoAnswer {
  const { question, prompt } = readMessages(body.messages, 'content')
  const reply = composeReply(question, prompt + readText(body.system), long, asPositiveCount(body.max_tokens))
  const shell = { id: demoId('msg_'), type: 'message', role: 'assistant', model }
  const headers = ['request-id', demoId('req_')]
  if (body.stream === true) return answerStream(streamMessage(shell, reply), headers)
  const content = [{ type: 'text', text: reply.text, citations: null }]
  return answerJson(200, { ...shell, content, ...ending(reply), usage: usageOf(reply, reply.outputTokens) }, headers)
}

/** `POST /v1/messages/count_tokens`. */
export function answerTokenCount(body: JsonObject): DemoAnswer {
  const { prompt } = readMessages(body.messages, 'content')
  return answerJson(200, { input_tokens: countTokens(prompt + readText(body.system)) }, ['request-id', demoId('req_')])
}

function streamMessage(shell: object, reply: DemoReply): string[] {
  const start = { ...shell, content: [], stop_reason: null, stop_sequence: null, usage: usageOf(reply, 1) }
  const chunks = [
    namedEvent('message_start', { message: start }),
    namedEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '', citations: null } }),
    namedEvent('ping', {}),
  ]
  for (const text of reply.pieces) {
    chunks.push(namedEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }))
  }
  chunks.push(
    namedEvent('content_block_stop', { index: 0 }),
    namedEvent('message_delta', { delta: ending(reply), usage: { output_tokens: reply.outputTokens } }),
    namedEvent('message_stop', {}),
  )
  return chunks
}

function ending(reply: DemoReply): object {
  return { stop_reason: reply.shortened ? 'max_tokens' : 'end_turn', stop_sequence: null }
}

function usageOf(reply: DemoReply, outputTokens: number): object {
  return {
    input_tokens: reply.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: outputTokens,
    service_tier: 'standard',
  }
}
