import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { RoleGrant } from '../../src/admin/contract/operators/roles.ts'
import { whyNoBodies } from '../../src/admin/contract/requests/why-no-bodies.ts'
import type { MissingBodies } from '../../src/core/capture.ts'
import type { RequestRecord, Signal } from '../../src/core/record.ts'
import { bodyKeyFor } from '../../src/daemon/body-key.ts'
import type { BodyKey } from '../../src/sealing/body-seal.ts'
import { openCopy, takeCopy } from '../../src/store/backup/backup-copy.ts'
import { samplePolicy } from '../store/support.ts'
import { bodyEntry } from '../support/captured.ts'
import { JournalWriter } from '../support/journal-writer.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { callAs, everywhere } from './call-as.ts'
import { refusal, startTestGateway, type TestGateway, temporaryDirectory } from './gateway.ts'

const said = '{"model":"m","messages":["what nobody else reads"]}'
const wanted = [samplePolicy({ capture: 'full' })]
let segments = 0

async function keyOf({ parts }: TestGateway): Promise<BodyKey> {
  const key = await bodyKeyFor(parts.store, parts.keyring, wanted, null)
  if (key === null) throw new Error('no key was made')
  return key
}

/** A settled request with both its bodies, as a data-plane thread journals them. */
async function capture(gateway: TestGateway, change: Partial<RequestRecord> = {}): Promise<RequestRecord> {
  const record = sampleRecord(change)
  const key = await keyOf(gateway)
  const place = { boot: 'live', thread: 0, sequence: segments++ }
  const writer = new JournalWriter(join(dirname(gateway.databasePath), 'journal'), place)
  writer.write(bodyEntry(key, record.id, 'request', said), bodyEntry(key, record.id, 'answer', '{"text":"hi"}'))
  writer.write({ kind: 'settled', record })
  await gateway.store.ingest()
  return record
}

const show = (gateway: TestGateway, grants: RoleGrant[], id: string, bodies = true) =>
  callAs(gateway.parts, grants, 'requests.show', { id, bodies })

const signal = (capture: string): Signal => ({
  rule: 'capture',
  verdict: 'note',
  text: `p keeps it: ${capture}`,
  data: { policy: 'p', capture },
})
const lost: Signal = { rule: 'capture', verdict: 'note', text: 'The bodies were not kept: x.' }

