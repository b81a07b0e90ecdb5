import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Membership, type MembershipParts } from '../../src/cluster/membership.ts'
import type { ClusterPeer } from '../../src/cluster/protocol.ts'
import { Secret } from '../../src/core/secrets/secret.ts'
import { StoreConflict, StoreReadOnly } from '../../src/store/store-error.ts'

const self = { cluster: 'clu_1', member: 'nod_a', incarnation: 'one' }
const peer = (id: string, name: string): ClusterPeer => ({
  ...{ id, name, version: '1', applied: 1, heardAt: null, silentMs: 0 },
})

/** A node, its store and PostgreSQL, as far as memberships need them: all that is done is noted in its order. */
class World {
  readonly done: string[] = []
  state: typeof self | null = self
  trouble: string | null = null
  isOut = false
  members = [peer('nod_a', 'gw-a'), peer('nod_b', 'gw-b')]
  /** By question: what it is answered, or what it throws. */
  answers: Record<string, unknown> = {}
  /** What the gateway holds of its own. */
  held: Record<string, unknown[]> = { providers: [], routes: [], policies: [], keys: [] }
  failure: Error | null = null
  readonly membership: Membership

  constructor() {
    const world = this
    const node = {
      get state() {
        return world.state
      },
      get trouble() {
        return world.trouble
      },
      get isOut() {
        return world.isOut
      },
      self,
      link: { ask: (name: string, input: unknown) => this.#answer(name, input) },
      listMembers: async () => this.members,
      catchUp: async () => void this.done.push('catch up'),
      standAlone: () => void this.done.push('stand alone'),
      stand: () => void this.done.push('stand'),
      settled: async () => {},
    }
    const store = {
      share: (by: unknown) => void this.done.push(by === null ? 'store alone' : 'store waits'),
      replica: async ({ act, ...more }: { act: string; records?: unknown[] }) => {
        this.done.push(`store ${act}${JSON.stringify(more) === '{}' ? '' : ` ${JSON.stringify(more)}`}`)
        return more.records?.length
      },
      snapshot: async () => this.held,
      operators: { list: async () => this.held.operators ?? [] },
    }
    const parts = {
      ...{ node, store, name: 'gw-a', dataDirectory: '/nowhere' },
      keyring: { describe: () => ({ source: 'key' }) },
      publish: async () => {},
      releaseBudgets: async () => {
        this.done.push('release budgets')
        if (this.failure !== null) throw this.failure
      },
      takeSpent: () => void this.done.push('take spent'),
    }
    this.membership = new Membership(parts as object as MembershipParts)
  }

  async #answer(name: string, input: unknown): Promise<unknown> {
    this.done.push(`ask ${name}`)
    const known = this.answers[name]
    const answer = typeof known === 'function' ? known(input) : known
    if (answer instanceof Error) throw answer
    return name === 'members' ? this.members : (answer ?? null)
  }
}

let world: World
beforeEach(() => {
  world = new World()
})

const refusal = async (run: Promise<unknown>) => {
  const error = await run.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Error)) throw new Error('it was not refused')
  return error
}

describe('a node that leaves', () => {
  it('hands back what it has before it is no member any more', async () => {
    await world.membership.leave()
    expect(world.done).toEqual([
      ...['ask members', 'catch up', 'release budgets', 'ask ship', 'ask leave'],
      ...['store leave {"spent":[]}', 'stand alone'],
    ])
  })

  it('stays where what it has cannot be handed back, and leaves when that is over', async () => {
    world.failure = new StoreReadOnly('PostgreSQL was not reached')
    expect((await refusal(world.membership.leave())).message).toBe('PostgreSQL was not reached')
    expect(world.done).not.toContain('ask leave')
    world.failure = null
    await world.membership.leave()
    expect(world.done.at(-1)).toBe('stand alone')
  })

  it('is not the last one', async () => {
    world.members = [peer('nod_a', 'gw-a')]
    expect(await refusal(world.membership.leave())).toMatchObject({ hint: 'To end the cluster: spgw cluster dissolve' })
    expect(world.done).toEqual(['ask members'])
  })

  it('and was removed before asks PostgreSQL for nothing', async () => {
    Object.assign(world, { isOut: true, trouble: 'this node was removed from the cluster' })
    await world.membership.leave()
    expect(world.done).toEqual(['store leave {"spent":[]}', 'stand alone'])
  })

  it.each([
    ['leave', (of: Membership) => of.leave()],
    ['hand back', (of: Membership) => of.handBack()],
    ['dissolve', (of: Membership) => of.dissolve()],
    ['remove', (of: Membership) => of.remove('gw-b', false)],
    ['invite', (of: Membership) => of.invite()],
  ])('cannot %s where it is no member, nor while PostgreSQL is away', async (_what, run) => {
    world.state = null
    expect(await refusal(run(world.membership))).toBeInstanceOf(StoreConflict)
    Object.assign(world, { state: self, trouble: 'PostgreSQL was not reached' })
    expect(await refusal(run(world.membership))).toBeInstanceOf(StoreReadOnly)
    expect(world.done).toEqual([])
  })
})

