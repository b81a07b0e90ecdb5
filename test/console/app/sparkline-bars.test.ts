import fc from 'fast-check'
import { expect, it } from 'vitest'
import { drawBars } from '../../../src/console/app/parts/sparkline-bars.ts'

const space = { width: 40, height: 20, top: 10 }

it('draws a bar for each value, and for nothing a line or nothing at all', () => {
  expect(drawBars([10, 0, 5, 1], space, 1)).toBe(
    'M0.00 20v-20.00h9.00v20.00zM10.00 20v-1.00h9.00v1.00zM20.00 20v-10.00h9.00v10.00zM30.00 20v-2.00h9.00v2.00z',
  )
  expect(drawBars([0, 0, 5, 0], space, 0)).toBe('M20.00 20v-10.00h9.00v10.00z')
  expect(drawBars([], space, 1)).toBe('')
})

it('never leaves its space, and draws a part no higher than the whole', () => {
  const heights = (path: string) => [...path.matchAll(/v-([\d.]+)/g)].map(([, size]) => Number(size))
  const points = fc.array(fc.tuple(fc.nat(1_000_000), fc.double({ min: 0, max: 1, noNaN: true })), {
    minLength: 1,
    maxLength: 60,
  })
  fc.assert(
    fc.property(points, (pairs) => {
      const tried = pairs.map(([value]) => value)
      const failed = pairs.map(([value, share]) => Math.floor(value * share))
      const whole = { ...space, top: Math.max(1, ...tried) }
      const [all, lost] = [heights(drawBars(tried, whole, 1)), heights(drawBars(failed, whole, 1))]
      expect(Math.max(...all)).toBeLessThanOrEqual(space.height)
      for (const [index, size] of lost.entries()) expect(size).toBeLessThanOrEqual(all[index] ?? 0)
    }),
  )
})
