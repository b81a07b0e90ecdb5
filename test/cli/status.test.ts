import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { runLine } from './run-line.ts'

const status = {
  version: '0.1.0',
  started_at: '2026-03-01T09:00:00Z',
  gateway_url: 'http://127.0.0.1:8787',
  console_url: 'http://127.0.0.1:8788',
  data_directory: '/var/lib/spgw',
  settings_file: null as string | null,
  process_id: 812,
  workers: 1,
  in_flight: 3,
  held_bytes: 0,
  held_limit: 500_000_000,
  requests_since_start: 18_204,
  traffic: { requests_per_second: 12.41, error_share: 0.002, duration_p95_ms: 1830, usd_per_hour: 0.42 },
  budgets: [] as object[],
  degraded: [] as object[],
  providers: { ready: 2, failing: 1, unchecked: 0, inactive: 0 },
  routes: 4,
  keys: 7,
  database_bytes: 12_400_000,
  journal_bytes: 4_200_000,
  disk_free_bytes: 68_000_000_000,
  schema_version: '0006-owned-fields',
  records_stored_at: '2026-03-01T11:59:57Z',
  set_aside: [] as string[],
  entries_lost: 0,
  long_turns: [],
}

const show = async (change: object, argv: readonly string[] = []) =>
  (await runLine(['status', ...argv], { gateway: { status: () => ({ ...status, ...change }) } })).io.out()

describe('status', () => {
  it('reads well', async () => {
    await expect(await show({})).toMatchFileSnapshot('../fixtures/cli/status.txt')
  })

  it('tells of the budgets nearest to their end', async () => {
    const budget = {
      policy: 'team',
      kind: 'usd',
      period: 'month',
      held: 0,
      limit: 200,
      resets_at: '2026-03-08T12:00:00Z',
    }
    const budgets = ['a', 'b', 'c', 'd'].map((name) => ({ ...budget, scope: `project:${name}`, used: 42.1 }))
    const shown = await show({ budgets })
    expect(shown).toContain('budgets    project:a: $42.10 of $200.00 a month (policy team), resets in 7 d\n')
    expect(shown).toContain('project:c')
    expect(shown).not.toContain('project:d')
    expect(shown).toContain('more: spgw policies usage\n')
  })

  it('names the cluster that the gateway is a node of, or how to get one', async () => {
    const local = { limits: 'local', records: 'local' }
    expect(await show({ cluster: { id: 'clu_1', ...local } })).toContain('cluster    clu_1\n')
    expect(await show({ cluster: { id: null, ...local } })).toContain('cluster    none yet: spgw cluster init')
    expect(await show({ cluster: null })).not.toContain('cluster')
  })

  it('says of nodes what is known here, of this one too', async () => {
    const nothing = { in_flight: null, traffic: null, degraded: [], clock_ahead_ms: null, draining: null }
    const nodes = ['removed', 'unknown', 'absent', 'present'].map((state, index) => ({
      ...{ ...nothing, name: `gw-${index}`, state },
    }))
    expect(await show({ cluster: { id: 'clu_1', nodes } })).toContain(
      `nodes      gw-0 (this one): removed from the cluster
           gw-1: not known while this node is cut off
           gw-2: not heard of
           gw-3: healthy
`,
    )
    const drained = { ...nothing, name: 'gw-b', state: 'present', draining: true }
    expect(await show({ cluster: { id: 'clu_1', nodes: [...nodes, drained] } })).toContain('gw-b: ▲ out of service\n')
  })

  it('tells of what a node has not shared yet, where there is something', async () => {
    const outbox = { records: 0, since: null, usage: 0, usage_since: null, history: false, trouble: null }
    const showOutbox = (more: object) => show({ cluster: { id: 'clu_1', outbox: { ...outbox, ...more } } })
    expect(await showOutbox({})).not.toContain('not shared yet')
    expect(await showOutbox({ trouble: 'no room' })).toContain(
      'not shared yet: nothing; PostgreSQL takes none: no room',
    )
    expect(await showOutbox({ usage: 3, trouble: 'no room' })).toContain(
      'cluster    clu_1\n           not shared yet: usage of 3 batches or responses: no room\n',
    )
  })

  it('says what is degraded first, and since when', async () => {
    const degraded = [{ part: 'store', since: '2026-03-01T11:50:00Z', reason: 'the disk is full\u001b[2J' }]
    const text = await show({ degraded, set_aside: ['a'], entries_lost: 2 })
    const lines = text.split('\n')
    expect(lines[0]).toContain('degraded, still serving')
    expect(lines[1]).toBe('  store  for 10 min: the disk is full\\u001b[2J')
    expect(text).toMatch(/records .*, 2 lost\nset aside {2}/)
  })

  it.each(['journal', 'isolated', 'membership'])('says that a load balancer sends nothing here: %s', async (part) => {
    const degraded = [{ part, since: '2026-03-01T11:50:00Z', reason: 'it was removed' }]
    expect((await show({ degraded })).split('\n')[0]).toBe('spgw 0.1.0  ▲ not ready: /readyz says 503')
  })

  it('says that a node is out of service, and how it comes back', async () => {
    const degraded = [{ part: 'postgres', since: '2026-03-01T11:50:00Z', reason: 'not reached' }]
    const lines = (await show({ draining: true, degraded })).split('\n')
    expect(lines[0]).toBe(
      'spgw 0.1.0  ▲ out of service, still serving requests that come; to undo: spgw cluster drain --undo',
    )
    expect(lines[1]).toBe('  postgres  for 10 min: not reached')
    expect(await show({ draining: false })).toContain('● healthy')
  })

  it('says that limits are not granted yet, and by when they are', async () => {
    const valkey = { server: 'cache:6379', trouble: null, since: null, meanwhile: 'share' }
    const cluster = { id: 'clu_1', valkey: { ...valkey, opening_until: '2026-03-01T12:01:00Z' } }
    const lines = (await show({ cluster })).split('\n')
    expect(lines[0]).toBe('spgw 0.1.0  ▲ serving; shared limits are not granted yet')
    expect(lines[1]).toMatch(/^ {2}limits {2}not all nodes have said yet/)
    expect(await show({ cluster: { id: 'clu_1', valkey } })).toContain('● healthy')
  })

  it('leaves out what nobody may see or nobody knows', async () => {
    const unknown = { traffic: null, in_flight: null, requests_since_start: null, database_bytes: null }
    const quiet = { requests_per_second: 0, error_share: null, duration_p95_ms: null, usd_per_hour: null }
    expect(await show(unknown)).toMatch(/traffic +–\n/)
    expect(await show({ traffic: quiet })).toMatch(/traffic +0\.0 req\/s {3}3 in flight/)
    expect(await show({ held_bytes: 41_000_000 })).toContain('3 in flight   41 MB of request bodies in memory   18,204')
    expect(await show({ held_bytes: null })).not.toContain('in memory')
    expect(await show({ console_url: null, records_stored_at: null })).toContain('not stored yet')
  })

  it('is one document for programs, and the same words in colour', async () => {
    expect(JSON.parse(await show({}, ['--json']))).toEqual(status)
    const coloured = await runLine(['status'], {
      gateway: { status: () => status },
      environment: { NO_COLOR: '', FORCE_COLOR: '1' },
    })
    expect(stripVTControlCharacters(coloured.io.out())).toBe(await show({}))
  })
})
