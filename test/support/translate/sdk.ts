import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { parseJson } from '../../../src/core/json/json-value.ts'

/** What a client's SDK makes of a stream. */
export interface SdkAnswer {
  text: string
  reasoning: string
  /** Name and input, in order. */
  calls: readonly (readonly [name: string, input: unknown])[]
  stop: string | null
  /** What the helper threw. */
  error: string | null
}

/** The text itself where the call was cut in two. */
export function readInput(json: string): unknown {
  return parseJson(Buffer.from(json)) ?? json
}

const nothing: SdkAnswer = { text: '', reasoning: '', calls: [], stop: null, error: null }

const answerWith = (stream: string) => async () =>
  new Response(stream, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })

/** By `MessageStream`, the helper of Anthropic's SDK. */
export async function readMessagesWithSdk(stream: string): Promise<SdkAnswer> {
  const client = new Anthropic({ apiKey: 'k', maxRetries: 0, fetch: answerWith(stream) })
  try {
    const message = await client.messages
      .stream({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'x' }] })
      .finalMessage()
    let [text, reasoning] = ['', '']
    const calls: [string, unknown][] = []
    for (const block of message.content) {
      if (block.type === 'text') text += block.text
      else if (block.type === 'thinking') reasoning += block.thinking
      else if (block.type === 'tool_use') calls.push([block.name, block.input])
    }
    return { text, reasoning, calls, stop: message.stop_reason, error: null }
  } catch (error) {
    return { ...nothing, error: String(error) }
  }
}

/** By `ChatCompletionStream`, the helper of OpenAI's SDK. */
export async function readChatWithSdk(stream: string): Promise<SdkAnswer> {
  const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: answerWith(stream) })
  try {
    const completion = await client.chat.completions
      .stream({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
      .finalChatCompletion()
    const choice = completion.choices[0]
    const message = choice?.message
    const calls = (message?.tool_calls ?? []).map((call): [string, unknown] =>
      call.type === 'function'
        ? [call.function.name, readInput(call.function.arguments)]
        : [call.custom.name, call.custom.input],
    )
    const reasoning = message !== undefined && 'reasoning_content' in message ? String(message.reasoning_content) : ''
    return { text: message?.content ?? '', reasoning, calls, stop: choice?.finish_reason ?? null, error: null }
  } catch (error) {
    return { ...nothing, error: String(error) }
  }
}
