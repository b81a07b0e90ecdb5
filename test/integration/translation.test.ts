import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FormatName, formatNames, laneOfFormat } from '../../src/core/format.ts'
import { type FormatClient, formatClients } from '../support/format-clients.ts'
import { spokenText } from '../support/mock-format.ts'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
let clients: Record<FormatName, FormatClient>

/** Routes by the format in which their provider is asked. */
const upstreams: Record<FormatName, string> = {
  chat: `openai:${stageModels.openai},format=chat`,
  responses: `openai:${stageModels.openai},format=responses`,
  messages: `anthropic:${stageModels.anthropic}`,
  generate: `gemini:${stageModels.gemini}`,
}

beforeAll(async () => {
  stage = await setStage()
  for (const format of formatNames) await stage.gateway.addRoute(`via-${format}`, [upstreams[format]])
  clients = formatClients({ baseUrl: stage.gateway.baseUrl, key: stage.key })
})
afterAll(() => stage.close())

const ended: Record<FormatName, { text: string; call: string }> = {
  chat: { text: 'stop', call: 'tool_calls' },
  responses: { text: 'completed', call: 'completed' },
  messages: { text: 'end_turn', call: 'tool_use' },
  generate: { text: 'STOP', call: 'STOP' },
}

const paths: Record<FormatName, RegExp> = {
  chat: /^\/v1\/chat\/completions$/,
  responses: /^\/v1\/responses$/,
  messages: /^\/v1\/messages$/,
  generate: /^\/v1beta\/models\/.+:(?:generateContent|streamGenerateContent)$/,
}

async function newest() {
  const [last] = await stage.gateway.admin.requests.list({ limit: 1 })
  return stage.gateway.record(last?.id ?? '')
}

const pairs = formatNames.flatMap((client) =>
  formatNames.filter((upstream) => upstream !== client).map((upstream) => ({ client, upstream })),
)

describe.each(pairs)('a client of $client at a provider of $upstream', ({ client, upstream }) => {
  const mock = () => stage.mocks[laneOfFormat(upstream)]
  const used = () => ({ input: mock().usage.input, output: mock().usage.output })
  const model = `via-${upstream}`

  for (const way of ['ask', 'stream'] as const) {
    it(`${way}: text and usage`, async () => {
      const understood = await clients[client][way](model)
      expect(understood).toEqual({ text: spokenText, calls: [], finish: ended[client].text, usage: used() })
      expect(mock().last.path).toMatch(paths[upstream])
      stage.assertClean()
      const record = await newest()
      expect(record).toMatchObject({ status: 200, error: null, tokens: mock().last.usage })
      expect(record.routing_signals.map(({ text }) => text).join('\n')).toContain(`translated ${client} → ${upstream}`)
    })

    it(`${way}: a tool is called`, async () => {
      const understood = await clients[client][way](model, true)
      expect(understood.calls).toEqual([{ name: 'look', input: { at: 'the sky' } }])
      expect(understood.finish).toBe(ended[client].call)
      stage.assertClean()
    })
  }
})

it('ends at a body with more values than one turn can read', async () => {
  const body = { model: 'via-messages', messages: [{ role: 'user', content: 'hi' }], x: Array(300_000).fill(1) }
  const answer = await fetch(`${stage.gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([answer.status, answer.headers.get('x-sp-error')]).toEqual([413, 'request_too_large'])
})