describe('the last node', () => {
  beforeEach(() => {
    world.members = [peer('nod_a', 'gw-a')]
    world.answers = { 'spent-by-others': [{ budget: 1 }] }
  })

  it('goes on with the records, bodies and objects of all, page by page, and is alone before the cluster is forgotten', async () => {
    const pages = (key: string, last: unknown[]) => {
      let at = 0
      return () => (at < last.length ? { [key]: [at], last: last[at++] } : null)
    }
    Object.assign(world.answers, {
      'read-others': pages('records', ['req_1', 'req_2']),
      'read-other-bodies': pages('bodies', [['req_1', 'request']]),
      'read-objects': pages('changes', ['file']),
    })
    expect(await world.membership.dissolve()).toBe(2)
    expect(world.done).toEqual([
      ...['ask members', 'catch up', 'release budgets', 'ask ship'],
      ...['ask read-others', 'store take-over {"records":[0]}', 'ask read-others', 'store take-over {"records":[1]}'],
      ...['ask read-others', 'ask read-other-bodies', 'store take-over-bodies {"bodies":[0]}', 'ask read-other-bodies'],
      ...['ask read-objects', 'store take-over-objects {"changes":[0]}', 'ask read-objects', 'ask spent-by-others'],
      ...['store leave {"spent":[{"budget":1}]}', 'stand alone', 'take spent', 'ask unfound'],
    ])
  })

  it('stays a member where anything of it fails, and can ask again', async () => {
    const page = { records: [0], last: 'req_1' }
    let left = [page, new StoreReadOnly('connection lost'), page, null]
    world.answers['read-others'] = () => left.shift()
    expect((await refusal(world.membership.dissolve())).message).toBe('connection lost')
    expect(world.done).not.toContain('stand alone')
    left = [page, null]
    expect(await world.membership.dissolve()).toBe(1)
    expect(world.done).toContain('stand alone')
  })

  it('is alone also where PostgreSQL cannot forget the cluster, and says what is left', async () => {
    world.answers.unfound = new Error('permission denied')
    expect(await refusal(world.membership.dissolve())).toMatchObject({
      message: 'this gateway is alone again, but PostgreSQL still holds the cluster (permission denied)',
      hint: 'Drop it there, as the owner of the schema: drop schema spgw cascade',
    })
    expect(world.done.slice(-3)).toEqual(['stand alone', 'take spent', 'ask unfound'])
  })

  it('is none while others are members', async () => {
    world.members = [peer('nod_a', 'gw-a'), peer('nod_b', 'gw-b'), peer('nod_c', 'gw-c')]
    expect(await refusal(world.membership.dissolve())).toMatchObject({
      message: 'other nodes are members (gw-b, gw-c)',
      hint: 'First, on each of them: spgw cluster leave. For one that does not come back: spgw cluster remove NODE',
    })
    expect(world.done).toEqual(['ask members'])
  })
})

describe('a node that is removed', () => {
  it('is another one, which the cluster has', async () => {
    expect(await refusal(world.membership.remove('gw-a', false))).toMatchObject({
      hint: 'To take it out: spgw cluster leave',
    })
    expect(world.done).toEqual([])
    world.answers.remove = null
    expect((await refusal(world.membership.remove('gw-x', false))).message).toBe('the cluster has no node gw-x')
    world.answers.remove = peer('nod_b', 'gw-b')
    await world.membership.remove('gw-b', true)
    expect(world.done).toEqual(['ask remove', 'ask remove'])
  })
})

