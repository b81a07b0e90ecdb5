import {
  createHmac,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret } from '../core/secrets/secret.ts'
import { openBytes, sealBytes } from './aead.ts'
import { type MachineKey, machineKeyOf, parseMachineKey } from './machine-key.ts'
import { nextKeyFile, syncDirectory } from './next-key.ts'
import { HandOverBroken } from './seal-error.ts'
import { formatSealed, parseSealed } from './seal-format.ts'
import { publicKeyOf, rawPublicKey } from './x25519.ts'

/*
 * How the machine key gets from one node of a cluster to another through a database that must not learn it. The secret of the
 * invitation does not pass through the database: one operator hands it to the other. Without it, whoever can write to the
 * database cannot replace the key with one of their own.
 */

export function mintInviteSecret(): Secret {
  return new Secret(randomBytes(32).toString('base64url'))
}

/** What both sides mean: an answer to another question does not open. */
export interface HandOver {
  secret: Secret
  cluster: string
  invite: string
  member: string
  name: string
}

export interface Joiner {
  /** For the database, with the proof that it comes from who has the secret. */
  publicKey: string
  proof: string
  /** The machine key, as its file has it. Throws `HandOverBroken`. */
  open(answer: string): MachineKey & { text: string }
}

export function makeJoiner(given: HandOver): Joiner {
  const pair = generateKeyPairSync('x25519')
  const own = rawPublicKey(pair.publicKey)
  const publicKey = own.toString('base64url')
  return {
    publicKey,
    proof: proofOf(given, publicKey).toString('base64url'),
    open(answer) {
      const [ephemeral = '', sealed = ''] = answer.split(' ')
      const parts = parseSealed(sealed)
      const other = Buffer.from(ephemeral, 'base64url')
      if (parts === null || other.length !== 32) throw broken()
      const key = deriveKey(given, pair.privateKey, other, [own, other])
      const text = openBytes(key.key, parts, identityOf(given))?.toString('utf8')
      const machineKey = text === undefined ? null : parseMachineKey(text, 'the cluster')
      if (text === undefined || machineKey === null) throw broken()
      return { ...machineKey, text }
    },
  }
}

/** Null: whoever asked does not have the secret. `keyFile`: where the machine key in use lies. */
export function answerJoiner(given: HandOver, publicKey: string, proof: string, keyFile: string): string | null {
  const due = proofOf(given, publicKey)
  const shown = Buffer.from(proof, 'base64url')
  const other = Buffer.from(publicKey, 'base64url')
  if (shown.length !== due.length || !timingSafeEqual(shown, due) || other.length !== 32) return null
  const pair = generateKeyPairSync('x25519')
  const own = rawPublicKey(pair.publicKey)
  const key = deriveKey(given, pair.privateKey, other, [other, own])
  const sealed = sealBytes(key.key, key.keyId, identityOf(given), readFileSync(keyFile, 'utf8'))
  return `${own.toString('base64url')} ${formatSealed(sealed)}`
}

/** It becomes the machine key once the database is sealed under it (`next-key.ts`). */
export function writeNextKey(dataDirectory: string, key: MachineKey & { text: string }): MachineKey {
  const path = join(dataDirectory, nextKeyFile)
  writeFileSync(path, key.text, { mode: 0o600, flush: true })
  syncDirectory(dataDirectory)
  return { keyId: key.keyId, key: key.key, source: path }
}

function proofOf({ secret, cluster, invite, member, name }: HandOver, publicKey: string): Buffer {
  const said = JSON.stringify(['spgw join 1', cluster, invite, member, name, publicKey])
  return createHmac('sha256', secret.reveal()).update(said).digest()
}

/** Both public halves go into it: a key agreed on with other halves is another key. */
function deriveKey({ secret }: HandOver, privateKey: KeyObject, other: Buffer, halves: Buffer[]): MachineKey {
  const shared = agree(privateKey, other)
  const material = Buffer.concat([shared, Buffer.from(secret.reveal())])
  return machineKeyOf(Buffer.from(hkdfSync('sha256', material, Buffer.concat(halves), 'spgw join 1', 32)), 'a join')
}

function agree(privateKey: KeyObject, other: Buffer): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey: publicKeyOf(other) })
  } catch {
    throw broken()
  }
}

function identityOf({ cluster, invite, member }: HandOver): string {
  return `join:${cluster}:${invite}:${member}`
}

function broken(): HandOverBroken {
  return new HandOverBroken(
    'The answer to the invitation does not open: it was changed on its way, or is for another node.',
    'Check who may write to the database, and create a new invitation: spgw cluster invite',
  )
}
