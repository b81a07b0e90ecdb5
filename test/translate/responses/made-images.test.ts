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

describe("OpenAI's tool for images", () => {
  const draw = (tool: JsonObject, model = 'gemini-3-pro-image', more: JsonObject = {}) =>
    request('responses', 'generate', { ...ask, tools: [{ type: 'image_generation', ...tool }], ...more }, { model })

  it("asks Gemini's models for images for one, in its shape", () => {
    const { sent, losses } = draw({ size: '1536x1024', quality: 'auto', output_format: 'png', partial_images: 0 })
    expect(sent).toMatchObject({
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    })
    expect(sent).not.toHaveProperty('tools')
    expect(losses).toEqual([])
  })

  it('and for nothing else, if the client forces it; what has no place there is listed', () => {
    const { sent, losses } = draw(
      { size: '1920x1088', quality: 'high', background: 'transparent' },
      'gemini-2.5-flash-image',
      { tool_choice: { type: 'image_generation' } },
    )
    expect(sent?.generationConfig).toEqual({ responseModalities: ['IMAGE'] })
    expect(losses).toEqual(['tools[0].size', 'tools[0].quality', 'tools[0].background'])
  })

  it('is refused where no image would come, with the reason', () => {
    expect(draw({}, 'gemini-3-pro').refused?.message).toContain('gemini-3-pro makes no images')
    expect(draw({ input_image_mask: { image_url: 'data:x' } }).refused?.message).toContain('input_image_mask')
    for (const [to, model] of [
      ['chat', 'gpt-4o'],
      ['messages', 'claude-opus-4-8'],
    ] as const) {
      const tools = [{ type: 'image_generation' }]
      const forced = request('responses', to, { ...ask, tools, tool_choice: tools[0] }, { model })
      expect(forced.refused?.message).toContain('image generation')
    }
  })

  it('is repeated in the answer as the client wrote it', () => {
    const tool = { type: 'image_generation', size: '1024x1024' }
    const answer = { candidates: [{ content: { parts }, finishReason: 'STOP' }] }
    const whole = translateReply('responses', 'generate', JSON.stringify(answer), asked({ tools: [tool] }))
    expect(JSON.parse(String(whole)).tools).toEqual([tool])
  })
})
