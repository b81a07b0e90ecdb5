import { describe, expect, it } from 'vitest'
import { followStream, pause, type StreamOptions } from '../../../src/console/app/client/follow-stream.ts'

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

describe('a stream that nobody follows any more', () => {
  // Its window would hold one of the few connections for as long as the pause is, and the next would wait for it.
  it('is over at once where it ended by itself when it was stopped', async () => {
    const leave = new AbortController()
    const follows = followStream(
      {
        ...{ name: 'x', kind: 'state', retryMs: 3_600_000, onItem: () => {}, onGap: () => {} },
        async *open() {
          leave.abort()
          yield* []
        },
      },
      leave.signal,
    )
    await follows
    await pause(3_600_000, leave.signal)
  })

  it('is over at once where it waits to be opened again', async () => {
    const leave = new AbortController()
    const opened: number[] = []
    const follows = followStream(
      {
        ...{ name: 'x', kind: 'events', retryMs: 3_600_000, onItem: () => {}, onGap: () => {} },
        open: () => Promise.reject(new Error(`try ${opened.push(1)}`)),
        onLost: () => queueMicrotask(() => leave.abort()) === undefined,
      },
      leave.signal,
    )
    await follows
    expect(opened).toHaveLength(1)
  })

  it('says nothing of what it still had', async () => {
    const leave = new AbortController()
    const items: string[] = []
    await followStream<string>(
      {
        ...{ name: 'x', kind: 'state', retryMs: 1, onGap: () => {} },
        async *open() {
          yield* ['one', 'two', 'three']
        },
        onItem: (item) => {
          items.push(item)
          if (item === 'two') leave.abort()
        },
      },
      leave.signal,
    )
    expect(items).toEqual(['one', 'two'])
  })

  it('is not opened again where its loss was final', async () => {
    let opened = 0
    await followStream(
      {
        ...{ name: 'x', kind: 'state', retryMs: 1, onItem: () => {}, onGap: () => {}, onLost: () => false },
        open: () => Promise.reject(new Error(`${++opened}`)),
      },
      new AbortController().signal,
    )
    expect(opened).toBe(1)
  })
})
