import { createSecretKey, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BodyKey, mintBodyKey, openBody, sealBody } from '../../src/sealing/body-seal.ts'
import { decodeCrockford, encodeCrockford } from '../../src/sealing/crockford.ts'
import { makeKeyring } from '../../src/sealing/keyring.ts'
import { machineKeyOf } from '../../src/sealing/machine-key.ts'
import { resealValues } from '../../src/sealing/reseal.ts'
import { formatSealed, parseSealed } from '../../src/sealing/seal-format.ts'

const key: BodyKey = { id: 'bdk_1', key: mintBodyKey() }
const body = Buffer.from('{"messages":[{"role":"user","content":"grüße"}]}')

describe('a captured body', () => {
  it('opens to what it was, for its request and part alone', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const clear = Buffer.from(bytes)
        const sealed = sealBody(key, 'req_1', 'request', clear)
        expect(openBody(key, 'req_1', 'request', sealed)).toEqual(clear)
        expect(openBody(key, 'req_2', 'request', sealed)).toBeNull()
        expect(openBody(key, 'req_1', 'answer', sealed)).toBeNull()
      }),
      { numRuns: 30 },
    )
  })

  it('opens under no other key, nor under the same key by another name', () => {
    const sealed = sealBody(key, 'req_1', 'request', body)
    expect(openBody({ ...key, key: mintBodyKey() }, 'req_1', 'request', sealed)).toBeNull()
    expect(openBody({ ...key, id: 'bdk_2' }, 'req_1', 'request', sealed)).toBeNull()
  })

  it('does not open with any byte changed, nor cut at any place', () => {
    const sealed = sealBody(key, 'req_1', 'request', body)
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8((changed[at] ?? 0) ^ 0x80, at)
      expect(openBody(key, 'req_1', 'request', changed)).toBeNull()
      expect(openBody(key, 'req_1', 'request', sealed.subarray(0, at))).toBeNull()
    }
    expect(openBody(key, 'req_1', 'request', Buffer.concat([sealed, Buffer.of(0)]))).toBeNull()
  })

  it('is another one each time, and shows nothing of what it was', () => {
    const [one, other] = [sealBody(key, 'req_1', 'request', body), sealBody(key, 'req_1', 'request', body)]
    expect(one.equals(other)).toBe(false)
    expect(one.includes(Buffer.from('messages'))).toBe(false)
    expect(one.length).toBe(body.length + 29)
  })
})

describe('what is sealed anew under another key', () => {
  const [from, to] = [machineKeyOf(randomBytes(32), 'a'), machineKeyOf(randomBytes(32), 'b')].map((each) =>
    makeKeyring(each),
  ) as [ReturnType<typeof makeKeyring>, ReturnType<typeof makeKeyring>]

  it('is every value, in its order, under its own name', () => {
    const values = ['a', 'b', 'c'].map((identity) => ({ identity, sealed: from.seal(`clear ${identity}`, identity) }))
    const { changes, broken } = resealValues(values, from, to)
    expect(broken).toEqual([])
    expect(changes.map(({ identity, before }) => ({ identity, sealed: before }))).toEqual(values)
    for (const { identity, after } of changes) expect(to.open(after, identity).reveal()).toBe(`clear ${identity}`)
  })

  it('leaves alone what does not open, and names it', () => {
    const moved = { identity: 'b', sealed: from.seal('clear', 'a') }
    const foreign = { identity: 'c', sealed: to.seal('clear', 'c') }
    const nonsense = { identity: 'd', sealed: 'sp1.nothing' }
    const good = { identity: 'e', sealed: from.seal('clear', 'e') }
    const { changes, broken } = resealValues([moved, foreign, nonsense, good], from, to)
    expect(broken).toEqual(['b', 'c', 'd'])
    expect(changes.map(({ identity }) => identity)).toEqual(['e'])
  })

  it('stops at what is no matter of a seal', () => {
    const failing = { ...to, seal: () => raise() }
    const values = [{ identity: 'a', sealed: from.seal('clear', 'a') }]
    expect(() => resealValues(values, from, failing)).toThrow('the disk is full')
  })
})

function raise(): never {
  throw new Error('the disk is full')
}

describe('sealed text', () => {
  it('has one form for each value: what only reads like it is none', () => {
    const machineKey = { keyId: 'a'.repeat(12), key: createSecretKey(randomBytes(32)), source: '' }
    const sealed = makeKeyring(machineKey).seal('x', 'y')
    const parts = parseSealed(sealed)
    if (parts === null) throw new Error('it is sealed text')
    expect(formatSealed(parts)).toBe(sealed)
    // The last character of 17 bytes has bits that say nothing: only one way of writing them counts.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const box = (text: string) => Buffer.from(text.slice(text.lastIndexOf('.') + 1), 'base64url')
    const others = [...letters]
      .map((letter) => sealed.slice(0, -1) + letter)
      .filter((text) => text !== sealed && box(text).equals(box(sealed)))
    expect(others).toHaveLength(3)
    const wrong = [
      '',
      'sp1',
      sealed.toUpperCase(),
      ` ${sealed}`,
      `${sealed}\n`,
      `${sealed}=`,
      sealed.replace('sp1', 'sp2'),
    ]
    for (const text of [...others, ...wrong]) expect(parseSealed(text)).toBeNull()
  })
})

describe('what people copy by hand', () => {
  it('reads back what was written, however it is written down', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.infiniteStream(fc.boolean()), (bytes, lower) => {
        const text = encodeCrockford(bytes)
        expect(text).toMatch(/^[0-9A-HJKMNP-TV-Z]*$/)
        expect(text.length).toBe(Math.ceil((bytes.length * 8) / 5))
        const byHand = [...text].map((character) => {
          const confused = character === '1' ? 'l' : character === '0' ? 'o' : character
          return lower.next().value ? confused.toLowerCase() : confused.toUpperCase()
        })
        expect(decodeCrockford(byHand.join(''))).toEqual(bytes)
      }),
      { numRuns: 60 },
    )
  })

  it.each(['U', 'u', '-', ' ', '!', 'é', '0U0', '1\n'])('is not %j', (text) => {
    expect(decodeCrockford(text)).toBeNull()
  })
})
