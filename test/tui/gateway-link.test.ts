import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GatewayClient } from '../../cli/operation.ts'
import { GatewayLink, type LinkState } from '../../tui/gateway-link.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const refused = Object.assign(new Error('You may not.'), { code: 'refused', status: 403, data: { hint: '' } })
const gone = Object.assign(new Error('No gateway is running.'), { hint: 'Start it.' })
const list = { path: ['providers', 'list'] }
const tail = { path: ['requests', 'tail'] }

function openLink(call: GatewayClient['call'], connect: () => Promise<void> = async () => {}) {
  const states: LinkState['kind'][] = []
  let connected = 0
  const link = new GatewayLink(
    async () => {
      connected++
      await connect()
      return { call }
    },
    ({ kind }) => states.push(kind),
  )
  return { link, states, connected: () => connected }
}

describe('the link to the gateway', () => {
  it('connects once for all calls', async () => {
    const { link, states, connected } = openLink(async () => [])
    await Promise.all([link.call(list, {}), link.call(list, {}), link.call(list, {})])
    expect([connected(), states]).toEqual([1, ['live']])
  })

  it('takes an error that the gateway answers for a sign of life', async () => {
    const { link, states } = openLink(() => Promise.reject(refused))
    await expect(link.call(list, {})).rejects.toBe(refused)
    expect(states).toEqual(['live'])
  })

  it('connects anew after the gateway went away, and says both once', async () => {
    let isThere = true
    const { link, states, connected } = openLink(() => (isThere ? Promise.resolve([]) : Promise.reject(gone)))
    await link.call(list, {})
    isThere = false
    for (let time = 0; time < 3; time++) await expect(link.call(list, {})).rejects.toBe(gone)
    expect(link.state).toMatchObject({ kind: 'absent', report: { cause: 'No gateway is running.', hint: 'Start it.' } })
    isThere = true
    await link.call(list, {})
    expect(states).toEqual(['live', 'absent', 'live'])
    expect(connected()).toBe(4)
  })

  it('is absent too where nobody takes the connection', async () => {
    const { link } = openLink(
      async () => [],
      () => Promise.reject(gone),
    )
    await expect(link.call(list, {})).rejects.toBe(gone)
    expect(link.state.kind).toBe('absent')
  })

  it('is not taken for absent because a call was aborted', async () => {
    const stop = new AbortController()
    const { link, states } = openLink(
      (_path, _input, options) =>
        new Promise((_, reject) => options?.signal?.addEventListener('abort', () => reject(gone))),
    )
    const failed = expect(link.call(list, {}, stop.signal)).rejects.toBe(gone)
    await vi.advanceTimersByTimeAsync(1)
    stop.abort()
    await failed
    expect(states).toEqual([])
  })
})

describe('a stream that is followed', () => {
  it('is opened again when it ends, until it is let go', async () => {
    let opened = 0
    const rows: unknown[] = []
    const { link } = openLink(async () => {
      const number = ++opened
      return (async function* () {
        yield number
      })()
    })
    const stop = link.follow(tail, {}, (row) => rows.push(row))
    await vi.advanceTimersByTimeAsync(2500)
    expect(rows).toEqual([1, 2, 3])
    stop()
    await vi.advanceTimersByTimeAsync(5000)
    expect(opened).toBe(3)
  })

  it('is opened again when the gateway comes back', async () => {
    let isThere = false
    const rows: unknown[] = []
    const { link } = openLink(async () => {
      if (!isThere) throw gone
      return (async function* () {
        yield 'row'
        await new Promise(() => {})
      })()
    })
    link.follow(tail, {}, (row) => rows.push(row))
    await vi.advanceTimersByTimeAsync(3000)
    expect([rows, link.state.kind]).toEqual([[], 'absent'])
    isThere = true
    await vi.advanceTimersByTimeAsync(1500)
    expect([rows, link.state.kind]).toEqual([['row'], 'live'])
    link.close()
  })

  it('ends with what the gateway answers, and says whether rows were missed', async () => {
    const behind = Object.assign(new Error('Too slow.'), { code: 'degraded', status: 503, data: { reason: 'behind' } })
    for (const [error, missed] of [
      [refused, false],
      [behind, true],
    ] as const) {
      const said: unknown[] = []
      let opened = 0
      const { link } = openLink(() => {
        opened++
        return Promise.reject(error)
      })
      link.follow(
        tail,
        {},
        () => {},
        (report, isBehind) => said.push([report.cause, isBehind]),
      )
      await vi.advanceTimersByTimeAsync(5000)
      expect([said, opened]).toEqual([[[error.message, missed]], 1])
    }
  })

  it('gives no row after it was let go, and asks nothing once the link is closed', async () => {
    const rows: unknown[] = []
    const next = Promise.withResolvers<void>()
    let opened = 0
    const { link } = openLink(async () => {
      opened++
      return (async function* () {
        yield 1
        await next.promise
        yield 2
      })()
    })
    const stop = link.follow(tail, {}, (row) => rows.push(row))
    await vi.advanceTimersByTimeAsync(10)
    stop()
    next.resolve()
    await vi.advanceTimersByTimeAsync(10)
    expect(rows).toEqual([1])
    link.close()
    link.follow(tail, {}, (row) => rows.push(row))
    await vi.advanceTimersByTimeAsync(5000)
    expect([rows, opened]).toEqual([[1], 1])
  })
})
