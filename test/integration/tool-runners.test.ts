import Anthropic from '@anthropic-ai/sdk'
import { type FunctionCall, GoogleGenAI } from '@google/genai'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

// The SDKs' own loops of tools, at providers of other formats: the mocks call the tool each time that it is offered.

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
  await stage.gateway.addRoute('answers', [`openai:${stageModels.openai},format=responses`])
})
afterAll(() => stage.close())
afterEach(() => {
  stage.assertClean()
})

const input = { at: 'the sky' }
const schema = { type: 'object' as const, properties: { at: { type: 'string' } } }

describe.each([stageModels.openai, 'answers', stageModels.gemini])('toolRunner of Anthropic with %s', (model) => {
  it.each([false, true])('streamed: %s', async (stream) => {
    const client = new Anthropic({ apiKey: stage.key, baseURL: `${stage.gateway.baseUrl}/v1/anthropic`, maxRetries: 0 })
    const looked: unknown[] = []
    const look = {
      name: 'look',
      input_schema: schema,
      parse: (given: unknown) => given,
      run: (given: unknown) => {
        looked.push(given)
        return 'blue'
      },
    }
    const messages = [{ role: 'user' as const, content: 'what do you see' }]
    const body = { model, max_tokens: 99, messages, tools: [look], max_iterations: 2, stream }
    const runner = client.beta.messages.toolRunner(body as Parameters<typeof client.beta.messages.toolRunner>[0])
    const last = await runner.runUntilDone()
    expect(looked[0]).toEqual(input)
    expect(last.stop_reason).toBe('tool_use')
    const mock = model === stageModels.gemini ? stage.mocks.gemini : stage.mocks.openai
    expect(mock.last.body.toString()).toContain('blue')
    // The runner goes on from what its vendor has stored; it must send the whole conversation instead.
    expect(mock.last.body.toString()).toContain('what do you see')
  })
})

describe.each([stageModels.openai, 'answers', stageModels.anthropic])('automatic calls of Google with %s', (model) => {
  it('call the tool, and go on with what it said', async () => {
    const { models } = new GoogleGenAI({
      apiKey: stage.key,
      httpOptions: { baseUrl: `${stage.gateway.baseUrl}/v1/gemini`, retryOptions: { attempts: 1 } },
    })
    const looked: unknown[] = []
    const look = {
      tool: async () => ({ functionDeclarations: [{ name: 'look', parametersJsonSchema: schema }] }),
      callTool: async (calls: FunctionCall[]) => {
        looked.push(...calls.map(({ args }) => args))
        return calls.map(({ id, name = '' }) => ({
          functionResponse: { ...(id !== undefined && { id }), name, response: { output: 'blue' } },
        }))
      },
    }
    const answer = await models.generateContent({
      model,
      contents: 'look',
      config: { tools: [look], automaticFunctionCalling: { maximumRemoteCalls: 2 } },
    })
    expect(looked[0]).toEqual(input)
    expect(answer.automaticFunctionCallingHistory?.length).toBeGreaterThan(1)
    const mock = model === stageModels.anthropic ? stage.mocks.anthropic : stage.mocks.openai
    expect(mock.last.body.toString()).toContain('blue')
  })
})

describe.each([stageModels.openai, 'answers', stageModels.anthropic, stageModels.gemini])(
  'a chat of Google with %s',
  (model) => {
    it('remembers what was said and called, streamed', async () => {
      const { chats } = new GoogleGenAI({
        apiKey: stage.key,
        httpOptions: { baseUrl: `${stage.gateway.baseUrl}/v1/gemini`, retryOptions: { attempts: 1 } },
      })
      const tools = [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: schema }] }]
      const chat = chats.create({ model, config: { tools } })
      const say = async (message: Parameters<typeof chat.sendMessageStream>[0]['message']) => {
        const calls: FunctionCall[] = []
        for await (const chunk of await chat.sendMessageStream({ message })) calls.push(...(chunk.functionCalls ?? []))
        return calls
      }
      const [call] = await say('the first question')
      expect(call?.name).toBe('look')
      const result = { name: 'look', response: { output: 'blue' }, ...(call?.id !== undefined && { id: call.id }) }
      await say([{ functionResponse: result }])
      const mock = Object.values(stage.mocks).find(({ calls }) => calls.at(-1)?.body.includes('blue') === true)
      expect(mock?.last.body.toString()).toContain('the first question')
    })
  },
)
