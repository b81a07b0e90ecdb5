import { createHmac, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import { answerJoiner, type HandOver, makeJoiner, mintInviteSecret, writeNextKey } from '../../src/sealing/hand-over.ts'
import { makeKeyring, sealWitness } from '../../src/sealing/keyring.ts'
import { createMachineKey, type MachineKey, machineKeyFile } from '../../src/sealing/machine-key.ts'
import { settleKeyring } from '../../src/sealing/next-key.ts'
import { HandOverBroken } from '../../src/sealing/seal-error.ts'

let directory: string
let keyFile: string
let machineKey: MachineKey
let given: HandOver

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spgw-hand-over-'))
  keyFile = join(directory, 'theirs.key')
  machineKey = createMachineKey(keyFile)
  given = { secret: mintInviteSecret(), cluster: 'clu_1', invite: 'inv_1', member: 'nod_2', name: 'gw-b' }
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** What the node that invited answers to a question as the database has it. */
function answerTo(asked: { publicKey: string; proof: string }, by: HandOver = given): string {
  const answer = answerJoiner(by, asked.publicKey, asked.proof, keyFile)
  if (answer === null) throw new Error('it was not answered')
  return answer
}

/** With one bit of the base64url between these places changed. */
function changed(text: string, at: number): string {
  const bytes = Buffer.from(text, 'base64url')
  bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at)
  return bytes.toString('base64url')
}

const others: [string, Partial<HandOver>][] = [
  ['secret', { secret: new Secret('another') }],
  ['cluster', { cluster: 'clu_2' }],
  ['invitation', { invite: 'inv_2' }],
  ['member', { member: 'nod_3' }],
]

describe('the machine key of a cluster', () => {
  it('comes to who has the secret of the invitation, and to nobody who reads along', () => {
    const joiner = makeJoiner(given)
    const answer = answerTo(joiner)
    const opened = joiner.open(answer)
    expect(opened.keyId).toBe(machineKey.keyId)
    expect(opened.key.equals(machineKey.key)).toBe(true)
    const seen = `${joiner.publicKey} ${joiner.proof} ${answer}`
    expect(seen).not.toContain(given.secret.reveal())
    expect(seen).not.toContain(readFileSync(keyFile, 'utf8').split(' ')[2])
    // Not even to who has the secret: the private half has not left the one who asked.
    expect(() => makeJoiner(given).open(answer)).toThrow(HandOverBroken)
  })

  it.each(others)('is not given to who asks with another %s', (_what, other) => {
    const { publicKey, proof } = makeJoiner({ ...given, ...other })
    expect(answerJoiner(given, publicKey, proof, keyFile)).toBeNull()
  })

  it('is not given under another name than the one that asked', () => {
    const { publicKey, proof } = makeJoiner({ ...given, name: 'gw-c' })
    expect(answerJoiner(given, publicKey, proof, keyFile)).toBeNull()
  })

  it('is not given to a public key that somebody has put in place of another', () => {
    const [joiner, stranger] = [makeJoiner(given), makeJoiner({ ...given, secret: new Secret('guessed') })]
    expect(answerJoiner(given, stranger.publicKey, joiner.proof, keyFile)).toBeNull()
    for (const [publicKey, proof] of [
      [changed(joiner.publicKey, 0), joiner.proof],
      [joiner.publicKey, changed(joiner.proof, 31)],
      [joiner.publicKey, joiner.proof.slice(0, -2)],
      [joiner.publicKey, ''],
      ['', joiner.proof],
    ] as const)
      expect(answerJoiner(given, publicKey, proof, keyFile)).toBeNull()
  })

  it.each(others)('is not taken from who answers with another %s', (_what, other) => {
    const joiner = makeJoiner(given)
    const by = { ...given, ...other }
    // Whoever answers can make a proof of his own pass, and then must not be believed.
    const { publicKey } = joiner
    const forged = { publicKey, proof: forgeProof(by, publicKey) }
    expect(() => joiner.open(answerTo(forged, by))).toThrow(HandOverBroken)
  })

  it('is not taken with any part of the answer changed, cut or missing', () => {
    const joiner = makeJoiner(given)
    const [ephemeral = '', sealed = ''] = answerTo(joiner).split(' ')
    const [version, keyId, nonce = '', box = ''] = sealed.split('.')
    const wrong = [
      `${changed(ephemeral, 3)} ${sealed}`,
      `${Buffer.alloc(32).toString('base64url')} ${sealed}`,
      `${ephemeral} ${[version, keyId, changed(nonce, 0), box].join('.')}`,
      `${ephemeral} ${[version, keyId, nonce, changed(box, 5)].join('.')}`,
      `${ephemeral} ${[version, '0'.repeat(12), nonce, box].join('.')}`,
      `${ephemeral} ${sealed.slice(0, -2)}`,
      ephemeral,
      sealed,
      `${ephemeral.slice(0, -4)} ${sealed}`,
      '',
      ' ',
    ]
    for (const answer of wrong) expect(() => joiner.open(answer)).toThrow(HandOverBroken)
  })

  it('becomes that of the node once its database is sealed under it', () => {
    const own = createMachineKey(join(directory, machineKeyFile))
    const joiner = makeJoiner(given)
    const next = writeNextKey(directory, joiner.open(answerTo(joiner)))
    expect(statSync(next.source).mode & 0o777).toBe(0o600)
    const before = sealWitness(makeKeyring(own))
    expect(settleKeyring(own, before, directory).describe().keyId).toBe(own.keyId)
    writeNextKey(directory, joiner.open(answerTo(joiner)))
    const after = sealWitness(makeKeyring(machineKey))
    expect(settleKeyring(own, after, directory).describe().keyId).toBe(machineKey.keyId)
  })

  it('is behind a secret that is another one each time', () => {
    const secrets = Array.from({ length: 50 }, () => mintInviteSecret().reveal())
    expect(new Set(secrets).size).toBe(50)
    expect(secrets.every((secret) => Buffer.from(secret, 'base64url').length === 32)).toBe(true)
    expect(String(mintInviteSecret())).not.toMatch(/\w{43}/)
  })
})

/** A joiner of that hand-over says the same of any public key. */
function forgeProof(by: HandOver, publicKey: string): string {
  const { secret, cluster, invite, member, name } = by
  const said = JSON.stringify(['spgw join 1', cluster, invite, member, name, publicKey])
  return createHmac('sha256', secret.reveal()).update(said).digest('base64url')
}

it('random bytes are no answer', () => {
  const joiner = makeJoiner(given)
  for (let time = 0; time < 50; time++)
    expect(() => joiner.open(randomBytes(time * 3).toString('base64url'))).toThrow(HandOverBroken)
})
