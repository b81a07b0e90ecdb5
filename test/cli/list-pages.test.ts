import { describe, expect, it } from 'vitest'
import { sampleRecord } from '../support/sample-record.ts'
import { fakeIo } from './fake-io.ts'
import { runLine } from './run-line.ts'

const reached = '2026-11-20T10:00:00.000Z'

/** Three pages, of which two end before their time is over. */
function pages() {
  const records = [0, 1, 2, 3].map((index) => sampleRecord({ model: `m${index}` }))
  return {
    records,
    'requests.search': ({ before }: Record<string, unknown>) => {
      if (before === undefined) return { requests: records.slice(0, 1), before: 'req_a', searched_until: reached }
      if (before === 'req_a') return { requests: [], before: 'req_b', searched_until: reached }
      return { requests: records.slice(1), before: null, searched_until: null }
    },
  }
}

describe('a list that ends at its usual limit', () => {
  const gateway = {
    'requests.list': () => Array.from({ length: 50 }, (_, index) => sampleRecord({ id: `req_${index}` })),
  }
  const said = async (line: readonly string[], terminal = true) =>
    (await runLine(['requests', 'list', ...line], { gateway, terminal, columns: 200 })).io.err()

  it('says to a person how to see more', async () => {
    expect(await said([])).toContain('The newest 50. For more: --limit N; older ones: --before req_49\n')
  })

  it('says nothing to a program, and nothing of a limit that was asked for', async () => {
    expect([await said([], false), await said(['--json'])]).toEqual(['', ''])
    expect(await said(['--limit', '50'])).not.toContain('newest')
  })
})

describe('sums by what clients write', () => {
  const rows = Array.from({ length: 1200 }, (_, index) => ({
    id: `m${index}`,
    group: `m${index}`,
    requests: 9,
    usd: 1,
  }))
  const gateway = { 'requests.stats': ({ limit }: Record<string, unknown>) => rows.slice(0, Number(limit ?? 1200)) }
  const shown = async (line: readonly string[], terminal = true) => {
    const { io } = await runLine(['requests', 'stats', '--by', 'model', ...line], { gateway, terminal, columns: 200 })
    return { lines: io.out().trimEnd().split('\n').length, said: io.err() }
  }

  it('are a wall to nobody: a person sees the first, and how many there are', async () => {
    const { lines, said } = await shown([])
    expect([lines, said]).toEqual([
      51,
      expect.stringContaining('Shown are 50 of 1,200. For more: --limit N; for all: --json\n'),
    ])
    expect(await shown(['--limit', '70'])).toEqual({ lines: 71, said: expect.not.stringContaining('Shown are') })
  })

  it('by day are those of the latest days, in their order', async () => {
    const ofDays = Array.from({ length: 120 }, (_, index) => {
      const groups = [`2026-0${1 + Math.floor(index / 40)}-01`, `m${index}`]
      return { id: groups.join(), group: groups.join(', '), groups, requests: 120 - index, usd: 1 }
    })
    const { io } = await runLine(['requests', 'stats', '--by', 'day,model'], {
      ...{ gateway: { 'requests.stats': () => ofDays }, terminal: true, columns: 200 },
    })
    const shown = io.out().match(/, m\d+/g)
    expect([shown?.length, shown?.at(0), shown?.at(9), shown?.at(10), shown?.at(-1)]).toEqual([
      ...[50, ', m40', ', m49', ', m80', ', m119'],
    ])
  })

  it('are whole for a program', async () => {
    expect(await shown([], false)).toEqual({ lines: 1201, said: '' })
    const { io } = await runLine(['requests', 'stats', '--by', 'model', '--json'], { gateway, terminal: true })
    expect(JSON.parse(io.out())).toHaveLength(1200)
  })
})

describe('requests list, where only the records tell', () => {
  it('searches page by page, says how far it is, and answers with all', async () => {
    const { records, ...gateway } = pages()
    const { io, calls, status } = await runLine(['requests', 'list', '--tag', 'team=a', '--json'], { gateway })
    expect(status).toBe(0)
    expect(JSON.parse(io.out())).toEqual(records)
    expect(io.err().match(/Searched back to .*Searching on\./g)).toHaveLength(2)
    expect(calls.map(([name, input]) => [name, input.before, input.limit])).toEqual([
      ['requests.search', undefined, 50],
      ['requests.search', 'req_a', 49],
      ['requests.search', 'req_b', 49],
    ])
  })

  it('ends when it has as many as were asked for', async () => {
    const { records, ...gateway } = pages()
    const line = ['requests', 'list', '--slower-than', '5s', '--limit', '1', '--json']
    const { io, calls } = await runLine(line, { gateway })
    expect(JSON.parse(io.out())).toEqual(records.slice(0, 1))
    expect(calls).toHaveLength(1)
    expect(io.err()).toBe('')
  })

  it('is stopped with Ctrl-C, and then says where to go on', async () => {
    const io = fakeIo({})
    const { records, ...answers } = pages()
    const gateway = {
      'requests.search': (input: Record<string, unknown>, { signal }: { signal?: AbortSignal | undefined }) => {
        if (input.before !== 'req_b') return answers['requests.search'](input)
        io.interrupt()
        signal?.throwIfAborted()
      },
    }
    await runLine(['requests', 'list', '--route', 'gpt-4o', '--json'], { gateway, io })
    expect(JSON.parse(io.out())).toEqual(records.slice(0, 1))
    expect(io.err()).toContain('Continue with --before req_b.')
  })

  it('is one call with any other filter', async () => {
    const gateway = { 'requests.list': () => [] }
    const { calls } = await runLine(['requests', 'list', '--key', 'ci', '--errors'], { gateway })
    expect(calls.map(([name]) => name)).toEqual(['requests.list'])
  })
})
