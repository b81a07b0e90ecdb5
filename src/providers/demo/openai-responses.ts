import { asPositiveCount, type JsonObject } from '../../core/json/json-value.ts'
import { answerJson, answerStream, type DemoAnswer, demoId, namedEvent, seconds } from './answer.ts'
import { composeReply, type DemoReply, readMessages, readText } from './reply.ts'

/** `POST /responses`. Source: wire/streaming.md section 2. */
export function answerResponse(body: JsonObject, model: string, long: boolean): DemoAnswer {
  const { question, prompt } =
    typeof body.input === 'string' ? { question: body.input, prompt: body.input } : readMessages(body.input, 'content')
  const reply = composeReply(
    question,
    prompt + readText(body.instructions),
    long,
    asPositiveCount(body.max_output_tokens),
  )
  const response = describeResponse(body, model)
  const headers = ['x-request-id', demoId('req_')]
  const itemId = demoId('msg_')
  if (body.stream === true) return answerStream(streamResponse(response, itemId, reply), headers)
  return answerJson(200, { ...response, ...outcome(itemId, reply) }, headers)
}

function describeResponse(body: JsonObject, model: string): object {
  return {
    id: demoId('resp_'),
    object: 'response',
    created_at: seconds(),
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
  }
}

function outcome(itemId: string, reply: DemoReply): object {
  return {
    status: reply.shortened ? 'incomplete' : 'completed',
    incomplete_details: reply.shortened ? { reason: 'max_output_tokens' } : null,
    output: [messageItem(itemId, reply)],
    usage: {
      input_tokens: reply.inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: reply.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: reply.inputTokens + reply.outputTokens,
    },
  }
}

function messageItem(id: string, reply: DemoReply): object {
  const status = reply.shortened ? 'incomplete' : 'completed'
  return { id, type: 'message', status, role: 'assistant', content: [textPart(reply.text)] }
}

function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function streamResponse(response: object, itemId: string, reply: DemoReply): string[] {
  let sequence = 0
  const event = (type: string, value: object) =>
    namedEvent(`response.${type}`, { sequence_number: sequence++, ...value })
  const place = { item_id: itemId, output_index: 0, content_index: 0 }
  const shell = { id: itemId, type: 'message', status: 'in_progress', role: 'assistant', content: [] }
  const chunks = [
    event('created', { response }),
    event('in_progress', { response }),
    event('output_item.added', { output_index: 0, item: shell }),
    event('content_part.added', { ...place, part: textPart('') }),
  ]
  for (const piece of reply.pieces) chunks.push(event('output_text.delta', { ...place, delta: piece, logprobs: [] }))
  chunks.push(
    event('output_text.done', { ...place, text: reply.text, logprobs: [] }),
    event('content_part.done', { ...place, part: textPart(reply.text) }),
    event('output_item.done', { output_index: 0, item: messageItem(itemId, reply) }),
    event(reply.shortened ? 'incomplete' : 'completed', { response: { ...response, ...outcome(itemId, reply) } }),
  )
  return chunks
}
