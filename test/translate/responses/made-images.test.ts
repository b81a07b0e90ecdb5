import { describe, expect, it } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { request } from '../../support/translate/asked.ts'
import { chunk } from '../../support/translate/generate-parts.ts'
import { checkStream } from '../../support/translate/grammar.ts'
import { ask, outputOf, user } from '../../support/translate/responses-client.ts'
import { translateEvents, translateReply, translateRequest, writeContext } from '../../support/translate/stage.ts'

const png = `iVBORw0KGgo${'A'.repeat(100_000)}=`
const parts = [
  { text: 'Here.' },
  { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' }, thought: true },
  { inlineData: { mimeType: 'image/png', data: png }, thoughtSignature: 'c2ln' },
]
const image = { type: 'image_generation_call', status: 'completed', result: png, output_format: 'png' }

const asked = (body: JsonObject) =>
  writeContext({
    conversation: translateRequest('responses', 'generate', JSON.stringify({ ...ask, ...body })).conversation,
  })
const carried = asked({ include: ['reasoning.encrypted_content'] })

describe('an image that Gemini makes', () => {
  it('is an item of its own, streamed', () => {
    const events = [...parts.map((part) => chunk([part])), chunk([{ text: '' }], { finishReason: 'STOP' })]
    const written = translateEvents('responses', 'generate', events, asked({})).join('')
    expect(checkStream('responses', written)).toEqual([])
    expect(outputOf(written)).toMatchObject([{ type: 'message' }, image])
    expect(outputOf(written)).toHaveLength(2)
  })

  it('is one of a whole answer, whose text is never decoded', () => {
    const answer = { candidates: [{ content: { parts }, finishReason: 'STOP' }] }
    const whole = JSON.parse(String(translateReply('responses', 'generate', JSON.stringify(answer), asked({}))))
    expect(whole.output).toMatchObject([{ type: 'message' }, image])
  })

  it('goes back to Gemini with its signature, in its own turn', () => {
    const answer = { candidates: [{ content: { parts }, finishReason: 'STOP' }] }
    const whole = JSON.parse(String(translateReply('responses', 'generate', JSON.stringify(answer), carried)))
    const input = [user, ...whole.output, { role: 'user', content: 'Make it blue.' }]
    const { sent, losses } = request('responses', 'generate', { ...ask, input }, { model: 'gemini-3-pro-image' })
    expect(asObject(asArray(sent?.contents)[1])).toMatchObject({
      role: 'model',
      parts: [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: png }, thoughtSignature: 'c2ln' }],
    })
    expect(losses).toEqual([])
  })

  it('has a stand-in for a signature at Gemini 3, and is listed where no turn holds it', () => {
    const input = [user, { ...image, id: 'ig_1' }, { role: 'user', content: 'Make it blue.' }]
    const { sent } = request('responses', 'generate', { ...ask, input }, { model: 'gemini-3-pro-image' })
    expect(JSON.stringify(sent)).toContain('skip_thought_signature_validator')
    for (const [to, model] of [
      ['chat', 'gpt-4o'],
      ['messages', 'claude-opus-4-8'],
    ] as const) {
      const other = request('responses', to, { ...ask, input }, { model })
      expect(other.losses).toEqual(['input[1]'])
      expect(JSON.stringify(other.sent)).not.toContain('iVBORw')
    }
  })
})
