import { describe, expect, it } from 'vitest'
import { readNodes } from '../../../src/core/json/json-nodes.ts'
import { findTexts } from '../../../src/gateway/content/content-texts.ts'
import { joinParts } from '../../../src/gateway/content/join-parts.ts'
import { WorkTurn } from '../../../src/gateway/content/scan-sliced.ts'
import { readyRules } from '../../../src/policy/content/compile.ts'
import { Placeholders } from '../../../src/policy/content/placeholders.ts'
import { countTurns } from '../../support/count-turns.ts'

async function join(content: unknown, action: 'redact' | 'block' = 'redact', messages: unknown[] = []) {
  const rule = { name: 'pins', detector: null, pattern: 'pin \\d{4}', reversible: false, longest: 200 }
  const policies = [{ policy: 'p', rules: [{ ...rule, action, on: ['prompt' as const] }] }]
  const { prompt } = await readyRules(policies, import('../../../src/policy/content/pattern-seeker.ts'))
  const reported: string[] = []
  const found = (_rule: unknown, note: string) => reported.push(note)
  const context = { rules: prompt, placeholders: new Placeholders(() => 0), restorer: () => null, found }
  const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }, ...messages] }))
  const root = readNodes(body)
  if (root === null) throw new Error('The body is not read.')
  const { texts } = findTexts(body, root, 'prompt')
  let joined: string[] = []
  const turns = await countTurns(async () => {
    joined = [...(await joinParts(texts, context, new WorkTurn(), () => {})).values()]
  })
  return { joined, turns, reported: reported.length }
}

const parts = (...texts: string[]) => texts.map((text) => ({ type: 'text', text }))

it('gives others their turn among many parts, and finds what two of them share', async () => {
  const words = Array.from({ length: 50_000 }, (_, index) => `word ${index} `.repeat(9))
  const { joined, turns } = await join(parts(...words, 'My pin 73', '11.'))
  expect(joined).toEqual(['My [PINS_1]', '.'])
  expect(turns).toBeGreaterThan(5)
})

describe('what parts of a message share is found', () => {
  it.each([
    ['over two', parts('a pin 1', '234, b'), ['a [PINS_1]', ', b']],
    [
      'over many, of which none has much of it',
      parts('a p', 'in', ' ', '1', '23', '4, b'),
      ['a [PINS_1]', '', '', '', '', ', b'],
    ],
    ['over one that has nothing', parts('a pin 1', '', '234, b'), ['a [PINS_1]', ', b']],
    [
      'over a picture',
      [...parts('a pin 1'), { type: 'image_url', image_url: { url: 'https://a.test/b.png' } }, ...parts('234')],
      ['a [PINS_1]', ''],
    ],
    ['over characters that nobody sees', parts('a pin\u200b 1', '2\ufffd34, b'), ['a [PINS_1]', ', b']],
    ['twice', parts('pin 1', '234 pin 5', '678'), ['[PINS_1]', ' [PINS_2]', '']],
  ])('%s', async (_how, content, written) => {
    const { joined, reported } = await join(content)
    expect(joined).toEqual(written)
    expect(reported).toBe(written.join('').split('PINS').length - 1)
  })

  it('and nothing over two messages, or that a part has by itself', async () => {
    expect(await join(parts('a pin 1'), 'redact', [{ role: 'user', content: parts('234') }])).toMatchObject({
      joined: [],
      reported: 0,
    })
    expect(await join(parts('a pin 1234', '5 b', ' pin 4321'))).toMatchObject({ joined: [], reported: 0 })
    expect(await join(parts('a p', 'in 1', '234'), 'block')).toMatchObject({ joined: [], reported: 1 })
  })
})
