import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller, Dispatcher } from '../admin/dispatch.ts'
import { type ApiToken, findToken, isGoodToken } from '../sign-in/find-token.ts'
import type { SessionOfOperator } from '../sign-in/sessions.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { apiRefusal, guards, type Reply, send } from './answer.ts'
import { findVisitor, isDegraded } from './auth.ts'
import type { Holder, LiveCalls } from './live-calls.ts'
import { clientAddress, type Premises, refuseForeign, sendsJson, type Visit } from './visit.ts'

export interface ApiParts {
  signIn: SignIn
  premises: Premises
  version: string
  live: LiveCalls
  dispatcher(): Promise<Dispatcher>
  /** Who is being answered is known. */
  know(response: ServerResponse): void
}

interface Admitted {
  caller: Caller
  holder: Holder
}

/** `/api/<noun>/<verb>`: the operations, for whoever is signed in or has a token. */
export async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  visit: Visit | null,
  parts: ApiParts,
): Promise<void> {
  const admitted = await admit(request, visit, parts).catch(refuseDegraded)
  if ('status' in admitted) return send(request, response, admitted)
  const closing = parts.live.open(admitted.holder, response)
  if (closing === null) return send(request, response, tooMany())
  parts.know(response)
  // A tail may be silent for as long as it likes; what is still being received keeps its own limit.
  request.socket.setTimeout(0)
  for (const [name, value] of Object.entries(guards)) response.setHeader(name, value)
  response.setHeader('x-spgw-version', parts.version)
  const dispatcher = await parts.dispatcher()
  if (await dispatcher.dispatch(request, response, admitted.caller, closing)) return
  send(
    request,
    response,
    apiRefusal(404, 'not_found', 'There is no such operation.', 'It may be newer than this gateway.'),
  )
}

async function admit(request: IncomingMessage, visit: Visit | null, parts: ApiParts): Promise<Admitted | Reply> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token !== undefined) return await admitToken(token, request, parts)
  if (visit === null) return apiRefusal(421, 'refused', 'The console does not answer to this name.', 'Set console.url.')
  return await admitSession(request, visit, parts)
}

/** Nobody but its holder can send a token, so no page can make a browser do it. */
async function admitToken(
  text: string,
  request: IncomingMessage,
  { signIn, premises }: ApiParts,
): Promise<Admitted | Reply> {
  const { store } = signIn.parts
  const token = await findToken(store, text)
  if (token === null) {
    const hint = 'It may have expired or been revoked. Make one: spgw tokens create'
    return apiRefusal(401, 'not_signed_in', 'The token is not known.', hint)
  }
  const recheck = async () => {
    const now = await store.tokens.find(token.id)
    return now !== null && isGoodToken(now) ? endOf(now) : 0
  }
  const address = clientAddress(request, premises.trustedProxies)
  return { caller: callerOfToken(token, request, address), holder: { key: token.id, until: endOf(token), recheck } }
}

function endOf({ expiresAt }: { expiresAt: string | null }): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
}

/** The surface is the client's word, for the audit only. */
function callerOfToken({ id, name, role, projectId }: ApiToken, { headers }: IncomingMessage, address: string): Caller {
  const named = headers['x-spgw-surface']
  const surface = named === 'cli' || named === 'tui' ? named : 'api'
  // No operator's name has a blank in it.
  return { id, name: `token ${name}`, surface, address, grants: [{ project: projectId, role }] }
}

async function admitSession(request: IncomingMessage, visit: Visit, parts: ApiParts): Promise<Admitted | Reply> {
  const found = await findVisitor(request, visit, parts.signIn)
  if (found === null) return apiRefusal(401, 'not_signed_in', 'You are not signed in.', 'Sign in to the console.')
  if (request.method !== 'POST')
    return { ...apiRefusal(405, 'invalid', 'Operations are called with POST.', ''), headers: { allow: 'POST' } }
  const foreign = refuseForeign(request, visit, parts.premises)
  if (foreign !== null) return apiRefusal(403, 'refused', foreign, 'Open the console itself, and try again there.')
  if (!sendsJson(request)) return apiRefusal(415, 'invalid', 'What is sent here is JSON.', 'Send application/json.')
  return { caller: callerOf(found, visit), holder: holderOf(found, parts.signIn) }
}

function callerOf({ operator }: SessionOfOperator, { address }: Visit): Caller {
  const { id, name, grants } = operator
  return { id, name, grants, surface: 'console', address }
}

/** Another role than the call began with is reason enough to begin anew. */
function holderOf({ session, operator }: SessionOfOperator, signIn: SignIn): Holder {
  const grants = JSON.stringify(operator.grants)
  return {
    key: session.id,
    until: endOf(session),
    async recheck() {
      const now = await signIn.recheck(session.tokenSha256)
      return now !== null && JSON.stringify(now.operator.grants) === grants ? endOf(now.session) : 0
    },
  }
}

/** Who calls cannot be found out, so nobody does; what the gateway serves goes on. */
function refuseDegraded(error: unknown): Reply {
  if (!isDegraded(error)) throw error
  return apiRefusal(503, 'degraded', 'The store does not answer.', 'See spgw status; requests go on being served.')
}

function tooMany(): Reply {
  const reply = apiRefusal(429, 'refused', 'Too many calls are open at once.', 'Close other pages of the console.')
  return { ...reply, headers: { 'retry-after': '5' } }
}
