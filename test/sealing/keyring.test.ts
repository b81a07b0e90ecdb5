import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { checkWitness, makeKeyring, sealWitness } from '../../src/sealing/keyring.ts'
import { createMachineKey, loadMachineKey } from '../../src/sealing/machine-key.ts'
import {
  MachineKeyExists,
  MachineKeyMissing,
  MachineKeyUnreadable,
  MachineKeyUnsafe,
  MachineKeyWrong,
  SealBroken,
  type SealError,
} from '../../src/sealing/seal-error.ts'
import { parseSealed } from '../../src/sealing/seal-format.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spgw-seal-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
})

function sources(change: Partial<Parameters<typeof loadMachineKey>[0]> = {}) {
  return { explicitPath: null, credentialsDirectory: null, dataDirectory: directory, ...change }
}

function keyAt(name: string) {
  return createMachineKey(join(directory, name))
}

function thrown(run: () => unknown): SealError {
  try {
    run()
  } catch (error) {
    return error as SealError
  }
  throw new Error('nothing was thrown')
}

describe('sealed values', () => {
  it('open to what was sealed, for any text and identity', () => {
    const keyring = makeKeyring(keyAt('a'))
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (clear, identity) => {
        expect(keyring.open(keyring.seal(clear, identity), identity).reveal()).toBe(clear)
      }),
    )
  })

  it('do not open with any bit flipped', () => {
    const keyring = makeKeyring(keyAt('a'))
    const sealed = keyring.seal('sk-canary', 'credential:a:b')
    const bytes = Buffer.from(sealed)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => keyring.open(changed.toString('latin1'), 'credential:a:b')).toThrow(SealBroken)
    }
    expect(keyring.open(sealed, 'credential:a:b').reveal()).toBe('sk-canary')
  })

  it('do not open under another identity', () => {
    const keyring = makeKeyring(keyAt('a'))
    fc.assert(
      fc.property(fc.string(), fc.string(), (identity, other) => {
        fc.pre(identity !== other)
        expect(() => keyring.open(keyring.seal('x', identity), other)).toThrow(SealBroken)
      }),
    )
  })

  it('do not open under another key, and name the one they need', () => {
    const first = keyAt('a')
    const second = keyAt('b')
    const sealed = makeKeyring(first).seal('x', 'i')
    expect(thrown(() => makeKeyring(second).open(sealed, 'i'))).toBeInstanceOf(SealBroken)
    expect(thrown(() => makeKeyring(second).open(sealed, 'i')).message).toContain(first.keyId)
    // Not even when the text claims the key that is here.
    const claimed = sealed.replace(first.keyId, second.keyId)
    expect(thrown(() => makeKeyring(second).open(claimed, 'i')).message).toContain('was changed')
    expect(makeKeyring(second, [first]).open(sealed, 'i').reveal()).toBe('x')
  })

  it('are different each time, and no text of another form is taken for one', () => {
    const keyring = makeKeyring(keyAt('a'))
    expect(keyring.seal('x', 'i')).not.toBe(keyring.seal('x', 'i'))
    fc.assert(fc.property(fc.string(), (text) => parseSealed(text) === null))
    expect(parseSealed(keyring.seal('', 'i'))?.keyId).toBe(keyring.describe().keyId)
  })

  it('never print', () => {
    const keyring = makeKeyring(keyAt('a'))
    const secret = keyring.open(keyring.seal('sk-canary', 'i'), 'i')
    const shown = [
      inspect(secret),
      inspect({ secret }),
      JSON.stringify({ secret }),
      String(secret),
      inspect(keyring, { depth: 9 }),
    ]
    expect(shown.join()).not.toContain('canary')
    expect(shown.slice(0, 4)).toEqual(['***', '{ secret: *** }', '{"secret":"***"}', '***'])
  })
})

describe('the machine key', () => {
  it('is made 0600, loaded again, and never overwritten', () => {
    const made = keyAt('machine.key')
    const path = join(directory, 'machine.key')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const sealed = makeKeyring(made).seal('x', 'i')
    const keyring = makeKeyring(loadMachineKey(sources()))
    expect(keyring.open(sealed, 'i').reveal()).toBe('x')
    expect(keyring.describe()).toEqual({ keyId: made.keyId, source: path, format: 'sp1', replaces: null })
    const before = readFileSync(path)
    expect(() => createMachineKey(path)).toThrow(MachineKeyExists)
    expect(readFileSync(path)).toEqual(before)
  })

  it('is looked for at the explicit path, then in the credentials directory, then in the data directory', () => {
    const credentials = join(directory, 'credentials')
    mkdirSync(credentials)
    const data = keyAt('machine.key')
    const credential = keyAt('credentials/spgw-machine-key')
    const explicit = keyAt('explicit')
    chmodSync(credential.source, 0o440)
    expect(loadMachineKey(sources()).keyId).toBe(data.keyId)
    expect(loadMachineKey(sources({ credentialsDirectory: credentials })).keyId).toBe(credential.keyId)
    expect(loadMachineKey(sources({ credentialsDirectory: credentials, explicitPath: explicit.source })).keyId).toBe(
      explicit.keyId,
    )
    const missing = join(directory, 'nowhere')
    expect(() => loadMachineKey(sources({ explicitPath: missing }))).toThrow(MachineKeyMissing)
    expect(() => loadMachineKey(sources({ explicitPath: missing }))).toThrow(missing)
  })

  it('says what to do when it is missing', () => {
    expect(thrown(() => loadMachineKey(sources()))).toMatchObject({
      name: 'MachineKeyMissing',
      hint: expect.stringContaining('spgw init'),
    })
  })

  it('is not taken for missing when it cannot be read', () => {
    mkdirSync(join(directory, 'machine.key'))
    expect(() => loadMachineKey(sources())).toThrow(MachineKeyUnreadable)
  })

  it('is refused while others can read it, with the command that mends it', () => {
    const { source } = keyAt('machine.key')
    for (const mode of [0o640, 0o604]) {
      chmodSync(source, mode)
      const error = thrown(() => loadMachineKey(sources()))
      expect(error).toBeInstanceOf(MachineKeyUnsafe)
      expect(error.hint).toBe(`Run: chmod 600 '${source}'`)
    }
  })

  it('is refused when a single character differs', () => {
    const { source } = keyAt('machine.key')
    const text = readFileSync(source, 'utf8')
    for (let index = 0; index < text.length - 1; index++) {
      const other = text[index] === '7' ? '8' : '7'
      writeFileSync(source, text.slice(0, index) + other + text.slice(index + 1))
      const error = thrown(() => loadMachineKey(sources()))
      expect(error).toBeInstanceOf(MachineKeyWrong)
      expect(error.message + error.hint).not.toContain(text.slice(32, 60))
    }
    writeFileSync(source, '')
    expect(() => loadMachineKey(sources())).toThrow(MachineKeyWrong)
  })

  it('is recognised by the witness', () => {
    const right = makeKeyring(keyAt('a'))
    const wrong = makeKeyring(keyAt('b'))
    const witness = sealWitness(right)
    expect(checkWitness(right, null)).toBe('absent')
    expect(checkWitness(right, witness)).toBe('right')
    const error = thrown(() => checkWitness(wrong, witness))
    expect(error).toBeInstanceOf(MachineKeyWrong)
    expect(error.message).toContain(wrong.describe().keyId)
    expect(error.hint).toContain(right.describe().keyId)
  })
})
