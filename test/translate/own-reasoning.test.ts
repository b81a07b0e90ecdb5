import { expect, it } from 'vitest'
import { asObject, type JsonObject } from '../../src/core/json/json-value.ts'
import { writeFor } from '../../src/translate/write-for.ts'
import { codecOf, isFault, plainCarriers } from '../support/translate/stage.ts'

const sealed = plainCarriers.seal({
  family: 'gemini',
  form: 'thought',
  value: 'c2ln',
  id: 'toolu_1',
  provider: 'prv_1',
})
const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
const turn = (...content: readonly JsonObject[]) => ({
  model: 'm',
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'x' },
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'blue' }] },
  ],
})

/** As a provider of Gemini's models gets it, and what is lost. */
function write(body: JsonObject, providerId = 'prv_1') {
  const conversation = codecOf('messages').readRequest(body, { streamed: false, carriers: plainCarriers })
  if (isFault(conversation)) throw new Error(conversation.message)
  const target = { model: 'gemini-3-pro', streamed: false, maxOutput: null, outputCap: null, compatible: false }
  const written = writeFor(conversation, 'messages', codecOf('generate'), {
    target: { ...target, format: 'generate', logprobs: true, streamOptions: true },
    providerId,
    strict: false,
  })
  if (isFault(written)) throw new Error(written.message)
  return { text: JSON.stringify(written.body), losses: written.losses }
}

const shown = { type: 'thinking', thinking: 'Hm.', signature: '' }
const carrier = { type: 'redacted_thinking', data: sealed }

it('loses nothing with the text of reasoning that goes back sealed', () => {
  const { text, losses } = write(turn(shown, call, carrier))
  expect(text).toContain('"thoughtSignature":"c2ln"')
  expect(losses).toEqual([])
})

it('names reasoning as lost where nothing of it goes back', () => {
  expect(write(turn(shown, call)).losses).toContain('messages[1].content[0]')
  expect(write(turn(shown, call, carrier), 'prv_other').losses).toContain('messages[1].content[0]')
})

it('changes nothing where all is sealed', () => {
  const body = turn(call, carrier)
  expect(asObject(JSON.parse(write(body).text))?.contents).toHaveLength(3)
  expect(write(body).losses).toEqual([])
})

it('lets a strict route go on without reasoning that nobody signed', () => {
  const signed = { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' }
  const conversation = (block: JsonObject) =>
    codecOf('messages').readRequest(turn(block, call), { streamed: false, carriers: plainCarriers })
  const strictly = (block: JsonObject) => {
    const read = conversation(block)
    if (isFault(read)) throw new Error(read.message)
    const target = { model: 'm', streamed: false, maxOutput: null, outputCap: null, compatible: true }
    return writeFor(read, 'messages', codecOf('chat'), {
      target: { ...target, format: 'chat', logprobs: true, streamOptions: true },
      providerId: 'prv_1',
      strict: true,
    })
  }
  expect(strictly(shown)).toMatchObject({ losses: ['messages[1].content[0]'] })
  expect(strictly(signed)).toMatchObject({ code: 'not_translatable', param: 'messages[1].content[0]' })
})
