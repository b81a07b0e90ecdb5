import type { OidcFailure } from '../core/oidc-failure.ts'
import { oidcMinutes } from '../sign-in/oidc-settings.ts'
import { passkeySite } from '../sign-in/passkey-site.ts'
import { OidcRefused, SignInRefused } from '../sign-in/refusal.ts'
import type { BegunSession } from '../sign-in/sessions.ts'
import type { AuthAnswer, AuthCall, AuthRoute } from './auth-route.ts'
import { sessionOf, showOperator, siteOf } from './auth-route.ts'
import { cookieName, writeCookie } from './cookies.ts'
import { optionalText, textField } from './read-body.ts'

/** Signing in and out. */
export const signInRoutes: Record<string, AuthRoute> = {
  '/auth/state': { method: 'GET', signedIn: false, handle: showState },
  '/auth/password': { method: 'POST', signedIn: false, handle: signInWithPassword },
  '/auth/link': { method: 'POST', signedIn: false, handle: signInWithLink },
  '/auth/passkey/options': { method: 'POST', signedIn: false, handle: createPasskeyOptions },
  '/auth/passkey': { method: 'POST', signedIn: false, handle: signInWithPasskey },
  '/auth/oidc': { method: 'GET', signedIn: false, asksOthers: true, handle: beginOidc },
  '/auth/oidc/callback': { method: 'GET', signedIn: false, asksOthers: true, handle: finishOidc },
  '/auth/sign-out': { method: 'POST', signedIn: true, handle: signOut },
}

/** Who is signed in, and which methods of signing in are offered. */
async function showState({ session, source, version, oidc }: AuthCall): Promise<AuthAnswer> {
  const site = passkeySite(source.origin, source.insecureReason)
  const refused = 'refused' in site ? site.refused : null
  return {
    value: {
      version,
      operator: session === null ? null : showOperator(session.operator),
      methods: { password: true, passkey: refused === null, oidc: oidc === null ? null : { name: oidc.name } },
      passkey_refused: refused,
      sign_in_refused: source.insecureReason,
    },
  }
}

async function signInWithPassword({ signIn, source, body }: AuthCall): Promise<AuthAnswer> {
  rejectInsecure(source)
  const input = {
    name: textField(body, 'name', 100),
    password: textField(body, 'password'),
    code: optionalText(body, 'code', 20),
  }
  return welcome(await signIn.withPassword(input, source))
}

async function signInWithLink({ signIn, source, body }: AuthCall): Promise<AuthAnswer> {
  rejectInsecure(source)
  return welcome(await signIn.withLink(textField(body, 'token', 100), source))
}

async function createPasskeyOptions(call: AuthCall): Promise<AuthAnswer> {
  const passkeys = await call.lazy.passkeys()
  return { value: await passkeys.signInOptions(siteOf(call), call.source) }
}

async function signInWithPasskey(call: AuthCall): Promise<AuthAnswer> {
  const passkeys = await call.lazy.passkeys()
  return welcome(await passkeys.signIn(call.body, siteOf(call), call.source))
}

const oidcCookie = 'oidc'

async function beginOidc(call: AuthCall): Promise<AuthAnswer> {
  rejectInsecure(call.source)
  const kept = call.cookie(oidcCookie)
  const { token, url } = await (await providerOf(call)).begin(callbackOf(call), call.source.address, call.session, kept)
  // Not `Strict`: the browser returns from another site.
  const cookie = writeCookie(cookieName(call.source.host, oidcCookie), token, oidcMinutes * 60, 'Lax')
  return { cookies: [cookie], location: url }
}

/**
 * This request is a navigation, not a call by the page: why it failed reaches the page as a query parameter. The cookie
 * stays until it expires: another tab may have a sign-in of its own to finish.
 */
async function finishOidc(call: AuthCall): Promise<AuthAnswer> {
  try {
    const provider = await providerOf(call)
    // What the provider sends may hold a question mark, which a query need not escape (RFC 3986, 3.4).
    const [, query = ''] = /\?(.*)$/s.exec(call.url) ?? []
    const { former, ...begun } = await provider.finish(call.cookie(oidcCookie) ?? '', query, call.source)
    return { begun, former, location: '/' }
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error
    return { location: `/sign-in?error=${failureOf(error)}` }
  }
}

function failureOf(error: SignInRefused): OidcFailure {
  if (error instanceof OidcRefused) return error.failure
  return error.code === 'throttled' ? 'throttled' : 'disabled'
}

async function providerOf({ lazy, oidc }: AuthCall) {
  if (oidc === null)
    throw new OidcRefused(
      'not-configured',
      'not_found',
      'No identity provider is configured.',
      'Set console.oidc in config.yaml.',
    )
  return await lazy.oidc(oidc)
}

function callbackOf({ source }: AuthCall): string {
  return `${source.origin}/auth/oidc/callback`
}

async function signOut(call: AuthCall): Promise<AuthAnswer> {
  await call.signIn.end(sessionOf(call))
  return { ended: true }
}

function welcome(begun: BegunSession): AuthAnswer {
  return { begun, value: { operator: showOperator(begun.operator) } }
}

/** Checked first: others on the network may already have read what was typed. */
function rejectInsecure({ insecureReason }: AuthCall['source']): void {
  if (insecureReason === null) return
  const hint =
    'Set console.tls, or put an HTTPS proxy in front and set console.url. For local access: ssh -L 8788:localhost:8788 HOST'
  throw new SignInRefused('refused', insecureReason, hint)
}
