import type { Account } from '../sign-in/account.ts'
import type { LazyParts } from '../sign-in/lazy-parts.ts'
import type { OidcSettings } from '../sign-in/oidc-settings.ts'
import { type PasskeySite, passkeySite } from '../sign-in/passkey-site.ts'
import { SignInRefused } from '../sign-in/refusal.ts'
import type { BegunSession, Operator, SessionOfOperator } from '../sign-in/sessions.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import type { RequestSource } from './request-guard.ts'

/** What the routes below `/auth/` work with. */
export interface AuthContext {
  /** Which nodes of a cluster know that this was revoked (null: of the last change); null: there is one gateway. */
  confirmReach(revokedId: string | null): Promise<object | null>
  signIn: SignIn
  account: Account
  lazy: LazyParts
  /** null: none is configured. */
  oidc: OidcSettings | null
  version: string
}

export interface AuthCall extends AuthContext {
  source: RequestSource
  session: SessionOfOperator | null
  body: Record<string, unknown>
  /** Path and query. */
  url: string
  /** The console's cookie with this word in its name. */
  cookie(word: string): string | null
}

export interface AuthAnswer {
  value?: object
  /** Something was taken away, which the other nodes of a cluster have to know. `id`: of what was revoked. */
  taken?: { id: string | null }
  begun?: BegunSession
  /** With `begun`: the session that it takes the place of, where its cookie did not come with this request. */
  former?: SessionOfOperator | null
  /** Removes the session cookie. */
  ended?: true
  cookies?: string[]
  /** Redirects the browser. */
  location?: string
}

export interface AuthRoute {
  method: 'GET' | 'POST'
  /** Requires a session. */
  signedIn: boolean
  /** The answer waits for another server, which has its own limits on time. */
  asksOthers?: true
  handle(call: AuthCall): Promise<AuthAnswer>
}

/** For a route that is `signedIn`. */
export function sessionOf({ session }: AuthCall): SessionOfOperator {
  if (session === null) throw new SignInRefused('not_signed_in', 'You are not signed in.', 'Sign in again.')
  return session
}

export function siteOf({ source }: AuthCall): PasskeySite {
  const site = passkeySite(source.origin, source.insecureReason)
  if ('refused' in site) throw new SignInRefused('refused', site.refused, 'Sign in another way.')
  return site
}

export function showOperator({ id, name, displayName, grants }: Operator): object {
  return { id, name, display_name: displayName, grants }
}
