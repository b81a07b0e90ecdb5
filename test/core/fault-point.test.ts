import { describe, expect, it } from 'vitest'
import { armFaultPoint, armThread, reachFaultPoint } from '../../src/core/fault-point.ts'

/** How often the process would have died while `passes` ran, with `SPGW_FAULT_POINT` set to `text`. */
function countDeaths(text: string, passes: () => void): number {
  let deaths = 0
  armFaultPoint(
    { SPGW_FAULT_POINT: text },
    () => {},
    () => deaths++,
  )
  passes()
  return deaths
}

describe('a fault point', () => {
  it('strikes at its first passing, and only there', () => {
    expect(countDeaths('ingest.before-commit', () => reachFaultPoint('ingest.after-commit'))).toBe(0)
    expect(countDeaths('ingest.before-commit', () => reachFaultPoint('ingest.before-commit'))).toBe(1)
  })

  it('strikes at the passing that is named', () => {
    const pass = (times: number) => () => {
      for (let left = times; left > 0; left--) reachFaultPoint('checkpoint.before')
    }
    expect(countDeaths('checkpoint.before:3', pass(2))).toBe(0)
    expect(countDeaths('checkpoint.before:3', pass(5))).toBe(1)
  })

  it('strikes as often as is asked, so many passings apart', () => {
    const struck: number[] = []
    let passed = 0
    const plan = { SPGW_FAULT_POINT: 'checkpoint.before:2:kill:3' }
    armFaultPoint(
      plan,
      () => {},
      () => struck.push(passed),
    )
    while (passed++ < 20) reachFaultPoint('checkpoint.before')
    expect(struck).toEqual([2, 4, 6])
  })

  it('counts the passings of all threads together', () => {
    const shelf = new Map<string, unknown>()
    let deaths = 0
    const kill = () => deaths++
    armFaultPoint({ SPGW_FAULT_POINT: 'journal.after-settled:2' }, (name, plan) => shelf.set(name, plan), kill)
    reachFaultPoint('journal.after-settled')
    armThread((name) => shelf.get(name), kill)
    reachFaultPoint('journal.after-settled')
    expect(deaths).toBe(1)
  })

  it('is refused where it does not exist, and absent where none is named', () => {
    expect(() => countDeaths('ingest.befor-commit', () => {})).toThrow('no fault point')
    for (const wrong of ['0', '1:maim', '1:throw:0'])
      expect(() => countDeaths(`ingest.before-commit:${wrong}`, () => {})).toThrow('no fault point')
    armThread(
      () => undefined,
      () => expect.unreachable(),
    )
    reachFaultPoint('ingest.before-commit')
  })
})
