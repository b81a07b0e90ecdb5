import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { type RevocationParts, Revocations } from '../../src/cluster/revocations.ts'
import { type Keyring, makeKeyring } from '../../src/sealing/keyring.ts'
import { machineKeyOf } from '../../src/sealing/machine-key.ts'
import type { ReplicaRequest, TakenAway } from '../../src/store/replica/replica-types.ts'

const time = '2026-03-10T12:00:00Z'

function takenAway(token: string): TakenAway {
  const change = { name: 'keys', key: token, op: 'set', patch: { revoked_at: time } } as const
  return { token, changes: [change], audit: null, projectId: null, time }
}

/** What nodes tell each other, in the order in which they do. */
let wire: { from: string; text: string; keeps: boolean }[]
let keyring: Keyring

beforeEach(() => {
  wire = []
  keyring = makeKeyring(machineKeyOf(randomBytes(32), 'test'))
})

/** A node with what its store holds; what it publishes is noted. */
class Node {
  readonly name: string
  readonly known = new Set<string>()
  readonly published: number[] = []
  readonly warnings: string[] = []
  news = 0
  waiting: TakenAway[] = []
  self: { cluster: string; member: string } | null
  failure: Error | null = null
  publishing: Promise<void> = Promise.resolve()
  readonly revocations: Revocations

  constructor(name: string, sealing = keyring, cluster = 'clu_1') {
    this.name = name
    this.self = { cluster, member: name }
    const replica = async (request: ReplicaRequest) => {
      if (this.failure !== null) throw this.failure
      if (request.act === 'waiting') return this.waiting
      if (request.act !== 'hear') throw new Error(`nobody asks for ${request.act}`)
      const before = this.known.size
      for (const { token } of request.taken) this.known.add(token)
      return this.known.size > before
    }
    this.revocations = new Revocations({
      store: { replica: replica as RevocationParts['store']['replica'] },
      withReserve: (change) => change(),
      keyring: sealing,
      self: () => this.self,
      publish: async () => {
        this.published.push(this.known.size)
        await this.publishing
      },
      notify: (text, keeps) => void wire.push({ from: name, text, keeps }),
      onNews: () => void this.news++,
      log: { warn: (message, { reason }) => void this.warnings.push(`${message}: ${reason}`) },
    })
  }

