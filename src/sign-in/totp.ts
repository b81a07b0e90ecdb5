import type { Keyring } from '../sealing/keyring.ts'
import { SealBroken } from '../sealing/seal-error.ts'
import type { StoreClient } from '../store/api.ts'
import type { Operator } from '../store/operators/operator-tables.ts'
import { SignInRefused } from './refusal.ts'

const period = 30
/** Clocks of telephones go wrong by this many periods. */
const window = 1

export interface NewTotp {
  /** Base32, for whoever types it. */
  secret: string
  /** `otpauth://…`, for whoever scans it. */
  uri: string
}

/** RFC 6238 as every authenticator has it: SHA-1, six digits, 30 seconds. */
export async function makeTotp(operator: Operator): Promise<NewTotp> {
  const { Secret, TOTP } = await import('otpauth')
  const totp = new TOTP({ issuer: 'spgw', label: operator.name, secret: new Secret({ size: 20 }) })
  return { secret: totp.secret.base32, uri: totp.toString() }
}

/** The time step of a right code; null: it is not right. */
export async function findStep(secret: string, code: string, now = Date.now()): Promise<number | null> {
  const { Secret, TOTP } = await import('otpauth')
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return null
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const delta = totp.validate({ token, timestamp: now, window })
  return delta === null ? null : Math.floor(now / 1000 / period) + delta
}

/** Takes the code of an operator's authenticator; a code is good once. False: it is not right. */
export async function takeCode(
  { store, keyring }: { store: StoreClient; keyring: Keyring },
  operator: Operator,
  code: string,
): Promise<boolean> {
  if (operator.totpSealed === null) return false
  const step = await findStep(openSecret(keyring, operator.totpSealed, operator.id), code)
  return step !== null && (await store.operators.takeTotpStep(operator.id, step))
}

export function totpIdentity(operatorId: string): string {
  return `totp:${operatorId}`
}

/** What does not open lets nobody in: to ask for the password alone would undo what the operator chose. */
function openSecret(keyring: Keyring, sealed: string, operatorId: string): string {
  try {
    return keyring.open(sealed, totpIdentity(operatorId)).reveal()
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    throw new SignInRefused(
      'refused',
      'The secret of the authenticator cannot be decrypted.',
      "On the gateway's machine, run spgw console link NAME to sign in without it; then set it up again.",
    )
  }
}
