import {
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { newId } from '../core/ids.ts'
import type { Operator, Passkey } from '../store/operators/operator-tables.ts'
import { operatorLine } from './audit-line.ts'
import type { PasskeySite } from './passkey-site.ts'
import { PendingValues } from './pending.ts'
import type { RequestOrigin } from './place.ts'
import { SignInRefused } from './refusal.ts'
import { type BegunSession, beginSession, type SessionOfOperator } from './sessions.ts'
import type { SignIn } from './sign-in.ts'

/** ES256, EdDSA, RS256: what authenticators have. The library's own list holds one that Node still calls an experiment. */
const algorithms = [-7, -8, -257]
const mostPasskeys = 20

/** Passkeys: the authenticator asks for finger, face or PIN, so they are both factors in one. Loaded when one is first used. */
export class Passkeys {
  readonly #signIn: SignIn
  /** Each challenge is for one purpose, and once: an operator's id for a new passkey, '' for signing in. */
  readonly #challenges = new PendingValues<string>(5 * 60_000)

  constructor(signIn: SignIn) {
    this.#signIn = signIn
  }

  async signInOptions({ id }: PasskeySite, { address }: RequestOrigin): Promise<object> {
    const options = await generateAuthenticationOptions({ rpID: id, userVerification: 'required' })
    this.#challenges.put(options.challenge, '', address)
    return options
  }

  async signIn(answer: Record<string, unknown>, site: PasskeySite, place: RequestOrigin): Promise<BegunSession> {
    const attempt = this.#signIn.throttle.begin(null, place.address)
    const { store } = this.#signIn.parts
    const passkey = typeof answer.id === 'string' ? await store.passkeys.findByCredential(answer.id) : null
    const operator = passkey === null ? null : await store.operators.find(passkey.operatorId)
    const counter = passkey && (await this.#verify(answer, passkey, site))
    if (passkey === null || operator === null || counter === null)
      throw this.#signIn.fail(operator, 'passkey', place, unknownPasskey())
    if (operator.oidcIssuer !== null) throw this.#signIn.fail(operator, 'passkey', place, throughProvider())
    attempt.succeed()
    const begun = await beginSession(store, operator, 'passkey', place)
    await store.passkeys.noteUse(passkey.id, counter, new Date().toISOString())
    return begun
  }

  async newOptions({ operator }: SessionOfOperator, { id }: PasskeySite): Promise<object> {
    if (operator.oidcIssuer !== null) throw throughProvider()
    const passkeys = await this.#signIn.parts.store.passkeys.list(operator.id)
    if (passkeys.length >= mostPasskeys)
      throw new SignInRefused('refused', 'You have too many passkeys.', 'Remove one that you no longer use.')
    const options = await generateRegistrationOptions({
      rpName: 'spgw',
      rpID: id,
      userID: Buffer.from(operator.id),
      userName: operator.name,
      userDisplayName: operator.displayName,
      attestationType: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: algorithms,
      excludeCredentials: passkeys.map(({ credentialId, transports }) => ({ id: credentialId, ...known(transports) })),
    })
    this.#challenges.put(options.challenge, operator.id, operator.id)
    return options
  }

  async add(who: SessionOfOperator, answer: object, name: string, site: PasskeySite): Promise<Passkey> {
    const { operator } = who
    const passkey = await this.#readNew(operator, answer, name, site)
    const line = operatorLine(operator, 'account.passkey-add', { passkey: passkey.id, name })
    await this.#signIn.parts.store.audited(line).passkeys.insert(passkey)
    return passkey
  }

  async remove({ operator }: SessionOfOperator, id: string): Promise<void> {
    const { store } = this.#signIn.parts
    if (!(await store.passkeys.list(operator.id)).some((each) => each.id === id))
      throw new SignInRefused('not_found', 'This passkey does not exist.', 'Reload the page.')
    const line = operatorLine(operator, 'account.passkey-remove', { passkey: id })
    await store.audited(line).passkeys.remove(id, operator.id)
  }

  async #readNew(operator: Operator, answer: object, name: string, { id, origin }: PasskeySite): Promise<Passkey> {
    const verified = await verifyRegistrationResponse({
      // The library checks its shape, and throws for what is no such answer.
      response: answer as RegistrationResponseJSON,
      expectedChallenge: (challenge) => this.#challenges.take(challenge) === operator.id,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    }).catch(() => null)
    if (verified === null || !verified.verified)
      throw new SignInRefused('wrong', 'The passkey could not be verified.', 'Try again.')
    const { credential } = verified.registrationInfo
    return {
      id: newId('pas'),
      operatorId: operator.id,
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: credential.transports ?? [],
      name,
      createdAt: new Date().toISOString(),
      lastUsedAt: null,
    }
  }

  /** The new counter; null: the answer is not good. */
  async #verify(answer: object, passkey: Passkey, { id, origin }: PasskeySite): Promise<number | null> {
    const verified = await verifyAuthenticationResponse({
      response: answer as AuthenticationResponseJSON,
      expectedChallenge: (challenge) => this.#challenges.take(challenge) === '',
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.counter,
        ...known(passkey.transports),
      },
    }).catch(() => null)
    return verified?.verified === true ? verified.authenticationInfo.newCounter : null
  }
}

function known(transports: readonly string[]) {
  return { transports: transports as AuthenticatorTransport[] }
}

/** It would let them in when the provider no longer does, with the roles of before. */
function throughProvider(): SignInRefused {
  const hint = 'Add a passkey there, and sign in through it.'
  return new SignInRefused('refused', 'This operator signs in through the identity provider.', hint)
}

function unknownPasskey(): SignInRefused {
  const hint = 'It may have been removed. Sign in another way.'
  return new SignInRefused('wrong', 'This passkey is not known.', hint)
}