describe('captured bodies', () => {
  it('are shown to admins of the project, each time with a line, and to nobody else', async () => {
    const gateway = await startTestGateway()
    const own = await gateway.client.projects.show({ name: 'default' })
    const other = await gateway.client.projects.add({ name: 'other' })
    const { id } = await capture(gateway)
    const kept = { bodies: { capture: 'full', request: { content: said }, answer: { content: '{"text":"hi"}' } } }
    const admin = (project: string): RoleGrant => ({ project, role: 'admin' })
    const viewer: RoleGrant = { project: null, role: 'viewer' }
    for (const grants of [everywhere('admin'), everywhere('owner'), [admin(own.id)], [viewer, admin(own.id)]])
      expect(await show(gateway, grants, id)).toMatchObject(kept)
    const lines = await gateway.client.audit.list({ operation: 'requests.show', limit: 10 })
    expect(lines.map(({ resource, actor, after }) => [resource.id, actor, after])).toEqual(
      Array(4).fill([id, 'somebody', { bodies: 'full', project: 'default' }]),
    )
    for (const grants of [everywhere('viewer'), [viewer, admin(other.id)]])
      expect(await refusal(show(gateway, grants, id))).toMatchObject({ code: 'refused' })
    expect(await refusal(show(gateway, [admin(other.id)], id))).toMatchObject({ code: 'not_found' })
    expect(await show(gateway, everywhere('viewer'), id, false)).not.toHaveProperty('bodies')
    expect(await gateway.client.audit.list({ operation: 'requests.show', limit: 10 })).toHaveLength(4)
  })

  it('are read by nobody without an admin of the project knowing, whatever its name is by then', async () => {
    const gateway = await startTestGateway()
    const own = await gateway.client.projects.show({ name: 'default' })
    const other = await gateway.client.projects.add({ name: 'other' })
    const { id } = await capture(gateway)
    await gateway.client.projects.edit({ name: 'default', rename: 'before' })
    await gateway.client.projects.edit({ name: 'other', rename: 'default' })
    await show(gateway, everywhere('owner'), id)
    const seenBy = (project: string) =>
      callAs(gateway.parts, [{ project, role: 'admin' }], 'audit.list', { operation: 'requests.show' })
    expect(await seenBy(own.id)).toMatchObject([{ resource: { id }, actor: 'somebody', project: 'before' }])
    expect(await seenBy(other.id)).toEqual([])
  })

  it('are shown with when they are deleted: by the settings, or sooner where a policy said so', async () => {
    const gateway = await startTestGateway()
    const dayMs = 86_400_000
    const retention = (ms: number): Signal => ({
      ...{ rule: 'bodies_retention', verdict: 'note', text: 'short keeps them.' },
      data: { policy: 'short', bodies_retention_ms: ms },
    })
    const none = { key: null, project: null, environment: null, node: null } as const
    for (const [signals, days] of [
      [[signal('full')], 7],
      [[signal('full'), retention(dayMs)], 1],
      [[signal('redacted'), retention(30 * dayMs)], 7],
      [[signal('none')], null],
      [[signal('full'), lost], null],
      [[], null],
    ] as const) {
      const record = await capture(gateway, { policy_signals: [...signals], time: new Date().toISOString() })
      const until = days === null ? undefined : new Date(Date.parse(record.time) + days * dayMs).toISOString()
      const shown = async (bodies: boolean) =>
        ((await show(gateway, everywhere('owner'), record.id, bodies)) as { bodies_until?: string }).bodies_until
      expect([await shown(false), await shown(true)], JSON.stringify(signals)).toEqual([until, until])
    }
    const past = await capture(gateway, {
      policy_signals: [signal('full'), retention(dayMs)],
      time: new Date(Date.now() - 2 * dayMs).toISOString(),
    })
    expect(await show(gateway, everywhere('owner'), past.id, false)).not.toHaveProperty('bodies_until')
    expect(whyNoBodies({ ...past, ...none }, null)).toEqual({
      reason: 'The bodies have been deleted.',
      hint: 'They are kept for 1d at most, as the policy short said.',
    })
  })

  it('are sent again by nobody who may not read them', async () => {
    const gateway = await startTestGateway()
    const other = await gateway.client.projects.add({ name: 'other' })
    const { id } = await capture(gateway)
    const replay = async (grants: RoleGrant[]) => {
      for await (const _ of (await callAs(gateway.parts, grants, 'requests.replay', { id })) as AsyncIterable<unknown>)
        throw new Error('something was sent')
    }
    expect(await refusal(replay(everywhere('viewer')))).toMatchObject({ code: 'refused' })
    const grants: RoleGrant[] = [
      { project: null, role: 'viewer' },
      { project: other.id, role: 'admin' },
    ]
    expect(await refusal(replay(grants))).toMatchObject({ code: 'refused' })
  })

  it('open after a rotation, which leaves what follows under another key', async () => {
    const gateway = await startTestGateway()
    const before = await capture(gateway)
    const first = await keyOf(gateway)
    await gateway.client.seal.rotate({})
    await gateway.client.seal.rotate({})
    const after = await capture(gateway)
    const second = await keyOf(gateway)
    expect(second.id).not.toBe(first.id)
    expect(second.key).not.toEqual(first.key)
    for (const { id } of [before, after])
      expect(await gateway.client.requests.show({ id, bodies: true })).toMatchObject({
        bodies: { request: { content: said } },
      })
    const { bodies } = await gateway.store.bodies.find(before.id)
    expect(bodies).toMatchObject([{ keyId: first.id }, { keyId: first.id }])
  })

  it('are the same key until it is rotated, and none where no policy wants any', async () => {
    const { parts } = await startTestGateway()
    const { store, keyring } = parts
    const first = await bodyKeyFor(store, keyring, wanted, null)
    expect(await bodyKeyFor(store, keyring, wanted, null)).toEqual(first)
    expect(await bodyKeyFor(store, keyring, wanted, first)).toBe(first)
    for (const capture of ['none', null] as const)
      expect(await bodyKeyFor(store, keyring, [samplePolicy({ capture })], null)).toBeNull()
  })

  it('do not open in another row, nor changed, and say so', async () => {
    const gateway = await startTestGateway()
    const [one, two] = [await capture(gateway), await capture(gateway)]
    const database = new Sqlite(gateway.databasePath)
    const place = (id: string, sealed: unknown) =>
      database.prepare(`update bodies set sealed = ? where id = ? and part = 'request'`).run(sealed, id)
    const sealed = database.prepare(`select sealed from bodies where id = ? and part = 'request'`).pluck()
    const own = sealed.get(one.id) as Buffer
    place(one.id, sealed.get(two.id))
    const broken = { code: 'refused', message: expect.stringContaining('cannot be decrypted') }
    expect(await refusal(gateway.client.requests.show({ id: one.id, bodies: true }))).toMatchObject(broken)
    place(one.id, Buffer.concat([own.subarray(0, -1), Buffer.of((own.at(-1) ?? 0) ^ 1)]))
    expect(await refusal(gateway.client.requests.show({ id: one.id, bodies: true }))).toMatchObject(broken)
    place(one.id, own)
    expect(await gateway.client.requests.show({ id: one.id, bodies: true })).toMatchObject({
      bodies: { capture: 'full' },
    })
    database.close()
  })

  it.each<[string, Partial<RequestRecord>, RegExp, RegExp, MissingBodies?]>([
    ['without a policy', {}, /^No policy captured/, /--capture full --attach key:default\/production\/ci$/],
    [
      'where one keeps none',
      { policy_signals: [signal('none')] },
      /^p keeps it: none/,
      /policies edit p --capture full$/,
    ],
    ['before the end', { state: 'admitted', policy_signals: [signal('full')] }, /still in progress/, /finished/],
    ['after their time', { policy_signals: [signal('full')] }, /have been deleted/, /records\.bodies_retention/],
    [
      'before another node has brought them',
      { node: 'gw-2', policy_signals: [signal('full')] },
      /not in PostgreSQL yet\. Only node gw-2/,
      /^Ask that node, or try again later/,
      'unshipped',
    ],
    [
      'while PostgreSQL is away',
      { node: 'gw-2', policy_signals: [signal('full')] },
      /^The bodies are not on this node, and PostgreSQL cannot be reached/,
      /ask node gw-2/,
      'unreachable',
    ],
    ['where they were lost', { policy_signals: [signal('full'), lost] }, /^The bodies were not kept: x/, /spgw status/],
  ])('say why they are not there %s', (_, change, reason, hint, missing) => {
    const told = whyNoBodies(sampleRecord(change), missing ?? null)
    expect(told.reason).toMatch(reason)
    expect(told.hint).toMatch(hint)
  })
})

