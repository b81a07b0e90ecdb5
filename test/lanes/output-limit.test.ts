import fc, { constantFrom, dictionary, oneof, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Lane, Match } from '../../src/lanes/contract.ts'
import { findLane } from '../../src/lanes/index.ts'

const chat = 'POST /v1/chat/completions'
const completions = 'POST /v1/completions'
const responses = 'POST /v1/responses'
const messages = 'POST /v1/anthropic/v1/messages'
const complete = 'POST /v1/anthropic/v1/complete'
const generate = 'POST /v1/gemini/v1beta/models/g:generateContent'
const interactions = 'POST /v1/gemini/v1beta/interactions'

function find(call: string): { lane: Lane; match: Match } {
  const [method = '', path = ''] = call.split(' ')
  const lane = findLane(path)
  const match = lane?.match(method, path.slice(lane.prefix.length)) ?? null
  if (lane === null || match === null) throw new Error(`${call} is no endpoint`)
  return { lane, match }
}

function inspect(call: string, text: string) {
  const { lane, match } = find(call)
  const body = Buffer.from(text)
  const inspection = match.endpoint.inspect(match, '', body)
  if ('code' in inspection) throw new Error(inspection.message)
  return { lane, match, body, inspection }
}

function cap(call: string, text: string, most: number, written?: string): string {
  const { lane, match, body, inspection } = inspect(call, text)
  const limits = match.endpoint.outputLimits
  if (limits === undefined) throw new Error(`${call} has no limit`)
  const change = { limits, most, written: written ?? limits.names[0] ?? '' }
  return lane.patchBody(body, inspection, { renameTo: null, askForUsage: false, cap: change }).toString()
}

describe('a capped request', () => {
  const cases: [call: string, before: string, after: string][] = [
    [chat, '{"model":"m"}', '{"max_completion_tokens":50,"model":"m"}'],
    [chat, '{"model":"m","max_tokens": 900 ,"x":1}', '{"model":"m","max_tokens": 50 ,"x":1}'],
    [
      chat,
      '{"model":"m","max_tokens":10,"max_completion_tokens":900}',
      '{"model":"m","max_tokens":10,"max_completion_tokens":50}',
    ],
    [chat, '{"model":"m","max_tokens":"900"}', '{"model":"m","max_tokens":50}'],
    [chat, '{"model":"m","max_tokens":null}', '{"model":"m","max_tokens":50}'],
    [chat, '{"model":"m","max_tokens":900,"max_tokens":901}', '{"model":"m","max_tokens":50,"max_tokens":50}'],
    [chat, '{"model":"m","n":4,"max_tokens":900}', '{"model":"m","n":4,"max_tokens":12}'],
    [
      completions,
      '{"model":"m","n":2,"best_of":5,"max_tokens":900}',
      '{"model":"m","n":2,"best_of":5,"max_tokens":10}',
    ],
    [
      completions,
      '{"model":"m","prompt":["a",[1,2]],"max_tokens":900}',
      '{"model":"m","prompt":["a",[1,2]],"max_tokens":25}',
    ],
    [completions, '{"model":"m","prompt":[1,2,3],"max_tokens":900}', '{"model":"m","prompt":[1,2,3],"max_tokens":50}'],
    [responses, '{"model":"m","max_tokens":1}', '{"max_output_tokens":50,"model":"m","max_tokens":1}'],
    [messages, '{"model":"m","max_tokens":900}', '{"model":"m","max_tokens":50}'],
    [complete, '{"model":"m","max_tokens_to_sample":900}', '{"model":"m","max_tokens_to_sample":50}'],
    [generate, '{}', '{"generationConfig":{"maxOutputTokens":50}}'],
    [generate, '{"contents":[]}', '{"generationConfig":{"maxOutputTokens":50},"contents":[]}'],
    [generate, '{"generationConfig":{}}', '{"generationConfig":{"maxOutputTokens":50}}'],
    [generate, '{"generationConfig":null}', '{"generationConfig":{"maxOutputTokens":50}}'],
    [
      generate,
      '{"generation_config":{"temperature":0}}',
      '{"generation_config":{"maxOutputTokens":50,"temperature":0}}',
    ],
    [
      generate,
      '{"generation_config":{"max_output_tokens":900,"candidate_count":2}}',
      '{"generation_config":{"max_output_tokens":25,"candidate_count":2}}',
    ],
    [interactions, '{"model":"m"}', '{"generation_config":{"max_output_tokens":50},"model":"m"}'],
  ]
  for (const [call, before, after] of cases) {
    it(`${call} ${before}`, () => {
      expect(cap(call, before, 50)).toBe(after)
      expect(inspect(call, after).inspection.outputLimit).toBeLessThanOrEqual(50)
    })
  }

  it('has the member that the provider knows, and is asked for usage besides', () => {
    expect(cap(chat, '{"model":"m"}', 50, 'max_tokens')).toBe('{"max_tokens":50,"model":"m"}')
    const { lane, match, body, inspection } = inspect(chat, '{"model":"m","stream":true}')
    const limits = match.endpoint.outputLimits ?? { names: [], choices: [], within: null }
    const change = { renameTo: 'other', askForUsage: true, cap: { limits, most: 50, written: 'max_tokens' } }
    expect(JSON.parse(lane.patchBody(body, inspection, change).toString())).toEqual({
      model: 'other',
      stream: true,
      max_tokens: 50,
      stream_options: { include_usage: true },
    })
  })

  it('allows no more than the cap, whatever it said before', () => {
    const value = oneof(fc.integer({ min: 1, max: 9000 }), constantFrom<unknown>(null, '5', 7.5, -1, [], {}))
    const body = dictionary(constantFrom('max_tokens', 'max_completion_tokens', 'temperature'), value)
    const rule = property(body, constantFrom(1, 50, 4096), (members, most) => {
      const after = cap(chat, JSON.stringify({ model: 'm', ...members }), most)
      expect(inspect(chat, after).inspection.outputLimit).toBeLessThanOrEqual(most)
    })
    fc.assert(rule)
  })
})
