import { describe, expect, it } from 'vitest'
import { sampleRecord } from '../support/sample-record.ts'
import { fakeIo } from './fake-io.ts'
import { runLine } from './run-line.ts'

const rows = ['a', 'b', 'c'].map((model) =>
  sampleRecord({ id: `req_${model}`, model, time: '2026-03-01T11:59:58.000Z' }),
)

function stream(...records: unknown[]) {
  return {
    'requests.tail': async function* () {
      yield* records
    },
  }
}

/** One row, then silence until the call is given up. */
function silentAfterOne(onRow: () => void) {
  return {
    'requests.tail': async function* (_: unknown, { signal }: { signal?: AbortSignal }) {
      yield rows[0]
      onRow()
      await new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    },
  }
}

describe('tail', () => {
  it('prints one JSON document a line', async () => {
    const { status, io } = await runLine(['requests', 'tail', '--json'], { gateway: stream(...rows) })
    expect(status).toBe(0)
    expect(
      io
        .out()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(rows)
  })

  it('goes on where the gateway ended it for being read too slowly, and says so', async () => {
    const tooSlow = Object.assign(new Error('The reader is too slow.'), {
      ...{ code: 'degraded', status: 503, data: { hint: 'Again.', reason: 'behind' } },
    })
    let opened = 0
    const gateway = {
      'requests.tail': async function* () {
        yield rows[opened++]
        if (opened === 1) throw tooSlow
      },
    }
    const { status, io } = await runLine(['requests', 'tail', '--json'], { gateway })
    expect([status, io.err()]).toEqual([0, expect.stringMatching(/^Note: .*so some rows are not shown\.\n$/)])
    const shown = io.out().trimEnd().split('\n')
    expect(shown.map((line) => JSON.parse(line))).toEqual(rows.slice(0, 2))
  })

  it('says on a terminal that it waits, and nothing into a file', async () => {
    const gateway = { gateway: stream(...rows) }
    const seen = await runLine(['requests', 'tail'], { terminal: true, ...gateway })
    expect(seen.io.err()).toBe('Waiting for requests to finish. Press Ctrl-C to stop.\n')
    const piped = await runLine(['requests', 'tail'], gateway)
    expect(piped.io.err()).toBe('')
  })

  it('has room for the usual errors from the first row on, also on 80 columns', async () => {
    const refused = sampleRecord({
      id: `req_${'d'.repeat(26)}`,
      model: 'claude-sonnet',
      status: 503,
      error: { code: 'provider_not_ready', origin: 'provider', message: 'No.' },
    })
    const served = sampleRecord({ id: `req_${'e'.repeat(26)}`, model: 'o3' })
    const { io } = await runLine(['requests', 'tail'], {
      terminal: true,
      columns: 80,
      gateway: stream(served, refused),
    })
    const places = io
      .out()
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.indexOf('req_'))
    expect(places[0]).toBeGreaterThan(0)
    expect(places).toEqual([places[0], places[0]])
    // Other codes begin alike.
    expect(io.out()).toContain('503 provider_not_ready  claude-sonnet   req_')
  })

  it('keeps a row of figures on 80 columns, and what the last one has to remark whole', async () => {
    const row = { done: true, time: '2026-03-01T11:59:58.000Z', checked: 1234, changed: 12, unpriced: 0 }
    const costs = {
      before_usd: 1.5,
      after_usd: 2.25,
      several_models: 0,
      kept: [],
      elsewhere: [],
      missing: [],
      outdated: [],
    }
    const recompute = async (missing: string[]) => {
      const rows = async function* () {
        yield { ...row, ...costs, missing }
      }
      const line = ['cost', 'recompute', '--since', '30d']
      const { io } = await runLine(line, { terminal: true, columns: 80, gateway: { 'cost.recompute': rows } })
      return io.out().trimEnd().split('\n')
    }
    const [head = '', figures = ''] = await recompute([])
    expect(head).toMatch(/^BACK TO +CHECKED +CHANGED +UNPRICED +BEFORE +AFTER$/)
    expect(figures).toMatch(/1,234 +12 +0 +\$1\.50 +\$2\.25$/)
    expect(figures.length).toBeLessThanOrEqual(80)
    expect((await recompute(['gw-b', 'gw-c']))[1]).toMatch(/12, not yet on gw-b, gw-c +0 +\$1\.50 +\$2\.25$/)
  })

  it('cuts what is longer than its column on a terminal, so that no row shifts', async () => {
    const long = sampleRecord({
      id: 'req_l',
      model: 'a-model-with-a-name-longer-than-any-column',
      provider: 'p'.repeat(50),
    })
    const { io } = await runLine(['requests', 'tail'], {
      terminal: true,
      columns: 250,
      gateway: stream(...rows, long, ...rows),
    })
    const places = new Set(
      io
        .out()
        .trimEnd()
        .split('\n')
        .map((line) => line.search(/ID$|req_/)),
    )
    expect([...places]).toEqual([expect.any(Number)])
    const chosen = await runLine(['requests', 'tail', '--json=id,model'], { gateway: stream(long) })
    expect(JSON.parse(chosen.io.out())).toEqual({ id: 'req_l', model: long.model })
  })

  it('keeps its columns in place', async () => {
    const wide = sampleRecord({
      id: 'req_d',
      model: '模型',
      time: '2026-03-01T11:59:59.000Z',
      status: 429,
      cost: null,
      tokens: null,
    })
    const { io } = await runLine(['requests', 'tail', '--utc'], { gateway: stream(...rows, wide) })
    await expect(io.out()).toMatchFileSnapshot('../fixtures/cli/requests-tail.txt')
  })

  it('shows fewer columns on a narrow terminal, and the time of day', async () => {
    const { io } = await runLine(['requests', 'tail'], { terminal: true, columns: 50, gateway: stream(...rows) })
    const lines = io.out().trimEnd().split('\n')
    expect(lines).toHaveLength(4)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(50)
    expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d .* req_a$/)
  })

  it('ends quietly with 0 at Ctrl-C', async () => {
    const io = fakeIo()
    const { status } = await runLine(['requests', 'tail', '--json'], {
      io,
      gateway: silentAfterOne(() => io.interrupt()),
    })
    expect([status, io.err()]).toEqual([0, ''])
    expect(io.out().split('\n')).toHaveLength(2)
  })

  it('ends quietly with 0 when the reader goes away, and gives the call up', async () => {
    const { status, io } = await runLine(['requests', 'tail', '--json'], { closesAfter: 1, gateway: stream(...rows) })
    expect([status, io.err()]).toEqual([0, ''])
    expect(JSON.parse(io.out())).toEqual(rows[0])
  })

  it('fails when the stream fails', async () => {
    const broken = {
      'requests.tail': async function* () {
        yield rows[0]
        throw new Error('The gateway stopped.')
      },
    }
    const { status, io } = await runLine(['requests', 'tail', '--json'], { gateway: broken })
    expect([status, io.err()]).toEqual([1, expect.stringContaining('The gateway stopped.')])
  })
})
