import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withModel } from '../../src/admin/handlers/requests/replay-request.ts'

const path = '/v1/chat/completions'

describe('a request that is sent again with another model', () => {
  it('keeps every other byte, numbers beyond what JavaScript holds included', () => {
    const body = '{ "seed": 12345678901234567890, "model" : "gpt",\n"top_p":1.0, "metadata":{"model":"mine"} }'
    expect(withModel({ path, body }, 'other "one"').body).toBe(
      '{ "seed": 12345678901234567890, "model" : "other \\"one\\"",\n"top_p":1.0, "metadata":{"model":"mine"} }',
    )
    expect(withModel({ path, body }, undefined)).toEqual({ path, body })
  })

  it('is read as before, but for the model', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (members, model) => {
        const body = JSON.stringify({ ...members, model: 'gpt' })
        const again: unknown = JSON.parse(withModel({ path, body }, model).body)
        expect(again).toEqual({ ...(JSON.parse(body) as object), model })
      }),
    )
  })

  it('has it in the path on the Gemini lane', () => {
    const call = { path: '/v1/gemini/v1beta/models/gemini-2.5:streamGenerateContent?alt=sse', body: '{"contents":[]}' }
    expect(withModel(call, 'a/b')).toEqual({
      path: '/v1/gemini/v1beta/models/a%2Fb:streamGenerateContent?alt=sse',
      body: call.body,
    })
  })

  it.each(['{"input":1}', '[1]', 'null', '{"model":', 'name=value', ''])('is refused where %s names none', (body) => {
    expect(() => withModel({ path, body }, 'other')).toThrow('The request names no model, so it cannot be replaced.')
  })
})
