import { expect, it } from 'vitest'
import { waitAsLong } from '../../cli/connect.ts'

it('waits for a gateway that starts, longer where the machine is slow, and not at all where nobody wants to', () => {
  expect(waitAsLong(3000, 90)).toBe(3000)
  expect(waitAsLong(3000, 1200)).toBe(24_000)
  expect(waitAsLong(0, 1200)).toBe(0)
})
