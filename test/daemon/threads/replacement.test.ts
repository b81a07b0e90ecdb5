import { describe, expect, it } from 'vitest'
import { ReplacementPace } from '../../../src/daemon/threads/replacement.ts'

const young = 500
const grown = 60_000

describe('the pace of replacement', () => {
  it('is immediate, slower for the young that die in a row, and never beyond half a second', () => {
    const pace = new ReplacementPace()
    const pauses = Array.from({ length: 9 }, () => pace.died(young, 'any'))
    expect(pauses).toEqual([0, 50, 100, 200, 400, 500, 500, 500, 500])
    expect(pace.died(grown, 'any')).toBe(0)
  })

  it('tells of threads that are missing, and of young ones that keep dying, until one has grown', () => {
    const pace = new ReplacementPace()
    expect(pace.evaluate(2, 0, 0)).toBeNull()
    pace.died(grown, 'Error: broken\n    at somewhere')
    expect(pace.evaluate(2, 1, grown)).toBe(
      '1 of 2 data-plane threads are running, the rest are being replaced; the last crash: Error: broken',
    )
    expect(pace.evaluate(2, 2, young)).toBeNull()
    for (let death = 0; death < 2; death++) pace.died(young, 'Error: again')
    expect(pace.evaluate(2, 2, young)).toMatch('3 data-plane threads in a row')
    expect(pace.evaluate(2, 2, grown)).toBeNull()
  })
})
