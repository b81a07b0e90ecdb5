import * as client from 'openid-client'
import { newId } from '../core/ids.ts'
import { isThisMachine } from '../core/this-machine.ts'
import type { Grant, Operator } from '../store/operators/operator-tables.ts'
import { type AuditLine, operatorLine } from './audit-line.ts'
import { type AskProvider, mapRoles, NoProviderAnswer, type OidcSettings, oidcMinutes } from './oidc-settings.ts'
import { PendingValues } from './pending.ts'
import type { RequestOrigin } from './place.ts'
import { OidcRefused, SignInRefused } from './refusal.ts'
import { type BegunSession, beginSession, type SessionOfOperator } from './sessions.ts'
import type { SignIn } from './sign-in.ts'
import { Throttle } from './throttle.ts'
import { hashToken, isToken, mintToken } from './token.ts'

/** OpenID Connect Core 1.0, section 2: a subject has no more characters. */
const longestSubject = 255
/** The provider's configuration is read again after this: endpoints and keys move. */
const configurationMs = 3_600_000

interface Begin {
  state: string
  nonce: string
  verifier: string
  redirectUri: string
  /** SHA-256 of the session's token that the browser left with: its cookie does not come back from another site. */
  session: string | null
}

export interface OidcSession extends BegunSession {
  /** The one that the browser left with, if it still holds. */
  former: SessionOfOperator | null
}

export interface OidcStart {
  /** For a cookie: whoever comes back must be the browser that left. All its tabs share it. */
  token: string
  /** Where the browser goes. */
  url: string
}

/** The authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0). Loaded when it is first used. */
export class Oidc {
  readonly #signIn: SignIn
  readonly #settings: OidcSettings
  readonly #begun = new PendingValues<Begin>(oidcMinutes * 60_000)
  /** Its own: behind one address may sit everybody, and who guesses passwords there must not keep them from the provider. */
  readonly #attempts = new Throttle()
  #configuration: { read: Promise<client.Configuration>; at: number } | null = null

  constructor(signIn: SignIn, settings: OidcSettings) {
    this.#signIn = signIn
    this.#settings = settings
  }

  /** `kept`: the token of a sign-in that this browser began before, perhaps in another tab. */
  async begin(
    redirectUri: string,
    address: string,
    session: SessionOfOperator | null,
    kept: string | null = null,
  ): Promise<OidcStart> {
    const configuration = await this.#configure()
    const token = kept !== null && isToken(kept) ? kept : mintToken()
    const begin = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      redirectUri,
      session: session?.session.tokenSha256 ?? null,
    }
    this.#begun.put(begunKey(token, begin.state), begin, address)
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes.join(' '),
      state: begin.state,
      nonce: begin.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(begin.verifier),
      code_challenge_method: 'S256',
    })
    return { token, url: url.href }
  }

  /** `query`: what the provider sent the browser back with. */
  async finish(token: string, query: string, place: RequestOrigin): Promise<OidcSession> {
    const begin = this.#begun.take(begunKey(token, new URLSearchParams(query).get('state') ?? ''))
    if (begin === null)
      throw new OidcRefused(
        'not-started',
        'wrong',
        'This sign-in was not started here, or took too long.',
        'Start it again.',
      )
    // Each failure is a line in the log and a call to the provider: whoever makes them has to wait.
    const attempt = this.#attempts.begin(null, place.address)
    const claims = await this.#redeem(begin, query).catch((error: unknown) => {
      const refusal = this.#explain(error)
      if (refusal.code !== 'unavailable') throw this.#signIn.fail(null, 'oidc', place, refusal)
      attempt.cancel()
      throw refusal
    })
    const operator = await this.#settle(claims)
    if (operator === null)
      throw this.#signIn.fail(null, 'oidc', place, noRole(this.#settings, claims[this.#settings.roleClaim]))
    attempt.succeed()
    const former = begin.session === null ? null : await this.#signIn.recheck(begin.session)
    return { ...(await beginSession(this.#signIn.parts.store, operator, 'oidc', place)), former }
  }

  async #redeem({ state, nonce, verifier, redirectUri }: Begin, query: string): Promise<Claims> {
    const configuration = await this.#configure()
    const tokens = await client.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const claims: Claims | undefined = tokens.claims()
    if (claims === undefined) throw new TypeError('there is no ID token')
    if (claims.sub === '' || claims.sub.length > longestSubject)
      throw new TypeError(`the subject is empty, or longer than ${longestSubject} characters`)
    const isWhole = claims[this.#settings.roleClaim] !== undefined && typeof nameClaim(claims) === 'string'
    if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    // Many providers tell names and groups there only.
    return { ...(await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims }
  }

  /** The operator as the provider has it now; null: it gives him no role here. */
  async #settle(claims: Claims): Promise<Operator | null> {
    const { store } = this.#signIn.parts
    const grants = mapRoles(this.#settings, claims[this.#settings.roleClaim], await store.projects.list())
    const operator = await store.operators.findBySubject(claims.iss, claims.sub)
    if (operator === null) return grants.length === 0 ? null : await this.#add(claims, grants)
    if (isSameGrants(operator.grants, grants)) return grants.length === 0 ? null : operator
    const line: AuditLine = {
      ...operatorLine(operator, 'operators.edit', { grants }),
      before: { grants: operator.grants },
    }
    const changed = await store.audited(line).operators.update(operator.id, { grants })
    return grants.length === 0 ? null : changed
  }

  /** By issuer and subject alone: an address is nobody's proof, and must not lead to an operator that is there already. */
  async #add(claims: Claims, grants: Grant[]): Promise<Operator> {
    const { store } = this.#signIn.parts
    const name = freeName(slugOf(nameClaim(claims) ?? 'operator'), await store.operators.list())
    const operator: Operator = {
      id: newId('opr'),
      name,
      displayName: typeof claims.name === 'string' ? claims.name.slice(0, 100) : name,
      state: 'active',
      passwordHash: null,
      totpSealed: null,
      oidcIssuer: claims.iss,
      oidcSubject: claims.sub,
      grants,
      createdAt: new Date().toISOString(),
      lastSignInAt: null,
    }
    const line = operatorLine(operator, 'operators.add', { name, grants, issuer: claims.iss, subject: claims.sub })
    return await store.audited(line).operators.insert(operator)
  }

  async #configure(): Promise<client.Configuration> {
    const kept = this.#configuration
    const now = performance.now()
    if (kept !== null && now - kept.at < configurationMs) return await kept.read
    const read = discover(this.#settings, this.#signIn.parts.askProvider)
    this.#configuration = { read, at: now }
    return await read.catch((error: unknown) => {
      this.#configuration = null
      this.#report(error)
      throw this.#unavailable()
    })
  }

  /** What went wrong goes to the log: an answer of the provider may hold anything. */
  #explain(error: unknown): SignInRefused {
    if (error instanceof SignInRefused) return error
    const { name } = this.#settings
    if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied')
      return new OidcRefused('cancelled', 'refused', `${name} did not let you in.`, 'Try again.')
    this.#report(error)
    if (causesOf(error).some((cause) => cause instanceof NoProviderAnswer)) return this.#unavailable()
    return new OidcRefused('unverified', 'wrong', `The answer of ${name} could not be verified.`, 'Try again.')
  }

  #unavailable(): SignInRefused {
    const hint = 'See the log of the gateway, and console.oidc.issuer.'
    return new OidcRefused('unavailable', 'unavailable', `${this.#settings.name} did not give a valid answer.`, hint)
  }

  #report(error: unknown): void {
    this.#signIn.parts.onFault(new IdentityProviderFault(reasonsOf(error), { cause: error }))
  }
}

