import { SignInRefused } from '../sign-in/refusal.ts'
import type { Begun, Operator, SessionOfOperator } from '../sign-in/sessions.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import type { Visit } from './visit.ts'

export interface AuthCall {
  signIn: SignIn
  visit: Visit
  version: string
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

export function showOperator({ id, name, displayName, grants }: Operator): object {
  return { id, name, display_name: displayName, grants }
}