describe('a gateway that founds a cluster', () => {
  beforeEach(() => {
    world.state = null
  })

  it('finds no other in its database, and says what to do about one', async () => {
    world.answers.find = { cluster: 'clu_2', sequence: 1, members: [peer('nod_b', 'gw-b'), peer('nod_c', 'gw-c')] }
    expect(await refusal(world.membership.found())).toMatchObject({
      name: 'StoreConflict',
      message: 'the database at cluster.postgres has a cluster already, of gw-b, gw-c',
      hint: expect.stringMatching(/spgw cluster join TOKEN.*drop schema spgw cascade$/),
    })
    world.answers.find = { cluster: 'clu_2', sequence: 1, members: [{ ...peer('nod_x', 'gw-a'), heardAt: 'now' }] }
    expect((await refusal(world.membership.found())).message).toContain('has a cluster already, of gw-a')
    expect(new Set(world.done)).toEqual(new Set(['ask find']))
  })
})

describe('a node that joins', () => {
  const token = `sp_join_clu_1.invite.${'s'.repeat(43)}`
  beforeEach(() => {
    world.state = null
    world.answers = { find: { cluster: 'clu_1', sequence: 1, members: [peer('nod_b', 'gw-b')] }, 'ask-join': true }
  })
  const join = (text = token) => refusal(world.membership.join(new Secret(text)))

  it.each([
    '',
    'sp_join_',
    'sp_join_clu_1',
    `sp_join_clu_1.invite.${'s'.repeat(42)}`,
    `sp_join_clu_1..${'s'.repeat(43)}`,
    `sp_join_CLU.invite.${'s'.repeat(43)}`,
    `${token}.more`,
    token.replace('sp_join_', 'sp_'),
  ])('has an invitation, which %j is not', async (text) => {
    expect((await join(text)).message).toContain('this is not an invitation')
    expect(world.done).toEqual([])
  })

  it('finds the cluster that it was invited to, with no node of its name', async () => {
    world.answers.find = null
    expect((await join()).message).toContain('does not hold the cluster of this invitation')
    world.answers.find = { cluster: 'clu_2', sequence: 1, members: [] }
    expect((await join(`  ${token}\n`)).message).toContain('does not hold the cluster of this invitation')
    world.answers.find = { cluster: 'clu_1', sequence: 1, members: [peer('nod_x', 'gw-a')] }
    expect(await join()).toMatchObject({ message: 'the cluster already has a node gw-a' })
    expect(new Set(world.done)).toEqual(new Set(['ask find']))
  })

  it.each(['providers', 'routes', 'policies', 'keys', 'operators'])('holds no %s of its own', async (what) => {
    world.held[what] = [{}]
    expect((await join()).message).toContain(`this gateway has ${what} of its own`)
    expect(world.done).toEqual([])
  })

  it('has an invitation that nobody has used, and that is the one that was given', async () => {
    world.answers['ask-join'] = false
    expect((await join()).message).toBe('the invitation has expired, or was already used')
    Object.assign(world.answers, { 'ask-join': true, 'read-answer': '' })
    expect((await join()).message).toContain('the node that made the invitation rejected this one')
    expect(world.done).not.toContain('stand')
  })

  it('asks for another invitation where nobody answers it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const joined = join()
    await vi.advanceTimersByTimeAsync(21_000)
    expect(await joined).toMatchObject({
      message: 'the node that made the invitation does not answer; a restart ends its invitations',
      hint: expect.stringContaining('spgw cluster invite'),
    })
  })

  it('is no member of a cluster already', async () => {
    world.state = self
    expect((await join()).message).toBe('this gateway is already a member of a cluster')
    expect((await refusal(world.membership.found())).message).toBe('this gateway is already a member of a cluster')
  })
})

it('changes memberships one after the other, also after one that failed', async () => {
  const turns = [
    world.membership.handBack(),
    refusal(world.membership.join(new Secret('nothing'))),
    world.membership.handBack(),
  ]
  await Promise.all(turns)
  const once = ['catch up', 'release budgets', 'ask ship']
  expect(world.done).toEqual([...once, ...once])
})
