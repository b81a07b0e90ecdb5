import { vi } from 'vitest'

/**
 * How many turns of the event loop `act` takes by a clock that moves on with each look at it: work in slices then ends
 * its slice at each of its looks, however fast the machine is.
 */
export async function countTurns(act: () => Promise<unknown>): Promise<number> {
  let time = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 100))
  let turns = 0
  let next = setImmediate(count)
  function count(): void {
    turns++
    next = setImmediate(count)
  }
  try {
    await act()
    return turns
  } finally {
    clearImmediate(next)
    clock.mockRestore()
  }
}
