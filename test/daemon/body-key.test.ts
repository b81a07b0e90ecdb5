import { describe, expect, it } from 'vitest'
import { bodyKeyFor } from '../../src/daemon/body-key.ts'
import type { Keyring } from '../../src/sealing/keyring.ts'
import { SealBroken } from '../../src/sealing/seal-error.ts'
import type { StoreClient } from '../../src/store/api.ts'
import { StoreConflict } from '../../src/store/store-error.ts'
import { makePolicy } from '../support/snapshot.ts'

const captures = [makePolicy('p', { capture: 'full' })]

/** What the store has of each machine key, and a keyring whose machine key is `id`. */
function makeParts(id: string, standing: Record<string, string> = {}) {
  let sets = 0
  const parts = {
    /** Another node that was first, or a fault. */
    before: (): void => {},
    bodies: {
      key: async (of: string) => standing[of] ?? null,
      setKey: async (of: string, sealed: string, expected: string | null) => {
        sets++
        parts.before()
        if ((standing[of] ?? null) === expected) standing[of] = sealed
        return standing[of]
      },
    },
  }
  const keyring = {
    describe: () => ({ keyId: id }),
    seal: (text: string) => `${id}:${text}`,
    open: (sealed: string) => {
      if (sealed === 'wrong') throw new TypeError('not a fault of sealing')
      if (!sealed.startsWith(`${id}:`)) throw new SealBroken('it does not open', '')
      return { reveal: () => sealed.slice(id.length + 1) }
    },
  }
  const find = (policies = captures, now: Parameters<typeof bodyKeyFor>[3] = null, caches = false) =>
    bodyKeyFor(parts as unknown as Pick<StoreClient, 'bodies'>, keyring as unknown as Keyring, policies, now, caches)
  return { find, parts, standing, sets: () => sets }
}

describe('the key that bodies are sealed with', () => {
  it.each([
    ['no policy', [], false, false],
    ['policies that keep none', [makePolicy('p', { capture: 'none' }), makePolicy('q')], false, false],
    ['one that keeps them masked', [makePolicy('p'), makePolicy('q', { capture: 'redacted' })], false, true],
    ['one that keeps them whole', captures, false, true],
    ['a route that keeps answers', [], true, true],
  ])('is made where it is wanted: %s', async (_what, policies, caches, made) => {
    const { find, sets } = makeParts('k1')
    expect((await find(policies, null, caches)) !== null).toBe(made)
    expect(sets()).toBe(made ? 1 : 0)
  })

  it('is made once for each machine key, and the one in use is asked of nobody', async () => {
    const { find, parts, standing, sets } = makeParts('k1')
    const [first, second] = [await find(), await find()]
    expect(first?.key).toHaveLength(32)
    expect(second).toEqual(first)
    expect(sets()).toBe(1)
    parts.bodies.key = () => Promise.reject(new Error('asked'))
    expect(await find(captures, first)).toBe(first)
    const rotated = await makeParts('k2', standing).find(captures, first)
    expect(rotated).toMatchObject({ id: 'k2' })
    expect(rotated?.key).not.toEqual(first?.key)
  })

  it('that does not open is replaced', async () => {
    const { find, standing } = makeParts('k1', { k1: 'sealed by another' })
    expect(await find()).toMatchObject({ id: 'k1' })
    expect(standing.k1).toMatch(/^k1:/)
  })

  it('is that of the node that was first', async () => {
    const { find, parts, standing } = makeParts('k1')
    parts.before = () => (standing.k1 = `k1:${Buffer.alloc(32, 7).toString('base64')}`)
    expect(await find()).toEqual({ id: 'k1', key: new Uint8Array(32).fill(7) })
  })

  it('stays where that of another node does not open, or where the machine key is just changing', async () => {
    const now = { id: 'k0', key: new Uint8Array(32) }
    const { find, parts, standing } = makeParts('k1')
    parts.before = () => (standing.k1 = 'of another machine key')
    expect(await find(captures, now)).toBe(now)
    delete standing.k1
    parts.before = () => {
      throw new StoreConflict('the machine key was changed meanwhile')
    }
    expect(await find(captures, now)).toBe(now)
  })

  it('hides no other fault', async () => {
    const { find, parts } = makeParts('k1')
    parts.before = () => {
      throw new Error('the disk is full')
    }
    await expect(find()).rejects.toThrow('the disk is full')
    await expect(makeParts('k1', { k1: 'wrong' }).find()).rejects.toThrow('not a fault of sealing')
  })
})
