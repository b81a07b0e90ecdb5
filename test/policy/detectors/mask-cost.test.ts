import { expect, it } from 'vitest'
import { maskJsonText } from '../../../src/policy/detectors/mask.ts'

it.each([
  ['empty texts', '"",'],
  ['short keys', '"a":1,'],
  ['lines', '\n'],
])('looks at a bounded number of pieces before others have their turn: %s', (_, one) => {
  let looks = 0
  let most = 0
  let before = 0
  const work = maskJsonText(one.repeat(50_000), () => {
    looks++
    return []
  })
  for (let step = work.next(); ; step = work.next()) {
    most = Math.max(most, looks - before)
    before = looks
    if (step.done === true) break
  }
  expect(most).toBeLessThan(1100)
})
