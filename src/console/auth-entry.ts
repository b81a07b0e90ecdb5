import { oidcMinutes } from '../sign-in/oidc-settings.ts'
import { passkeySite } from '../sign-in/passkey-site.ts'
import { SignInRefused } from '../sign-in/refusal.ts'
import type { Begun } from '../sign-in/sessions.ts'
import type { AuthAnswer, AuthCall, AuthRoute } from './auth-route.ts'
import { sessionOf, showOperator, siteOf } from './auth-route.ts'
import { cookieName, writeCookie } from './cookies.ts'
import { optionalText, textField } from './read-body.ts'

/** The ways in and out. */
export const entryRoutes: Record<string, AuthRoute> = {
  '/auth/state': { method: 'GET', signedIn: false, handle: showState },
  '/auth/password': { method: 'POST', signedIn: false, handle: signInWithPassword },
  '/auth/link': { method: 'POST', signedIn: false, handle: signInWithLink },
  '/auth/passkey/options': { method: 'POST', signedIn: false, handle: offerPasskey },
  '/auth/passkey': { method: 'POST', signedIn: false, handle: signInWithPasskey },
  '/auth/oidc': { method: 'GET', signedIn: false, handle: leaveForProvider },
  '/auth/oidc/callback': { method: 'GET', signedIn: false, handle: returnFromProvider },
  '/auth/sign-out': { method: 'POST', signedIn: true, handle: signOut },
}

/** For the page before and after: who is signed in, and how one can. */
async function showState({ session, visit, version, oidc }: AuthCall): Promise<AuthAnswer> {
  const site = passkeySite(visit.origin, visit.openness)
  const refused = 'refused' in site ? site.refused : null
  return {
    value: {
      version,
      operator: session === null ? null : showOperator(session.operator),
      methods: { password: true, passkey: refused === null, oidc: oidc === null ? null : { name: oidc.name } },
      passkey_refused: refused,
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
  return welcome(await signIn.withPassword(input, visit))
}

async function signInWithLink({ signIn, visit, body }: AuthCall): Promise<AuthAnswer> {
  refuseOpen(visit)
  return welcome(await signIn.withLink(textField(body, 'token', 100), visit))
}

async function offerPasskey(call: AuthCall): Promise<AuthAnswer> {
  const passkeys = await call.late.passkeys()
  return { value: await passkeys.signInOptions(siteOf(call)) }
}

async function signInWithPasskey(call: AuthCall): Promise<AuthAnswer> {
  const passkeys = await call.late.passkeys()
  return welcome(await passkeys.signIn(call.body, siteOf(call), call.visit))
}

const oidcCookie = 'oidc'

async function leaveForProvider(call: AuthCall): Promise<AuthAnswer> {
  refuseOpen(call.visit)
  const { token, url } = await (await providerOf(call)).begin(callbackOf(call))
  // Not `Strict`: the browser comes back by a link on another site's page.
  const cookie = writeCookie(cookieName(call.visit.host, oidcCookie), token, oidcMinutes * 60, 'Lax')
  return { cookies: [cookie], location: url }
}

/** A browser stands here, and not the page: so refusals go to the page, as words in its address. */
async function returnFromProvider(call: AuthCall): Promise<AuthAnswer> {
  const forget = writeCookie(cookieName(call.visit.host, oidcCookie), '', 0, 'Lax')
  try {
    const provider = await providerOf(call)
    const query = call.url.split('?', 2)[1] ?? ''
    const begun = await provider.finish(call.cookie(oidcCookie) ?? '', query, call.visit)
    return { begun, cookies: [forget], location: '/' }
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error
    return { cookies: [forget], location: `/sign-in?error=${encodeURIComponent(`${error.message} ${error.hint}`)}` }
  }
}

async function providerOf({ late, oidc }: AuthCall) {
  if (oidc === null)
    throw new SignInRefused('not_found', 'No identity provider is set up.', 'Set console.oidc in config.yaml.')
  return await late.oidc(oidc)
}

function callbackOf({ visit }: AuthCall): string {
  return `${visit.origin}/auth/oidc/callback`
}

async function signOut(call: AuthCall): Promise<AuthAnswer> {
  await call.signIn.end(sessionOf(call))
  return { ended: true }
}

function welcome(begun: Begun): AuthAnswer {
  return { begun, value: { operator: showOperator(begun.operator) } }
}

/** Before anything is looked at: what was typed here has been read by others already. */
function refuseOpen({ openness }: AuthCall['visit']): void {
  if (openness === null) return
  const hint =
    'Set console.tls, or put a proxy with HTTPS before it and set console.url; ssh -L 8788:localhost:8788 HOST makes it local.'
  throw new SignInRefused('refused', openness, hint)
}
