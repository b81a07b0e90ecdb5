import { asString, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import { type LaneName, laneNames } from '../../core/lane.ts'
import { ownValue } from '../../core/own-value.ts'
import type { OutboundRequest, Transport } from '../contract.ts'
import type { DemoAnswer } from './answer.ts'
import { answerMessages, answerTokenCount } from './anthropic-messages.ts'
import { behaviourOf } from './behaviour.ts'
import { answerBatchEmbed, answerCount, answerEmbed, answerGenerate, answerStreamGenerate } from './gemini-generate.ts'
import { answerChat, answerCompletion, answerInputTokens } from './openai-chat.ts'
import { answerResponse } from './openai-responses.ts'
import { answerEmbeddings, answerModeration } from './openai-scores.ts'
import { Player } from './player.ts'
import { refuse } from './refusal.ts'

/** Answers calls to `demo:<lane>` in the process, in that lane's format. */
export function createDemoTransport(): Transport {
  return {
    send(request, sink) {
      // No endpoint of its own takes what comes as a stream.
      if (request.body !== null && !Buffer.isBuffer(request.body)) request.body.destroy()
      const { answer, model } = answerCall(request)
      return new Player(answer, behaviourOf(model), sink)
    },
  }
}

type Answering = (body: JsonObject, model: string, long: boolean, query: string) => DemoAnswer

const openai: Readonly<Record<string, Answering>> = {
  '/chat/completions': answerChat,
  '/completions': answerCompletion,
  '/responses': answerResponse,
  '/responses/input_tokens': answerInputTokens,
  '/embeddings': answerEmbeddings,
  '/moderations': answerModeration,
}
const anthropic: Readonly<Record<string, Answering>> = {
  '/v1/messages': answerMessages,
  '/v1/messages/count_tokens': answerTokenCount,
}
/** By the verb behind the model's name. */
const gemini: Readonly<Record<string, Answering>> = {
  generateContent: answerGenerate,
  streamGenerateContent: (body, model, long, query) =>
    answerStreamGenerate(body, model, long, new URLSearchParams(query).get('alt') === 'sse'),
  countTokens: answerCount,
  embedContent: answerEmbed,
  batchEmbedContents: answerBatchEmbed,
}
const geminiPath = /^\/v[0-9a-z]+\/(?:models|tunedModels)\/([^:]+):([A-Za-z]+)$/

interface DemoCall {
  answering: Answering | null
  pathModel: string | null
}

function findAnswering(lane: LaneName, path: string): DemoCall {
  if (lane !== 'gemini') {
    const table = lane === 'openai' ? openai : anthropic
    return { answering: ownValue(table, path) ?? null, pathModel: null }
  }
  const match = geminiPath.exec(decode(path))
  const verb = match?.[2] ?? ''
  return { answering: ownValue(gemini, verb) ?? null, pathModel: match?.[1] ?? null }
}

function answerCall(request: OutboundRequest): { answer: DemoAnswer; model: string } {
  const lane = readLane(request.origin)
  const mark = request.path.indexOf('?')
  const path = mark === -1 ? request.path : request.path.slice(0, mark)
  const { answering, pathModel } = findAnswering(lane, path)
  if (request.method !== 'POST' || !answering) {
    const message =
      `The demo provider has no ${request.method} ${path}. Add a provider of your own (spgw providers add) and ask with a ` +
      'key of your own (spgw keys create): the key of serve --demo reaches the demo provider alone.'
    return { answer: refuse(lane, 404, message), model: '' }
  }
  const body = Buffer.isBuffer(request.body) ? parseObject(request.body) : null
  if (!body) return { answer: refuse(lane, 400, 'The body is not a JSON object.'), model: '' }
  const model = pathModel ?? (asString(body.model) || 'demo')
  const behaviour = behaviourOf(model)
  const answer = behaviour.refuses
    ? refuse(lane, 429, 'The model demo-error-429 always refuses; ask for demo instead.')
    : answering(body, model, behaviour.long, mark === -1 ? '' : request.path.slice(mark + 1))
  return { answer, model }
}

function readLane(origin: string): LaneName {
  const lane = origin.slice(origin.indexOf(':') + 1)
  return laneNames.find((name) => name === lane) ?? 'openai'
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
