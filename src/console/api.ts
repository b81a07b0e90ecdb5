import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Dispatcher, OperationCaller } from '../admin/dispatch.ts'
import { type ApiToken, findToken, isGoodToken } from '../sign-in/find-token.ts'
import type { SessionOfOperator } from '../sign-in/sessions.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { findSession, isDegraded } from './auth.ts'
import type { CallHolder, LiveCalls } from './live-calls.ts'
import { apiError, type Reply, securityHeaders, sendReply } from './reply.ts'
import { clientAddress, type GuardSettings, type RequestSource, rejectCrossSite, sendsJson } from './request-guard.ts'

export interface ApiParts {
  signIn: SignIn
  guardSettings: GuardSettings
  version: string
  live: LiveCalls
  dispatcher(): Promise<Dispatcher>
  /** The response goes to an authenticated client. */
  markAuthenticated(response: ServerResponse): void
}

interface AuthenticatedCall {
  caller: OperationCaller
  holder: CallHolder
}

/** `/api/<noun>/<verb>`: the operations, for signed-in operators and API tokens. */
export async function handleApi(
  request: IncomingMessage,
  response: ServerResponse,
  source: RequestSource | null,
  parts: ApiParts,
): Promise<void> {
  const authenticated = await authenticate(request, source, parts).catch(rejectDegraded)
  if ('status' in authenticated) return sendReply(request, response, authenticated)
  const closing = parts.live.open(authenticated.holder, response)
  if (closing === null) return sendReply(request, response, tooManyCalls())
  parts.markAuthenticated(response)
  // A tail may be silent for any time. The limit on receiving the request stays.
  request.socket.setTimeout(0)
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
  response.setHeader('x-spgw-version', parts.version)
  const dispatcher = await parts.dispatcher()
  if (await dispatcher.dispatch(request, response, authenticated.caller, closing)) return
  sendReply(request, response, apiError(404, 'not_found', 'Operation not found.', 'It may need a newer gateway.'))
}

async function authenticate(
  request: IncomingMessage,
  source: RequestSource | null,
  parts: ApiParts,
): Promise<AuthenticatedCall | Reply> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined) return await authenticateToken(token, request, parts)
  if (source === null)
    return apiError(421, 'refused', 'The console is not served under this host name.', 'Set console.url.')
  return await authenticateSession(request, source, parts)
}

/** Browsers never add a token by themselves, so no cross-site check is needed. */
async function authenticateToken(
  text: string,
  request: IncomingMessage,
  { signIn, guardSettings }: ApiParts,
): Promise<AuthenticatedCall | Reply> {
  const { store } = signIn.parts
  const token = await findToken(store, text)
  if (token === null) {
    const hint = 'It may have expired or been revoked. Create one: spgw tokens create'
    return apiError(401, 'not_signed_in', 'Unknown API token.', hint)
  }
  const recheck = async () => {
    const now = await store.tokens.find(token.id)
    return now !== null && isGoodToken(now) ? expiryOf(now) : 0
  }
  const address = clientAddress(request, guardSettings.trustedProxies)
  return { caller: callerOfToken(token, request, address), holder: { key: token.id, until: expiryOf(token), recheck } }
}

function expiryOf({ expiresAt }: { expiresAt: string | null }): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
}

/** The client names its surface itself; it is used only in the audit log. */
function callerOfToken(
  { id, name, role, projectId }: ApiToken,
  { headers }: IncomingMessage,
  address: string,
): OperationCaller {
  const named = headers['x-spgw-surface']
  const surface = named === 'cli' || named === 'tui' ? named : 'api'
  // Operator names contain no blank, so this cannot be taken for one.
  return { id, name: `token ${name}`, surface, address, grants: [{ project: projectId, role }] }
}

async function authenticateSession(
  request: IncomingMessage,
  source: RequestSource,
  parts: ApiParts,
): Promise<AuthenticatedCall | Reply> {
  const found = await findSession(request, source, parts.signIn)
  if (found === null) return apiError(401, 'not_signed_in', 'You are not signed in.', 'Sign in to the console.')
  if (request.method !== 'POST')
    return { ...apiError(405, 'invalid', 'Operations require POST.', ''), headers: { allow: 'POST' } }
  const foreign = rejectCrossSite(request, source, parts.guardSettings)
  if (foreign !== null) return apiError(403, 'refused', foreign, 'Open the console and try again there.')
  if (!sendsJson(request))
    return apiError(415, 'invalid', 'The request body must be JSON.', 'Send content-type: application/json')
  return { caller: callerOf(found, source), holder: holderOf(found, parts.signIn) }
}

function callerOf({ operator }: SessionOfOperator, { address }: RequestSource): OperationCaller {
  const { id, name, grants } = operator
  return { id, name, grants, surface: 'console', address }
}

/** The call also ends when the operator's roles have changed since it began. */
function holderOf({ session, operator }: SessionOfOperator, signIn: SignIn): CallHolder {
  const grants = JSON.stringify(operator.grants)
  return {
    key: session.id,
    until: expiryOf(session),
    async recheck() {
      const now = await signIn.recheck(session.tokenSha256)
      return now !== null && JSON.stringify(now.operator.grants) === grants ? expiryOf(now.session) : 0
    },
  }
}

/** Without the store nobody can be authenticated. The data plane keeps serving requests. */
function rejectDegraded(error: unknown): Reply {
  if (!isDegraded(error)) throw error
  return apiError(503, 'degraded', 'The store is not responding.', 'Run spgw status. Requests are still being served.')
}

function tooManyCalls(): Reply {
  const reply = apiError(429, 'refused', 'Too many calls are open.', 'Close other pages of the console.')
  return { ...reply, headers: { 'retry-after': '5' } }
}
