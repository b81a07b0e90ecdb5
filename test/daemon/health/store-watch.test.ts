import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StoreWatch } from '../../../src/daemon/health/store-watch.ts'
import { createLog } from '../../../src/daemon/log.ts'
import type { StoreHealth } from '../../../src/store/api.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const well = {
  degraded: null,
  setAside: [] as string[],
  databaseBytes: 1,
  removalHeldUntil: null,
} as unknown as StoreHealth

function watchStore(health: () => Promise<StoreHealth>) {
  const said: (string | null)[] = []
  const lines: string[] = []
  const watch = new StoreWatch({
    store: { health },
    log: createLog({ level: 'info', format: 'json' }, (line) => lines.push(line)),
    setAsideDirectory: '/data/journal/set-aside',
    onDegraded: (reason) => said.push(reason),
  })
  return { watch, said, lines }
}

describe('the watch of the store', () => {
  it('knows at the start how the store is, and keeps what it said last', async () => {
    const answers = [
      { ...well, databaseBytes: 1 },
      { ...well, databaseBytes: 2, degraded: 'locked' },
    ]
    const { watch, said } = watchStore(async () => answers.shift() ?? well)
    await watch.start()
    expect([watch.health?.databaseBytes, said.at(-1)]).toEqual([1, null])
    await vi.advanceTimersByTimeAsync(600)
    expect([watch.health?.databaseBytes, said.at(-1)]).toEqual([2, 'locked'])
    watch.stop()
  })

  it('says that a store does not answer, asks it once at a time, and says when it does again', async () => {
    const stalled = Promise.withResolvers<StoreHealth>()
    let asked = 0
    const { watch, said } = watchStore(() => (++asked === 2 ? stalled.promise : Promise.resolve(well)))
    await watch.start()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(said.at(-1)).toBe('the store does not answer')
    expect(asked).toBe(2)
    stalled.resolve(well)
    await vi.advanceTimersByTimeAsync(1000)
    expect(said.at(-1)).toBeNull()
    watch.stop()
  })

  it('takes an error of the store for its state, and goes on asking', async () => {
    const answers = [() => Promise.reject(new Error('the thread is gone'))]
    const { watch, said } = watchStore(() => (answers.shift() ?? (() => Promise.resolve(well)))())
    await watch.start()
    expect(said.at(-1)).toBe('the thread is gone')
    await vi.advanceTimersByTimeAsync(600)
    expect(said.at(-1)).toBeNull()
    watch.stop()
  })

  it('reports each part of the journal that was set aside once', async () => {
    const answers = [['a'], ['a'], ['a', 'b']]
    const { watch, lines } = watchStore(async () => ({ ...well, setAside: answers.shift() ?? ['a', 'b'] }))
    await watch.start()
    await vi.advanceTimersByTimeAsync(3000)
    expect(lines.map((line) => JSON.parse(line).files)).toEqual(['a', 'b'])
    expect(lines[0]).toContain('/data/journal/set-aside')
    watch.stop()
  })

  it('asks nothing once it was stopped', async () => {
    let asked = 0
    const { watch } = watchStore(async () => {
      asked++
      return well
    })
    await watch.start()
    watch.stop()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(asked).toBe(1)
  })
})
