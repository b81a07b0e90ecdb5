import { expect, it } from 'vitest'
import { followStream, type StreamOptions } from '../../../src/console/app/client/follow-stream.ts'

/** Breaks off once, and is then silent until the signal fires. */
function breaking(signal: AbortSignal, opened: () => void): StreamOptions<string>['open'] {
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
  let onGap = 0
  const { promise: again, resolve: opened } = Promise.withResolvers<void>()
  const following = followStream(
    {
      ...{ name: 'x', kind, retryMs: 1, onItem: () => {} },
      open: breaking(leave.signal, opened),
      onGap: () => void onGap++,
    },
    leave.signal,
  )
  await again
  expect(onGap).toBe(times)
  leave.abort()
  await following
})
