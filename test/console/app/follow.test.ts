import { expect, it } from 'vitest'
import { follow, type LiveStream } from '../../../src/console/app/client/follow.ts'

/** Breaks off once, and is then silent until the signal fires. */
function breaking(signal: AbortSignal, opened: () => void): LiveStream<string>['open'] {
  let times = 0
  return async function* () {
    if (++times === 1) throw new Error('too slow')
    opened()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
}

it.each([
  // Nothing may ever happen again, and what was missed would be missing for as long: also what came before it was first open.
  ['events', 2],
  // The first state tells all, and comes by itself.
  ['state', 0],
] as const)('has what was missed read at once whenever a stream of %s is open', async (kind, times) => {
  const leave = new AbortController()
  let returned = 0
  const { promise: again, resolve: opened } = Promise.withResolvers<void>()
  const following = follow(
    {
      ...{ name: 'x', kind, firstPauseMs: 1, hear: () => {} },
      open: breaking(leave.signal, opened),
      returned: () => void returned++,
    },
    leave.signal,
  )
  await again
  expect(returned).toBe(times)
  leave.abort()
  await following
})
