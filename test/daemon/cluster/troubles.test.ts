import { describe, expect, it, vi } from 'vitest'
import type { ClusterNode } from '../../../src/cluster/node.ts'
import type { OutboxReport } from '../../../src/cluster/protocol.ts'
import { notYet, removed } from '../../../src/cluster/troubles.ts'
import { SharedRecords } from '../../../src/daemon/cluster/shared-records.ts'
import { ClusterTroubles } from '../../../src/daemon/cluster/troubles.ts'
import type { StoreClient } from '../../../src/store/api.ts'

describe('what of a cluster is degraded', () => {
  const report: OutboxReport = {
    ...{ depth: 3, since: '2026-01-01T00:00:00.000Z', history: false, trouble: 'no room' },
    ...{ usage: 0, usageSince: null, isRefused: false },
  }
  const records = () => new SharedRecords({ node: 'gw-a', keepMs: 1, keepBodiesMs: 1 }, {} as StoreClient)

  function listen(isolationMs: number | null, own: SharedRecords | null, isMember = true) {
    const said: string[] = []
    const now = { isMember, trouble: null as string | null, apart: null as string | null, hasKeys: false }
    const state = () => (now.isMember ? ({} as ClusterNode['state']) : null)
    const node = () => ({ state: state(), trouble: now.trouble, isOut: now.trouble === removed, apart: now.apart })
    const troubles = new ClusterTroubles({ isolationMs, valkey: null }, own, { node, hasKeys: () => now.hasKeys })
    troubles.listen((part, reason) => said.push(`${part}: ${reason}`), null)
    return { troubles, said, now }
  }

  it('is said of PostgreSQL, and of records where they are shared', () => {
    const { troubles, said, now } = listen(null, records())
    now.apart = 'no route'
    troubles.notePostgres('no route')
    now.apart = null
    troubles.notePostgres(null)
    expect(said.filter((each) => !/^(isolated|membership)/.test(each))).toEqual([
      ...['postgres: null', 'postgres: no route', 'records: no route', 'postgres: null', 'records: null'],
    ])
    const alone = listen(null, null)
    alone.troubles.notePostgres('no route')
    expect(alone.said).not.toContain('records: no route')
  })

  it('is the isolation of a member, and of nobody else', () => {
    const member = listen(0, null)
    member.troubles.notePostgres('no route')
    expect(member.said.at(-1)).toMatch(/^isolated: requests are refused/)
    member.troubles.notePostgres(null)
    expect(member.said.at(-1)).toBe('isolated: null')
    const alone = listen(0, null, false)
    alone.troubles.notePostgres('no route')
    expect(alone.said.at(-1)).toBe('isolated: null')
  })

  it('is that a gateway which serves nobody has not joined yet, and no longer once it has, or has keys of its own', () => {
    const { troubles, said, now } = listen(null, null, false)
    troubles.look()
    expect(said.at(-1)).toMatch(/^membership: .*not joined .*: spgw cluster join TOKEN/)
    now.hasKeys = true
    troubles.look()
    expect(said.at(-1)).toBe('membership: null')
    now.hasKeys = false
    now.isMember = true
    troubles.look()
    expect(said.at(-1)).toBe('membership: null')
  })

  it('is that others have removed this node, as soon as it hears of it, until it goes on alone', () => {
    const { troubles, said, now } = listen(null, null)
    now.trouble = removed
    troubles.notePostgres(removed)
    expect(said.findLast((each) => each.startsWith('membership'))).toMatch(
      /^membership: this node was removed .*: stop it, .* spgw cluster leave/,
    )
    Object.assign(now, { isMember: false, trouble: null, hasKeys: true })
    troubles.notePostgres(null)
    expect(said).toContain('membership: null')
  })

  it('is of a removed node that it shows its own records, whatever a reading that was under way says', () => {
    const { troubles, said, now } = listen(null, records())
    Object.assign(now, { trouble: removed, apart: removed })
    troubles.notePostgres(removed)
    for (const met of [null, removed, null]) troubles.reading.onApart(met)
    expect(troubles.reading.out()).toBe(removed)
    troubles.notePostgres(removed)
    const ofRecords = said.filter((each) => each.startsWith('records'))
    expect(ofRecords).toHaveLength(5)
    expect(new Set(ofRecords).size).toBe(1)
    expect(ofRecords[0]).toMatch(
      /^records: this node was removed .* own requests only: see those of all on another node, and stop this one, or/,
    )
    Object.assign(now, { isMember: false, trouble: null, apart: null })
    troubles.notePostgres(null)
    expect(said).toContain('records: null')
  })

  it('is that a node which is cut off reads its own records alone, though a standby would answer', () => {
    const { troubles, now } = listen(null, records())
    now.apart = notYet
    expect(troubles.reading.out()).toBeNull()
    now.apart = 'PostgreSQL cannot be used: it is a standby'
    expect(troubles.reading.out()).toBe(now.apart)
    now.apart = null
    expect(troubles.reading.out()).toBeNull()
  })

  it('is nothing of the records where only a change cannot be made: they are read', () => {
    const { troubles, said } = listen(null, records())
    troubles.notePostgres('a change of the cluster cannot be applied here')
    expect(said).toContain('records: null')
    troubles.noteRecords('a reading failed')
    expect(said.at(-1)).toBe('records: a reading failed')
    // The same is found each second: a right that is missing there keeps readings out as well.
    troubles.notePostgres('a change of the cluster cannot be applied here')
    expect(said.filter((each) => each.startsWith('records')).at(-1)).toBe('records: a reading failed')
    troubles.notePostgres(null)
    expect(said.filter((each) => each.startsWith('records')).at(-1)).toBe('records: null')
  })

  it('is a PostgreSQL that takes long at a start, and only then', () => {
    const { troubles, said, now } = listen(null, null)
    now.trouble = notYet
    troubles.look()
    expect(said).not.toContain(`postgres: ${notYet}`)
    troubles.look(performance.now() + 6000)
    expect(said).toContain(`postgres: ${notYet}`)
  })

  it('is that nobody knows what waits, on a member alone', () => {
    const own = records()
    vi.spyOn(own, 'findSilence').mockReturnValue('the cluster thread is stuck')
    const { troubles, said, now } = listen(null, own, false)
    troubles.look()
    expect(said).not.toContain('outbox: the cluster thread is stuck')
    now.isMember = true
    troubles.look()
    expect(said).toContain('outbox: the cluster thread is stuck')
  })

  it('is what waits for PostgreSQL, while it is old', () => {
    const { troubles, said } = listen(null, records())
    troubles.hear(report)
    expect(said.at(-1)).toMatch(/^outbox: 3 records wait for PostgreSQL, .*: no room$/)
    troubles.hear({ ...report, since: null, depth: 0 })
    expect(said.at(-1)).toBe('outbox: null')
  })
})