/** By browser and state: each tab finishes what it began, in any order. */
function begunKey(token: string, state: string): string {
  return hashToken(`${token}.${state}`)
}

type Claims = Record<string, unknown> & { iss: string; sub: string }

/** It is the provider's, and no fault of the gateway. */
class IdentityProviderFault extends Error {
  override readonly name = 'IdentityProviderFault'
}

/** The library says what is wrong in a cause of its error. What the provider itself said is left out, but for a code. */
function reasonsOf(error: unknown): string {
  const reasons = causesOf(error).flatMap((each) => {
    const code = 'error' in each && typeof each.error === 'string' ? each.error : ''
    return /^[a-z_]{1,40}$/.test(code) ? [each.message, code] : [each.message]
  })
  return [...new Set(reasons)].join(': ')
}

/** With the error itself. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let each = error; each instanceof Error && causes.length < 5; each = each.cause) causes.push(each)
  return causes
}

async function discover(
  { issuer, clientId, clientSecret }: OidcSettings,
  ask: AskProvider,
): Promise<client.Configuration> {
  const server = new URL(issuer)
  const execute = [
    client.enableNonRepudiationChecks,
    ...(isThisMachine(server.hostname) ? [client.allowInsecureRequests] : []),
  ]
  const secret = clientSecret?.reveal()
  const configuration = await client.discovery(
    server,
    clientId,
    secret,
    secret === undefined ? client.None() : undefined,
    { execute, [client.customFetch]: ask },
  )
  // Throws where the address that browsers are to be sent to is none of the web.
  client.buildAuthorizationUrl(configuration, {})
  return configuration
}

function nameClaim(claims: Claims): string | null {
  const found = [claims.preferred_username, claims.email, claims.name].find((each) => typeof each === 'string')
  return typeof found === 'string' && found !== '' ? found : null
}

/** `Anna.Smith@example.com` → `anna.smith`. */
function slugOf(name: string): string {
  const local = name.split('@')[0] ?? name
  const slug = local
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|-+$/g, '')
  return slug.slice(0, 55) || 'operator'
}

function freeName(name: string, operators: readonly Operator[]): string {
  const taken = new Set(operators.map((operator) => operator.name))
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}

function isSameGrants(left: readonly Grant[], right: readonly Grant[]): boolean {
  const text = (grants: readonly Grant[]) => JSON.stringify(grants.map(({ project, role }) => [project, role]).sort())
  return text(left) === text(right)
}

function noRole({ name, roleClaim }: OidcSettings, value: unknown): SignInRefused {
  const missing = value === undefined
  const said = missing ? `the claim ${roleClaim} is missing` : `no value of ${roleClaim} has one`
  const message = `${name} knows you, but gives you no role here: ${said}.`
  return new OidcRefused(missing ? 'claim-missing' : 'no-role', 'refused', message, 'Ask an owner.')
}
