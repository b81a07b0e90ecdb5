import type { OidcFailure } from '../core/oidc-failure.ts'

/** Why somebody is not signed in, or may not change how they sign in. `message` is the cause, `hint` what to do. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
  readonly code: SignInCode
  readonly hint: string
  /** When to come again; null: coming again does not help. */
  readonly retryAfterSeconds: number | null

  constructor(code: SignInCode, message: string, hint: string, retryAfterSeconds: number | null = null) {
    super(message)
    this.code = code
    this.hint = hint
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** A sign-in through an identity provider. */
export class OidcRefused extends SignInRefused {
  readonly failure: OidcFailure

  constructor(failure: OidcFailure, code: SignInCode, message: string, hint: string) {
    super(code, message, hint)
    this.failure = failure
  }
}

/** With its HTTP status. */
export const signInStatus = {
  /** The request is not one that the page sends. */
  invalid: 400,
  /** Name, password, code, link or passkey is not right. */
  wrong: 401,
  /** The password is right; the code of the authenticator is missing. */
  code_required: 401,
  /** The session is over. */
  not_signed_in: 401,
  /** Nobody may do this here, or not in this way. */
  refused: 403,
  not_found: 404,
  /** Too many failed attempts, or too many at once. */
  throttled: 429,
  /** What is needed for it does not answer. */
  unavailable: 503,
} as const

export type SignInCode = keyof typeof signInStatus
