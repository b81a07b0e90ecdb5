import { expect, it } from 'vitest'
import { renderRecord } from '../../cli/print/record.ts'
import { makePaint } from '../../cli/print/view.ts'
import { sampleNow } from './fake-io.ts'

it('shows grants by when they end, and what a model reads at most with its digits grouped', () => {
  const view = { width: null, paint: makePaint(false), now: sampleNow, utc: false }
  const until = new Date(sampleNow + 2 * 86_400_000).toISOString()
  const shown = renderRecord(undefined, { max_input: 128_000, input: 0.0375, grants: [{ usd: 50, until }] }, view)
  expect(shown).toBe('Max input  128,000\nInput      0.0375\n\nGrants\n   USD  UNTIL\n$50.00  in 2 d\n')
})
