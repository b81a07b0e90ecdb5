import { expect, it } from 'vitest'
import { readNodes } from '../../../src/core/json-nodes.ts'
import { findTexts } from '../../../src/gateway/content/content-texts.ts'
import { joinParts } from '../../../src/gateway/content/join-parts.ts'
import { WorkTurn } from '../../../src/gateway/content/scan-sliced.ts'
import { readyRules } from '../../../src/policy/content/compile.ts'
import { Placeholders } from '../../../src/policy/content/placeholders.ts'
import { countTurns } from '../../support/count-turns.ts'

it('gives others their turn among many parts, and finds what two of them share', async () => {
  const rule = { name: 'pins', detector: null, pattern: 'pin \\d{4}', reversible: false, longest: 200 }
  const policies = [{ policy: 'p', rules: [{ ...rule, action: 'redact' as const, on: ['prompt' as const] }] }]
  const { prompt } = await readyRules(policies, import('../../../src/policy/content/pattern-seeker.ts'))
  const context = { rules: prompt, placeholders: new Placeholders(() => false), restorer: null, found: () => {} }
  const content = Array.from({ length: 50_000 }, (_, index) => ({ type: 'text', text: `word ${index} `.repeat(9) }))
  content.push({ type: 'text', text: 'My pin 73' }, { type: 'text', text: '11.' })
  const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }))
  const root = readNodes(body)
  if (root === null) throw new Error('The body is not read.')
  const { texts } = findTexts(body, root, 'prompt')
  let joined: string[] = []
  const turns = await countTurns(async () => {
    joined = [...(await joinParts(texts, context, new WorkTurn(), () => {})).values()]
  })
  expect(joined).toEqual(['My [PINS_1]', '.'])
  expect(turns).toBeGreaterThan(5)
})
