import { expect, it } from 'vitest'
import { scanSliced, WorkTurn } from '../../../src/gateway/content/scan-sliced.ts'
import { readyRules } from '../../../src/policy/content/compile.ts'
import { Placeholders } from '../../../src/policy/content/placeholders.ts'
import { TextScan } from '../../../src/policy/content/text-scan.ts'
import { countTurns } from '../../support/count-turns.ts'

it('gives others their turn within a long text, and finds what it would find at once', async () => {
  const rule = { name: 'pins', detector: null, pattern: 'pin \\d{4}', reversible: false, longest: 200 }
  const policies = [{ policy: 'p', rules: [{ ...rule, action: 'redact' as const, on: ['answer' as const] }] }]
  const { answer } = await readyRules(policies, import('../../../src/policy/content/pattern-seeker.ts'))
  const placeholders = new Placeholders(() => false)
  const scan = new TextScan({ rules: answer, placeholders, restorer: null, found: () => {} })
  const text = `${'word '.repeat(20_000)}pin 7311.`
  let written = ''
  const turns = await countTurns(async () => {
    written = await scanSliced(text, scan, new WorkTurn())
  })
  expect(written).toBe(text.replace(/pin \d+/, '[PINS_1]'))
  expect(turns).toBeGreaterThan(20)
})
