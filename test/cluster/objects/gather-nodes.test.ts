import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GatherNodes, type GatherNodesParts } from '../../../src/cluster/objects/gather-nodes.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const longest = 8000

/** Nodes on one PostgreSQL, which brings each notification to all of them. */
class World {
  readonly nodes: GatherNodes[] = []
  readonly said: string[] = []
  readonly known: { id: string; name: string }[] = []
  isAway = false

  add(name: string, flush: () => Promise<string | null> = async () => null, member: string | null = name): GatherNodes {
    const query = async (text: string, values: string[] = []) => {
      if (this.isAway) throw new Error('connection lost')
      if (text.includes('pg_notify')) this.#notify(values[1] ?? '')
      return { rows: this.known.map((each) => ({ ...each, silent: '10', joined: new Date(0), beat: new Date(0) })) }
    }
    const postgres = { ask: async (run: (client: object) => Promise<unknown>) => await run({ query }) }
    const node = new GatherNodes({
      postgres: postgres as object as GatherNodesParts['postgres'],
      flush,
      member: () => member,
    })
    this.nodes.push(node)
    if (member !== null) this.known.push({ id: member, name })
    return node
  }

  #notify(payload: string): void {
    if (Buffer.byteLength(payload) >= longest) throw new Error('payload string too long')
    this.said.push(payload)
    queueMicrotask(() => {
      for (const node of this.nodes) node.hear(payload)
    })
  }
}

let world: World
beforeEach(() => {
  world = new World()
})

describe('nodes that are asked for what they have', () => {
  it('bring it, and each says so', async () => {
    const flushed: string[] = []
    const a = world.add('a', async () => (flushed.push('a') > 0 ? null : ''))
    world.add('b', async () => (flushed.push('b') > 0 ? null : ''))
    expect(await a.gather()).toEqual({ absent: [] })
    expect(flushed).toEqual(['a', 'b'])
    expect(world.said.map((text) => text.split(' ')[0])).toEqual(['gather', 'gathered', 'gathered'])
  })

  it('say why one of them could not', async () => {
    const a = world.add('a')
    world.add('b', async () => 'the disk is full')
    await expect(a.gather()).rejects.toThrow('the disk is full')
  })

  it('say it in no more than a notification holds, however long it is', async () => {
    const a = world.add('a')
    world.add('b', async () => '漢'.repeat(5000))
    await expect(a.gather()).rejects.toThrow(/^漢+$/)
  })

  it('are named where they do not answer in time', async () => {
    const a = world.add('a')
    world.add('b', () => new Promise(() => {}))
    const asked = expect(a.gather()).rejects.toThrow('b did not say in time what it has made')
    await vi.advanceTimersByTimeAsync(1500)
    await asked
  })

  it('are asked again after PostgreSQL was away', async () => {
    const a = world.add('a')
    world.isAway = true
    await expect(a.gather()).rejects.toThrow('connection lost')
    world.isAway = false
    expect(await a.gather()).toEqual({ absent: [] })
  })
})

it('a node that is alone answers nobody', async () => {
  const alone = world.add('alone', async () => null, null)
  expect(alone.hear('gather word')).toBe(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(world.said).toEqual([])
})

it('what is said of something else is not for it, nor an answer to another question', async () => {
  const a = world.add('a')
  expect(a.hear('7')).toBe(false)
  expect(a.hear('')).toBe(false)
  const asked = a.gather()
  expect(a.hear('gathered otherword a it failed')).toBe(true)
  expect(await asked).toEqual({ absent: [] })
})
