import {
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { crc32 } from '../core/bytes/crc32.ts'
import { Secret } from '../core/secrets/secret.ts'
import { decodeCrockford, encodeCrockford } from './crockford.ts'
import { type MachineKey, machineKeyOf } from './machine-key.ts'
import { EnvelopeBroken, RecoveryKeyMistyped, RecoveryKeyWrong } from './seal-error.ts'
import { publicKeyOf, rawPublicKey } from './x25519.ts'

/**
 * The recovery key opens backups: `sp_recovery_`, then 256 random bits and 24 bits of CRC-32 over them as 56 characters of
 * Crockford's base32, in groups of seven for whoever copies them by hand. The gateway keeps its public half alone (X25519),
 * so that a backup needs no secret and the data directory opens none.
 */
export const recoveryKeyPrefix = 'sp_recovery_'
const secretBytes = 32
const checksumBytes = 3
const textLength = ((secretBytes + checksumBytes) * 8) / 5

/** What stands before the 32 raw bytes of a private X25519 key in its DER form (RFC 8410). */
const privateHead = Buffer.from('302e020100300506032b656e04220420', 'hex')

export function mintRecoveryKey(): Secret {
  const secret = randomBytes(secretBytes)
  const text = encodeCrockford(Buffer.concat([secret, checksum(secret)]))
  return new Secret(recoveryKeyPrefix + (text.match(/.{7}/g) ?? []).join('-'))
}

export interface RecoveryKey {
  /** Short name, from a hash of the public half. */
  id: string
  privateKey: KeyObject
  /** 32 bytes. */
  publicKey: Buffer
}

/** Blanks, hyphens and case do not matter. Throws `RecoveryKeyMistyped` for what never was a recovery key. */
export function readRecoveryKey(given: Secret): RecoveryKey {
  const text = given.reveal().replace(/[\s-]/g, '')
  const prefixed = text.toLowerCase().startsWith(recoveryKeyPrefix)
  const body = prefixed ? text.slice(recoveryKeyPrefix.length) : text
  const bytes = body.length === textLength ? decodeCrockford(body) : null
  const secret = Buffer.from(bytes?.subarray(0, secretBytes) ?? [])
  if (bytes === null || !checksum(secret).equals(Buffer.from(bytes.subarray(secretBytes)))) {
    throw new RecoveryKeyMistyped(
      'This is not a recovery key: it is mistyped or incomplete.',
      `It begins with ${recoveryKeyPrefix} and has ${textLength} characters after that, hyphens aside.`,
    )
  }
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'spgw recovery key 1', 32))
  const privateKey = createPrivateKey({ key: Buffer.concat([privateHead, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = rawPublicKey(createPublicKey(privateKey))
  return { id: recoveryKeyId(publicKey), privateKey, publicKey }
}

/** How the public half is stored; nothing in it is secret. */
export function formatPublicHalf({ publicKey }: Pick<RecoveryKey, 'publicKey'>): string {
  return publicKey.toString('base64url')
}

export function publicHalfId(publicHalf: string): string {
  return recoveryKeyId(Buffer.from(publicHalf, 'base64url'))
}

/** Says to the holder of a recovery key how a backup's own key is made. Stands in the backup, in the clear. */
export interface Envelope {
  recovery_key_id: string
  /** The public half of a key pair that lived for this backup only, in base64url. */
  ephemeral_key: string
}

/** A key for one backup, which whoever makes it forgets, and the envelope from which the recovery key makes it again. */
export function makeBackupKey(publicHalf: string): { key: MachineKey; envelope: Envelope } {
  const recovery = Buffer.from(publicHalf, 'base64url')
  const pair = generateKeyPairSync('x25519')
  const ephemeral = rawPublicKey(pair.publicKey)
  const shared = diffieHellman({ privateKey: pair.privateKey, publicKey: publicKeyOf(recovery) })
  const envelope = { recovery_key_id: recoveryKeyId(recovery), ephemeral_key: ephemeral.toString('base64url') }
  return { key: deriveKey(shared, ephemeral, recovery), envelope }
}

/** Throws `RecoveryKeyWrong` for another gateway's recovery key, or one that was replaced before the backup, and `EnvelopeBroken`. */
export function openEnvelope(recovery: RecoveryKey, envelope: Envelope): MachineKey {
  if (recovery.id !== envelope.recovery_key_id) {
    throw new RecoveryKeyWrong(
      `The recovery key ${recovery.id} does not open this backup; it needs ${envelope.recovery_key_id}.`,
      'Find the right one, or restore with --without-credentials and enter the credentials again.',
    )
  }
  const ephemeral = Buffer.from(envelope.ephemeral_key, 'base64url')
  return deriveKey(agree(recovery, ephemeral), ephemeral, recovery.publicKey)
}

/** OpenSSL refuses points with which every private key would agree on the same (RFC 7748, section 6.1): only a forger writes those. */
function agree({ privateKey }: RecoveryKey, ephemeral: Buffer): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey: publicKeyOf(ephemeral) })
  } catch {
    throw new EnvelopeBroken(
      'The backup was changed after it was created: its ephemeral_key is not a key.',
      'Do not use it. Use another copy or another backup.',
    )
  }
}

/** Both public halves go into it: a key agreed on with other halves is another key. */
function deriveKey(shared: Buffer, ephemeral: Buffer, recovery: Buffer): MachineKey {
  const salt = Buffer.concat([ephemeral, recovery])
  return machineKeyOf(Buffer.from(hkdfSync('sha256', shared, salt, 'spgw backup 1', 32)), 'the recovery key')
}

function recoveryKeyId(publicKey: Buffer): string {
  return createHash('sha256').update('spgw recovery key id\0').update(publicKey).digest('hex').slice(0, 12)
}

function checksum(secret: Uint8Array): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(secret))
  return bytes.subarray(0, checksumBytes)
}
