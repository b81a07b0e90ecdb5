import { SignInRefused } from '../sign-in/refusal.ts'
import type { AuthAnswer, AuthCall, AuthRoute } from './auth-route.ts'
import { sessionOf, showOperator } from './auth-route.ts'
import { optionalText, textField } from './read-body.ts'
import type { Visit } from './visit.ts'

/** The ways in and out. */
export const entryRoutes: Record<string, AuthRoute> = {
  '/auth/state': { method: 'GET', signedIn: false, handle: showState },
  '/auth/password': { method: 'POST', signedIn: false, handle: signInWithPassword },
  '/auth/link': { method: 'POST', signedIn: false, handle: signInWithLink },
  '/auth/sign-out': { method: 'POST', signedIn: true, handle: signOut },
}

/** For the page before and after: who is signed in, and how one can. */
async function showState({ session, visit, version }: AuthCall): Promise<AuthAnswer> {
  return {
    value: {
      version,
      operator: session === null ? null : showOperator(session.operator),
      methods: { password: true, passkey: false, oidc: null },
      passkey_refused: null,
      sign_in_refused: visit.openness,
    },
  }
}

async function signInWithPassword({ signIn, visit, body }: AuthCall): Promise<AuthAnswer> {
  refuseOpen(visit)
  const input = {
    name: textField(body, 'name', 100),
    password: textField(body, 'password'),
    code: optionalText(body, 'code', 20),
  }
  const begun = await signIn.withPassword(input, visit)
  return { begun, value: { operator: showOperator(begun.operator) } }
}

async function signInWithLink({ signIn, visit, body }: AuthCall): Promise<AuthAnswer> {
  refuseOpen(visit)
  const begun = await signIn.withLink(textField(body, 'token', 100), visit)
  return { begun, value: { operator: showOperator(begun.operator) } }
}

async function signOut(call: AuthCall): Promise<AuthAnswer> {
  await call.signIn.end(sessionOf(call))
  return { ended: true }
}

/** Before anything is looked at: what was typed here has been read by others already. */
function refuseOpen({ openness }: Visit): void {
  if (openness === null) return
  throw new SignInRefused(
    'refused',
    openness,
    'Set console.tls, or put a proxy with HTTPS before it and set console.url; from afar, ssh -L 8788:localhost:8788 HOST is local too.',
  )
}
