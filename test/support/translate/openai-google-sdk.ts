import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { readInput, type SdkAnswer } from './sdk.ts'

const nothing: SdkAnswer = { text: '', reasoning: '', calls: [], stop: null, error: null }

const answerWith = (stream: string) => async () =>
  new Response(stream, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })

/** By `ResponseStream`, the helper of OpenAI's SDK. It does not throw for an answer that failed: its status says so. */
export async function readResponsesWithSdk(stream: string): Promise<SdkAnswer> {
  const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: answerWith(stream) })
  try {
    const response = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse()
    const calls: [string, unknown][] = []
    let reasoning = ''
    for (const item of response.output) {
      if (item.type === 'function_call') calls.push([item.name, readInput(item.arguments)])
      else if (item.type === 'custom_tool_call') calls.push([item.name, item.input])
      else if (item.type === 'reasoning') reasoning += item.summary.map(({ text }) => text).join('')
    }
    const error = response.status === 'failed' ? String(response.error?.message) : null
    return { text: response.output_text, reasoning, calls, stop: response.status ?? null, error }
  } catch (error) {
    return { ...nothing, error: String(error) }
  }
}

/** By `generateContentStream` of Google's SDK, which asks for it with the fetch of the process. */
export async function readGenerateWithSdk(stream: string): Promise<SdkAnswer> {
  const fetched = globalThis.fetch
  globalThis.fetch = answerWith(stream)
  try {
    const client = new GoogleGenAI({ apiKey: 'k' })
    const chunks = await client.models.generateContentStream({ model: 'm', contents: 'x' })
    let [text, reasoning, stop] = ['', '', null as string | null]
    const calls: [string, unknown][] = []
    for await (const chunk of chunks) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.functionCall) calls.push([part.functionCall.name ?? '', part.functionCall.args])
        else if (part.thought) reasoning += part.text
        else text += part.text ?? ''
      }
      stop = chunk.candidates?.[0]?.finishReason ?? stop
    }
    return { text, reasoning, calls, stop, error: stop === null ? 'no end' : null }
  } catch (error) {
    return { ...nothing, error: String(error) }
  } finally {
    globalThis.fetch = fetched
  }
}