describe('in a backup', () => {
  async function copyOf(gateway: TestGateway) {
    const path = join(temporaryDirectory(), 'copy.db')
    takeCopy({ path: gateway.databasePath, nativeBinding: undefined }, path)
    const copy = openCopy({ path, nativeBinding: undefined })
    const count = () => {
      const database = new Sqlite(path)
      const found = database.prepare('select count(*) from bodies').pluck().get()
      database.close()
      return found
    }
    return { copy, count }
  }

  it('captured bodies go with the records, and with the key that opens them', async () => {
    const gateway = await startTestGateway()
    await capture(gateway)
    const { id } = await keyOf(gateway)
    const { copy, count } = await copyOf(gateway)
    expect((await copy.sealed()).map(({ identity }) => identity)).toContain(`bodies:${id}`)
    expect(count()).toBe(2)
    await copy.reseal([], [`bodies:${id}`])
    expect(count()).toBe(0)
    await copy.close()
  })

  it.each([
    [{ records: true, credentials: false }, 0],
    [{ records: false, credentials: true }, 0],
    [{ records: false, credentials: false }, 2],
  ])('that leaves behind %o are %i', async (what, left) => {
    const gateway = await startTestGateway()
    await capture(gateway)
    const { copy, count } = await copyOf(gateway)
    await copy.leaveBehind(what)
    expect(count()).toBe(left)
    await copy.close()
  })
})

it('a key that is made while the machine key is rotated is refused, and the one before goes on', async () => {
  const { parts } = await startTestGateway()
  const { store, keyring } = parts
  const now = { id: 'older', key: new Uint8Array(32) }
  const stale = {
    bodies: { ...store.bodies, setKey: (id: string) => store.bodies.setKey(id, 'spgw1:other:x:y', null) },
  }
  await store.seal.setWitness(keyring.seal('spgw', 'witness'))
  expect(await bodyKeyFor(stale, keyring, wanted, now)).toBe(now)
})

it('a key that another node makes in the meantime is the one of both', async () => {
  const { parts } = await startTestGateway()
  const { store, keyring } = parts
  const first = await bodyKeyFor(store, keyring, wanted, null)
  const unaware = { bodies: { ...store.bodies, key: async () => null } }
  expect(await bodyKeyFor(unaware, keyring, wanted, null)).toEqual(first)
  expect(await bodyKeyFor(store, keyring, wanted, null)).toEqual(first)
})
