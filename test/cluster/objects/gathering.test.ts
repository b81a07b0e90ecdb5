import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type GatheredNode, Gathering } from '../../../src/cluster/objects/gathering.ts'

const runs = 200
const nodes = 4

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Nodes that store names at any time, bring them to PostgreSQL late, answer late, not at all, or die. */
class Simulated {
  readonly random: () => number
  readonly journals = Array.from({ length: nodes }, () => new Set<string>())
  readonly postgres = new Set<string>()
  readonly dead = new Set<number>()
  readonly gathering: Gathering
  #words = 0

  constructor(seed: number, hurried = false) {
    this.random = randomOf(seed)
    this.gathering = new Gathering({
      newWord: () => `w${this.#words++}`,
      members: async () => Array.from({ length: nodes }, (_, id) => this.#member(id)),
      call: async (word) => {
        for (let id = 0; id < nodes; id++) this.#later(() => this.#answer(word, id, hurried))
      },
    })
  }

  #member(id: number): GatheredNode {
    return { id: `n${id}`, name: `n${id}`, silentMs: this.dead.has(id) && this.random() < 0.5 ? 9000 : 100 }
  }

  /** `hurried`: says so before it is there, which is what must be found. */
  #answer(word: string, id: number, hurried: boolean): void {
    if (this.dead.has(id)) return
    const brought = [...(this.journals[id] ?? [])]
    const failure = this.random() < 0.05 ? 'PostgreSQL was lost' : null
    const say = () => this.#later(() => this.gathering.hear(word, `n${id}`, failure))
    if (hurried) say()
    this.#later(() => {
      if (failure === null) for (const name of brought) this.postgres.add(name)
      if (!hurried) say()
    })
  }

  #later(run: () => void): void {
    if (this.random() < 0.03) return
    setTimeout(run, this.random() * 120)
  }
}

/** Names that were made before they were asked for, and that a node then called unknown. */
async function simulate(seed: number, hurried = false): Promise<{ wrong: number; certain: number; failed: number }> {
  const world = new Simulated(seed, hurried)
  const figures = { wrong: 0, certain: 0, failed: 0 }
  const asks: Promise<void>[] = []
  for (let made = 0; made < 30; made++) {
    const id = Math.floor(world.random() * nodes)
    const name = `object ${made}`
    if (!world.dead.has(id)) {
      world.journals[id]?.add(name)
      const asked = world.gathering.gather().then(
        ({ absent }) => {
          if (absent.length > 0) return void figures.failed++
          figures.certain++
          if (!world.postgres.has(name)) figures.wrong++
        },
        () => void figures.failed++,
      )
      asks.push(asked)
    }
    if (world.random() < 0.02) world.dead.add(id)
    await vi.advanceTimersByTimeAsync(world.random() * 200)
  }
  await vi.advanceTimersByTimeAsync(5000)
  await Promise.all(asks)
  return figures
}

it('never calls unknown what any node had stored before it was asked', async () => {
  const sum = { wrong: 0, certain: 0, failed: 0 }
  for (let seed = 0; seed < runs; seed++) {
    const { wrong, certain, failed } = await simulate(seed)
    sum.wrong += wrong
    sum.certain += certain
    sum.failed += failed
  }
  expect(sum.wrong).toBe(0)
  expect(sum.certain).toBeGreaterThan(runs)
  expect(sum.failed).toBeGreaterThan(runs)
})

it('would be found out if a node answered before what it has is there', async () => {
  let wrong = 0
  for (let seed = 0; seed < runs; seed++) wrong += (await simulate(seed, true)).wrong
  expect(wrong).toBeGreaterThan(0)
})

it('names who did not answer, and does not wait for whoever is not heard of or has not begun', async () => {
  const members: GatheredNode[] = [
    { id: 'n1', name: 'gw-a', silentMs: 10 },
    { id: 'n2', name: 'gw-b', silentMs: 60_000 },
    { id: 'n3', name: 'gw-c', silentMs: null },
  ]
  const gathering: Gathering = new Gathering({
    newWord: () => 'word',
    members: async () => members,
    call: async (word) => gathering.hear(word, 'n1', null),
  })
  expect(await gathering.gather()).toEqual({ absent: ['gw-b'] })
  const silent = new Gathering({ newWord: () => 'word', members: async () => members, call: async () => {} })
  const asked = expect(silent.gather()).rejects.toThrow('gw-a did not say in time what it has made')
  await vi.advanceTimersByTimeAsync(1100)
  await asked
})

// A turn of the queue of promises lies between the end of a round and the begin of the next: who asked just then began a third.
it.each([0, 1, 2, 3, 4, 5, 6])(
  'runs one round at a time, whenever somebody asks: %i turns after the end of one',
  async (turns) => {
    const asked: Promise<unknown>[] = []
    const rounds = { begun: 0, ended: 0, most: 0 }
    const gathering: Gathering = new Gathering({
      newWord: () => `w${rounds.begun}`,
      members: async () => {
        rounds.most = Math.max(rounds.most, ++rounds.begun - rounds.ended)
        return [{ id: 'n1', name: 'gw-a', silentMs: 10 }]
      },
      call: async (word) => {
        setTimeout(async () => {
          const isFirst = ++rounds.ended === 1
          gathering.hear(word, 'n1', null)
          for (let turn = 0; isFirst && turn < turns; turn++) await null
          if (isFirst) asked.push(gathering.gather())
        }, 5)
      },
    })
    asked.push(gathering.gather(), gathering.gather())
    await vi.advanceTimersByTimeAsync(2000)
    expect(await Promise.all(asked)).toEqual(Array(3).fill({ absent: [] }))
    expect(rounds.most).toBe(1)
  },
)
