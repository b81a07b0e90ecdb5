import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { makeKeyring, sealWitness } from '../../src/sealing/keyring.ts'
import { createMachineKey, type MachineKey } from '../../src/sealing/machine-key.ts'
import { createNextKey, installNextKey, settleKeyring } from '../../src/sealing/next-key.ts'
import { MachineKeyWrong, RotationRefused } from '../../src/sealing/seal-error.ts'

let directory: string
let current: MachineKey

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spgw-next-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  current = createMachineKey(join(directory, 'machine.key'))
})

const nextPath = () => join(directory, 'machine.key.next')
const witnessOf = (key: MachineKey) => sealWitness(makeKeyring(key))

describe('the key that is live after a rotation was left', () => {
  it('is the old one as long as the database is sealed with it, whatever stands beside', () => {
    createNextKey(directory)
    expect(settleKeyring(current, witnessOf(current), directory).describe().keyId).toBe(current.keyId)
    expect(existsSync(nextPath())).toBe(false)
    writeFileSync(nextPath(), 'spgw-machine-key-1 0011', { mode: 0o600 })
    expect(settleKeyring(current, witnessOf(current), directory).describe().keyId).toBe(current.keyId)
    expect(existsSync(nextPath())).toBe(false)
  })

  it('is the new one when the database is sealed with it, and it is then put in its place', () => {
    const next = createNextKey(directory)
    const keyring = settleKeyring(current, witnessOf(next), directory)
    expect(keyring.describe()).toMatchObject({ keyId: next.keyId, source: current.source, replaces: null })
    expect(readFileSync(current.source, 'utf8')).toContain(next.keyId)
    expect(existsSync(nextPath())).toBe(false)
  })

  it('is none, and nothing is touched, when the database is sealed with a third', () => {
    const third = witnessOf(createMachineKey(join(directory, 'third')))
    createNextKey(directory)
    expect(() => settleKeyring(current, third, directory)).toThrow(MachineKeyWrong)
    expect(existsSync(nextPath())).toBe(true)
    expect(readFileSync(current.source, 'utf8')).toContain(current.keyId)
  })

  it('waits beside a key that stands elsewhere, which is never written', () => {
    const outside = createMachineKey(join(directory, 'outside'))
    const next = createNextKey(directory)
    const keyring = settleKeyring(outside, witnessOf(next), directory)
    expect(keyring.describe()).toMatchObject({ keyId: next.keyId, source: nextPath(), replaces: outside.source })
    expect(readFileSync(outside.source, 'utf8')).toContain(outside.keyId)
    // What was sealed with the one before still opens.
    expect(keyring.open(makeKeyring(outside).seal('x', 'i'), 'i').reveal()).toBe('x')
  })
})

describe('a rotation', () => {
  it('is one at a time', () => {
    createNextKey(directory)
    expect(() => createNextKey(directory)).toThrow(RotationRefused)
  })

  it('opens what either key has sealed, and seals with the new one once it is committed', () => {
    const keyring = makeKeyring(current)
    const before = keyring.seal('x', 'i')
    const next = createNextKey(directory)
    const rotation = keyring.rotateTo(next)
    expect(keyring.open(makeKeyring(next).seal('y', 'i'), 'i').reveal()).toBe('y')
    expect(keyring.seal('x', 'i')).toContain(current.keyId)
    rotation.commit(installNextKey(next, directory, current.source))
    expect(keyring.seal('x', 'i')).toContain(next.keyId)
    expect(keyring.open(before, 'i').reveal()).toBe('x')
  })
})
