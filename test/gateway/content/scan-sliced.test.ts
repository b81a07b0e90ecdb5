import { expect, it } from 'vitest'
import { pushPieces, StreamWork, scanSliced, WorkTurn } from '../../../src/gateway/content/scan-sliced.ts'
import { readyRules } from '../../../src/policy/content/compile.ts'
import { Placeholders } from '../../../src/policy/content/placeholders.ts'
import { TextScan } from '../../../src/policy/content/text-scan.ts'
import { countTurns } from '../../support/count-turns.ts'

async function scanOfPins(): Promise<TextScan> {
  const rule = { name: 'pins', detector: null, pattern: 'pin \\d{4}', reversible: false, longest: 200 }
  const policies = [{ policy: 'p', rules: [{ ...rule, action: 'redact' as const, on: ['answer' as const] }] }]
  const { answer } = await readyRules(policies, import('../../../src/policy/content/pattern-seeker.ts'))
  const placeholders = new Placeholders(() => 0)
  return new TextScan({ rules: answer, placeholders, restorer: () => null, found: () => {} })
}

it('gives others their turn within a long text, and finds what it would find at once', async () => {
  const scan = await scanOfPins()
  const text = `${'word '.repeat(20_000)}pin 7311.`
  let written = ''
  const turns = await countTurns(async () => {
    written = await scanSliced(text, scan, new WorkTurn())
  })
  expect(written).toBe(text.replace(/pin \d+/, '[PINS_1]'))
  expect(turns).toBeGreaterThan(20)
})

it('gives others their turn within a large event of a stream', async () => {
  const text = `${'word '.repeat(20_000)}pin 7311.`
  const scan = await scanOfPins()
  const work = new StreamWork(() => false)
  let written: string | null = ''
  const turns = await countTurns(async () => {
    written = await work.run(pushPieces(text, scan))
  })
  expect(written).toBe(text.replace(/pin \d+/, '[PINS_1]').slice(0, written.length))
  expect(written.length).toBeGreaterThan(text.length - 300)
  expect(turns).toBeGreaterThan(2)
})

it('stops where nobody waits for it', async () => {
  const long = (function* () {
    for (const until = performance.now() + 20; performance.now() < until; );
    yield
    return 'done'
  })()
  expect(await new StreamWork(() => true).run(long)).toBeNull()
})

it('gives others their turn between many small events, and none where they cost little', async () => {
  const work = new StreamWork(() => false)
  const little = (function* () {
    yield
    return 'done'
  })()
  expect(work.run(little)).toBe('done')
  const scan = await scanOfPins()
  let waited = 0
  for (let event = 0; event < 3000; event++) {
    const passing = work.run(pushPieces('word ', scan))
    if (passing instanceof Promise) waited++
    await passing
  }
  expect(waited).toBeGreaterThan(2)
})
