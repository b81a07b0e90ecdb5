import { describe, expect, it } from 'vitest'
import { showFormatLosses } from '../../src/admin/handlers/routes/format-losses.ts'
import { formatNames } from '../../src/core/format.ts'
import { losses } from '../../src/translate/losses.ts'

const pairs = formatNames.flatMap((from) => formatNames.map((to) => [from, to] as const))

describe('routes losses', () => {
  it.each(pairs)('says what becomes of each field from %s to %s, what is lost first', async (from, to) => {
    const rows = await showFormatLosses({ from, to })
    expect(rows.map(({ field }) => field).sort()).toEqual(from === to ? [] : Object.keys(losses[from]).sort())
    const order = ['refused', 'lost', 'changed', 'depends', 'kept', 'no effect']
    const places = rows.map(({ outcome }) => order.indexOf(outcome))
    expect(places).toEqual(places.toSorted((one, other) => one - other))
  })

  it('has a reason for what does not arrive', async () => {
    const rows = await showFormatLosses({ from: 'chat', to: 'messages' })
    const of = (name: string) => rows.find(({ field }) => field === name)
    expect(of('n')).toEqual({ field: 'n', outcome: 'refused', why: 'it gives one answer only' })
    expect(of('seed')).toEqual({ field: 'seed', outcome: 'lost', why: 'it has no such field' })
    expect(of('temperature')).toEqual({
      field: 'temperature',
      outcome: 'depends',
      why: 'lost at models that refuse it',
    })
    expect(of('model')).toEqual({ field: 'model', outcome: 'kept', why: null })
    expect(rows.filter(({ outcome, why }) => outcome === 'kept' && why !== null)).toEqual([])
  })
})
