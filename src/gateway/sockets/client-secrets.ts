import { type Fault, fault } from '../../core/errors.ts'
import { Secret } from '../../core/secrets/secret.ts'
import type { AnswerStage } from '../answer/stage.ts'
import type { Arrival } from '../request/arrival.ts'
import type { RequestCaller } from '../request/call.ts'
import { credentialIdOf, type Leg } from '../upstream/leg.ts'

/**
 * Credentials that a provider issues for browsers and other clients that must not hold a key. The provider's own never reaches them:
 * clients get a gateway token with the credential, its owner and its place sealed inside. Source: wire/lanes.md, sections 1.5 and 3.6.
 */
interface ClientSecret {
  keyId: string
  providerId: string
  credentialId: string | null
  secret: string
  /** The model as the client calls it; null: the session was created without one. */
  model: string | null
}

/** The prefixes by which the vendors' SDKs recognise their credentials, followed by the gateway's own mark and the token. */
const prefixes = { 'client-secret': 'ek_sp_', 'auth-token': 'auth_tokens/sp_' } as const
type Purpose = keyof typeof prefixes
/** Used if the answer names no expiry: longer than any such credential is valid, since the provider ends it itself. */
const lifeMs = 24 * 60 * 60_000

const unreadable = fault(
  'provider_bad_response',
  'The provider answered without a credential for clients, or in a form that is not known. Ask the operator.',
)

/** Replaces the provider's credentials in an answer with gateway tokens. If none is found, nothing of the answer may pass. */
export class ClientSecretStage implements AnswerStage {
  readonly faultIfUnread = unreadable
  readonly #leg: Leg
  readonly #purpose: Purpose

  constructor(leg: Leg, purpose: Purpose) {
    this.#leg = leg
    this.#purpose = purpose
  }

  /** Such an answer is never a stream. */
  event(): null {
    return null
  }

  end(): null {
    return null
  }

  whole(body: Buffer): Buffer | Fault {
    const { call, provider } = this.#leg
    const minted = this.#leg.match.endpoint.readClientToken?.(body) ?? null
    if (minted === null) return unreadable
    const place = {
      keyId: call.key.id,
      providerId: provider.row.id,
      credentialId: credentialIdOf(this.#leg),
      model: call.inspection.model,
    }
    const expiresAt = minted.expiresAt ?? Date.now() + lifeMs
    const tokens = new Map<string, string>()
    for (const secret of minted.secrets) {
      const sealed: ClientSecret = { ...place, secret }
      const token = call.gateway.model.configuration.tokens.seal(this.#purpose, JSON.stringify(sealed), expiresAt)
      tokens.set(secret, prefixes[this.#purpose] + token)
    }
    return Buffer.from(putTokens(body.toString(), tokens))
  }
}

/**
 * Replaces within the original text, so that everything else stays unchanged. A text whose credential contains escapes is written again.
 */
function putTokens(body: string, tokens: ReadonlyMap<string, string>): string {
  const put = (text: string) => {
    let changed = text
    for (const [secret, token] of tokens) changed = changed.replaceAll(secret, token)
    return changed
  }
  const text = put(body)
  const written = JSON.stringify(JSON.parse(text))
  const anew = JSON.stringify(JSON.parse(text), (_name, value: unknown) =>
    typeof value === 'string' ? put(value) : value,
  )
  return anew === written ? text : anew
}

/**
 * The owner of a client token: the key's state counts as if the key had been presented, and the call goes to the provider that accepts the
 * credential. null: not a client token.
 */
export function openSecret(
  { gateway, match, receivedAt }: Arrival,
  presented: string,
): Pick<RequestCaller, 'key' | 'pin' | 'clientSecret'> | Fault | null {
  const purpose = purposeOf(presented)
  if (purpose === null) return null
  if (purpose !== match?.endpoint.acceptsClientToken)
    return fault('invalid_key', 'This credential was made for one kind of session only; send a gateway key here.')
  const token = presented.slice(prefixes[purpose].length)
  const opened = gateway.model.configuration.tokens.open(purpose, token, receivedAt)
  if (opened.state !== 'open') return opened.state === 'expired' ? expired : unknown
  const { keyId, secret, model, ...place } = JSON.parse(opened.payload) as ClientSecret
  const key = gateway.model.findKeyById(keyId)
  if (key === null) return fault('invalid_key', 'The gateway key that this credential was made with was removed.')
  return { key, pin: { what: 'client secret', ...place }, clientSecret: { secret: new Secret(secret), model } }
}

const expired = fault('invalid_key', 'This credential for clients has expired. Ask for a new one.')
const unknown = fault(
  'invalid_key',
  'This gateway did not issue this client credential, or has changed its keys since. Ask for a new one.',
)

function purposeOf(presented: string): Purpose | null {
  if (presented.startsWith(prefixes['client-secret'])) return 'client-secret'
  return presented.startsWith(prefixes['auth-token']) ? 'auth-token' : null
}
