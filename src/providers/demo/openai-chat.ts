import { asObject, asPositiveCount, type JsonObject } from '../../core/json/json-value.ts'
import { answerJson, answerStream, type DemoAnswer, dataEvent, demoId, seconds } from './answer.ts'
import { composeReply, countTokens, type DemoReply, readMessages, readText } from './reply.ts'

/** `POST /chat/completions`. Source: wire/streaming.md section 1. */
export function answerChat(body: JsonObject, model: string, long: boolean): DemoAnswer {
  const { question, prompt } = readMessages(body.messages, 'content')
  const limit = asPositiveCount(body.max_completion_tokens) ?? asPositiveCount(body.max_tokens)
  const reply = composeReply(question, prompt, long, limit)
  const head = {
    id: demoId('chatcmpl-'),
    created: seconds(),
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_demo',
  }
  const reason = reply.shortened ? 'length' : 'stop'
  const headers = ['x-request-id', demoId('req_')]
  if (body.stream === true) return answerStream(streamChat(head, reply, reason, asksForUsage(body)), headers)
  const message = { role: 'assistant', content: reply.text, refusal: null, annotations: [] }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: reason }]
  return answerJson(200, { ...head, object: 'chat.completion', choices, usage: usageOf(reply) }, headers)
}

function streamChat(head: object, reply: DemoReply, reason: string, withUsage: boolean): string[] {
  const unused = withUsage ? { usage: null } : {}
  const chunk = (delta: object, finish: string | null) =>
    dataEvent({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...unused,
    })
  const chunks = [chunk({ role: 'assistant', content: '', refusal: null }, null)]
  for (const piece of reply.pieces) chunks.push(chunk({ content: piece }, null))
  chunks.push(chunk({}, reason))
  if (withUsage)
    chunks.push(dataEvent({ ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(reply) }))
  chunks.push('data: [DONE]\n\n')
  return chunks
}

/** `POST /completions` (legacy). */
export function answerCompletion(body: JsonObject, model: string, long: boolean): DemoAnswer {
  const prompt = readText(body.prompt)
  const reply = composeReply(prompt, prompt, long, asPositiveCount(body.max_tokens))
  const head = { id: demoId('cmpl-'), object: 'text_completion', created: seconds(), model }
  const choice = (text: string, reason: string | null) => [{ text, index: 0, logprobs: null, finish_reason: reason }]
  const reason = reply.shortened ? 'length' : 'stop'
  if (body.stream !== true)
    return answerJson(200, { ...head, choices: choice(reply.text, reason), usage: usageOf(reply) })
  const withUsage = asksForUsage(body)
  const unused = withUsage ? { usage: null } : {}
  const chunks = reply.pieces.map((piece) => dataEvent({ ...head, choices: choice(piece, null), ...unused }))
  chunks.push(dataEvent({ ...head, choices: choice('', reason), ...unused }))
  if (withUsage) chunks.push(dataEvent({ ...head, choices: [], usage: usageOf(reply) }))
  return answerStream([...chunks, 'data: [DONE]\n\n'])
}

function asksForUsage(body: JsonObject): boolean {
  return asObject(body.stream_options)?.include_usage === true
}

function usageOf(reply: DemoReply): object {
  return {
    prompt_tokens: reply.inputTokens,
    completion_tokens: reply.outputTokens,
    total_tokens: reply.inputTokens + reply.outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

/** `POST /responses/input_tokens`. */
export function answerInputTokens(body: JsonObject): DemoAnswer {
  const text = typeof body.input === 'string' ? body.input : readMessages(body.input, 'content').prompt
  return answerJson(200, {
    object: 'response.input_tokens',
    input_tokens: countTokens(text + readText(body.instructions)),
  })
}
