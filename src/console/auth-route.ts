import type { Account } from '../sign-in/account.ts'
import type { LateParts } from '../sign-in/late-parts.ts'
import type { OidcSettings } from '../sign-in/oidc-settings.ts'
import { type PasskeySite, passkeySite } from '../sign-in/passkey-site.ts'
import { SignInRefused } from '../sign-in/refusal.ts'
import type { Begun, Operator, SessionOfOperator } from '../sign-in/sessions.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import type { Visit } from './visit.ts'

/** What stands behind the routes below `/auth/`. */
export interface Desk {
  signIn: SignIn
  account: Account
  late: LateParts
  /** null: none is set up. */
  oidc: OidcSettings | null
  version: string
}

export interface AuthCall extends Desk {
  visit: Visit
  session: SessionOfOperator | null
  body: Record<string, unknown>
  /** With its query. */
  url: string
  /** The cookie of the console with this word in its name. */
  cookie(word: string): string | null
}

export interface AuthAnswer {
  value?: object
  begun?: Begun
  /** The browser forgets its session. */
  ended?: true
  cookies?: string[]
  /** Where the browser goes on. */
  location?: string
}

export interface AuthRoute {
  method: 'GET' | 'POST'
  /** Only for whoever is signed in. */
  signedIn: boolean
  handle(call: AuthCall): Promise<AuthAnswer>
}

/** For a route that is `signedIn`. */
export function sessionOf({ session }: AuthCall): SessionOfOperator {
  if (session === null) throw new SignInRefused('not_signed_in', 'You are not signed in.', 'Sign in again.')
  return session
}

export function siteOf({ visit }: AuthCall): PasskeySite {
  const site = passkeySite(visit.origin, visit.openness)
  if ('refused' in site) throw new SignInRefused('refused', site.refused, 'Sign in in another way.')
  return site
}

export function showOperator({ id, name, displayName, grants }: Operator): object {
  return { id, name, display_name: displayName, grants }
}