  /** Resolves when it has heard them, and what that made it tell is on the wire. */
  async hear(...texts: string[]): Promise<void> {
    this.revocations.hear(texts)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** All that is on the wire comes to all nodes, also what they answer, as one Valkey would bring it. */
async function deliver(...nodes: Node[]): Promise<void> {
  while (wire.length > 0) {
    const texts = wire.splice(0).map(({ text }) => text)
    for (const node of nodes) await node.hear(...texts)
  }
}

describe('what was revoked on one node', () => {
  it('is taken away on all others, which say that they have it', async () => {
    const [a, b, c] = [new Node('a'), new Node('b'), new Node('c')]
    a.revocations.announce('key_1', takenAway('t1'))
    expect(wire).toMatchObject([{ from: 'a', keeps: true }])
    await deliver(a, b, c)
    expect([b, c].map(({ known, published, news }) => [[...known], published, news])).toEqual([
      [['t1'], [1], 1],
      [['t1'], [1], 1],
    ])
    expect(a.revocations.find('key_1')).toMatchObject({ token: 't1', has: new Set(['b', 'c']), sequence: null })
    // It has it already, and asks nobody to publish its own.
    expect([a.published, a.news]).toEqual([[], 0])
  })

  it('is said to be there only once every thread has it', async () => {
    const [a, b] = [new Node('a'), new Node('b')]
    a.revocations.announce('key_1', takenAway('t1'))
    const [{ text = '' } = {}] = wire.splice(0)
    const published = Promise.withResolvers<void>()
    b.publishing = published.promise
    await b.hear(text)
    expect([b.published, wire, b.news]).toEqual([[1], [], 0])
    published.resolve()
    await b.hear()
    expect([wire.length, b.news]).toEqual([1, 1])
  })

  it('is said to be there also by who hears of it again, and published once', async () => {
    const [a, b] = [new Node('a'), new Node('b')]
    a.revocations.announce('key_1', takenAway('t1'))
    const [{ text = '' } = {}] = wire.splice(0)
    await b.hear(text)
    await b.hear(text)
    expect(wire.map(({ from, keeps }) => [from, keeps])).toEqual([
      ['b', false],
      ['b', false],
    ])
    expect([b.published, b.news]).toEqual([[1], 1])
  })

  it('is told again for as long as PostgreSQL does not have it', async () => {
    const [a, b] = [new Node('a'), new Node('b')]
    a.waiting = [takenAway('t1'), { ...takenAway('t2'), changes: [] }, takenAway('t3')]
    await a.revocations.repeat()
    await deliver(a, b)
    expect([...b.known]).toEqual(['t1', 't3'])
    a.self = null
    await a.revocations.repeat()
    expect(wire).toEqual([])
  })

  it('has its number once PostgreSQL has it, by whatever it was revoked', () => {
    const a = new Node('a')
    a.revocations.announce('key_1', takenAway('t1'))
    a.revocations.announce('key_2', takenAway('t1'))
    a.revocations.announce('key_3', takenAway('t3'))
    a.revocations.noteAppended('t1', 7)
    const sequences = ['key_1', 'key_2', 'key_3', 'key_4'].map((subject) => a.revocations.find(subject)?.sequence)
    expect(sequences).toEqual([7, 7, null, undefined])
  })

  it('is remembered for the last thousand', () => {
    const a = new Node('a')
    for (let number = 0; number < 1001; number++) a.revocations.announce(`key_${number}`, takenAway(`t${number}`))
    expect(a.revocations.find('key_0')).toBeNull()
    expect(a.revocations.find('key_1')).not.toBeNull()
    expect(a.revocations.find('key_1000')).not.toBeNull()
  })

  // Sessions of one operator are ended again and again.
  it('again is the newest, and takes no other’s place', () => {
    const a = new Node('a')
    for (let number = 0; number < 1000; number++) a.revocations.announce(`key_${number}`, takenAway(`t${number}`))
    a.revocations.announce('key_500', takenAway('again'))
    expect([a.revocations.find('key_500')?.token, a.revocations.find('key_0')?.token]).toEqual(['again', 't0'])
    for (let number = 1000; number < 1999; number++) a.revocations.announce(`key_${number}`, takenAway(`t${number}`))
    expect([a.revocations.find('key_500')?.token, a.revocations.find('key_999')]).toEqual(['again', null])
  })
})

describe('a message over Valkey', () => {
  it('shows nothing of what was revoked', () => {
    // Long enough never to stand in a sealed text by chance.
    new Node('a').revocations.announce('key_of_nobody', takenAway('token of nobody'))
    expect(wire[0]?.text).toMatch(/./)
    expect(wire[0]?.text).not.toMatch(/token of nobody|key_of_nobody|revoked/)
  })

  it('of another cluster, of another key or of nobody is passed over, and the rest is heard', async () => {
    const a = new Node('a')
    const other = new Node('x', keyring, 'clu_2')
    const foreign = new Node('y', makeKeyring(machineKeyOf(randomBytes(32), 'other')))
    for (const [node, token] of [
      [other, 't1'],
      [foreign, 't2'],
      [a, 't3'],
    ] as const)
      node.revocations.announce(`key ${token}`, takenAway(token))
    const texts = wire.splice(0).map(({ text }) => text)
    const b = new Node('b')
    await b.hear('nonsense', ...texts)
    expect([...b.known]).toEqual(['t3'])
    expect(b.warnings).toHaveLength(3)
    expect(b.warnings.every((each) => each.startsWith('a message over Valkey is not of this cluster'))).toBe(true)
  })

  it('is nothing to a node that is alone', async () => {
    const [a, b] = [new Node('a'), new Node('b')]
    a.revocations.announce('key_1', takenAway('t1'))
    b.self = null
    await deliver(b)
    expect([[...b.known], b.warnings]).toEqual([[], []])
  })

  it('that the store does not take is said, and the next is heard', async () => {
    const [a, b] = [new Node('a'), new Node('b')]
    a.revocations.announce('key_1', takenAway('t1'))
    b.failure = new Error('the disk is full')
    await deliver(b)
    expect(b.warnings).toEqual([expect.stringContaining('the disk is full')])
    b.failure = null
    a.waiting = [takenAway('t1')]
    await a.revocations.repeat()
    await deliver(a, b)
    expect([...b.known]).toEqual(['t1'])
    expect(a.revocations.find('key_1')?.has).toEqual(new Set(['b']))
  })
})

it('all nodes have what any of them revoked, however often and in whatever order messages come', async () => {
  const message = fc.record({ text: fc.nat(5), to: fc.nat(2), times: fc.integer({ min: 1, max: 3 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 12 }), async (early) => {
      wire = []
      const nodes = ['a', 'b', 'c'].map((name) => new Node(name))
      for (let number = 0; number < 6; number++) {
        const node = nodes[number % 3]
        node?.revocations.announce(`key_${number}`, takenAway(`t${number}`))
        node?.known.add(`t${number}`)
      }
      const texts = wire.map(({ text }) => text)
      for (const { text, to, times } of early)
        for (let time = 0; time < times; time++) await nodes[to]?.hear(texts[text] ?? '')
      await deliver(...nodes)
      for (const node of nodes) expect([...node.known].sort()).toEqual(['t0', 't1', 't2', 't3', 't4', 't5'])
      for (let number = 0; number < 6; number++) {
        const others = ['a', 'b', 'c'].filter((_, at) => at !== number % 3)
        expect([...(nodes[number % 3]?.revocations.find(`key_${number}`)?.has ?? [])].sort()).toEqual(others)
      }
      expect(nodes.flatMap(({ warnings }) => warnings)).toEqual([])
    }),
    { numRuns: 25 },
  )
})
