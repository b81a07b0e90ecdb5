import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
})
afterAll(() => stage.close())

it('keeps reasoning that it sealed for another provider from the one that the client asks next', async () => {
  const client = new Anthropic({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1/anthropic`, maxRetries: 0 })
  const tools = [{ name: 'look', input_schema: { type: 'object' as const } }]
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'look' }]
  const ask = (model: string) => client.messages.create({ model, max_tokens: 100, tools, messages })
  const { content } = await ask(stageModels.gemini)
  expect(JSON.stringify(content)).toContain('"sp1.')
  const call = content.find((block) => block.type === 'tool_use')
  messages.push({ role: 'assistant', content })
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'blue' }] })

  await ask(stageModels.anthropic)
  const sent = JSON.parse(stage.mocks.anthropic.last.body.toString())
  expect(sent.messages[1].content).toEqual([expect.objectContaining({ type: 'tool_use', id: call?.id })])
  const newest = async () => {
    const [first] = await stage.gateway.admin.requests.list({ limit: 1 })
    return await stage.gateway.record(first?.id ?? '')
  }
  const record = await newest()
  expect(record.reasoning).toBe('stripped')
  expect(record.routing_signals.map(({ text }) => text).join('\n')).toContain(
    'Reasoning of other providers was left out',
  )
  stage.assertClean()

  // Its own provider gets it back.
  await ask(stageModels.gemini)
  expect(stage.mocks.gemini.last.body.toString()).toContain('c2lnbmF0dXJl')
  expect((await newest()).reasoning).toBe('carried')
})
