import { describe, expect, it } from 'vitest'
import { mapInSlices, nextTurn } from '../../../src/core/threads/slices.ts'

describe('work in slices', () => {
  it('gives each turn of the event loop to one of those who wait', async () => {
    const order: string[] = []
    const work = async (name: string) => {
      for (let round = 0; round < 3; round++) {
        await nextTurn()
        order.push(name)
      }
    }
    const turns = (async () => {
      for (let turn = 0; turn < 6; turn++)
        await new Promise<void>((resolve) => setImmediate(() => resolve(void order.push('-'))))
    })()
    await Promise.all([work('a'), work('b'), turns])
    expect(order.join('').replaceAll('-', '')).toBe('ababab')
    expect(order.join('')).not.toMatch(/ab|ba/)
  })

  it('gives results in their order', async () => {
    expect(await mapInSlices([3, 1, 2], (item) => 2 * item)).toEqual([6, 2, 4])
  })
})
