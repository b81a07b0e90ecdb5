import type { IncomingMessage } from 'node:http'
import { ownValue } from '../core/own-value.ts'
import { SignInRefused, signInStatus } from '../sign-in/refusal.ts'
import { absoluteMs, type BegunSession, type SessionOfOperator } from '../sign-in/sessions.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { accountRoutes } from './auth-account.ts'
import type { AuthAnswer, AuthCall, AuthContext, AuthRoute } from './auth-route.ts'
import { signInRoutes } from './auth-sign-in.ts'
import { cookieName, readCookie, writeCookie } from './cookies.ts'
import { readJsonBody } from './read-body.ts'
import { jsonReply, type Reply } from './reply.ts'
import { type GuardSettings, type RequestSource, rejectCrossSite, sendsJson } from './request-guard.ts'

const routes: Record<string, AuthRoute> = { ...signInRoutes, ...accountRoutes }

export interface AuthParts extends AuthContext {
  guardSettings: GuardSettings
  /** Checks again whether open calls may go on. */
  recheck(): Promise<void>
}

/** `/auth/…`: signing in and out, and the operator's own account. */
export async function replyAuth(
  request: IncomingMessage,
  path: string,
  source: RequestSource,
  parts: AuthParts,
): Promise<Reply> {
  try {
    const route = ownValue(routes, path)
    if (route === undefined) throw new SignInRefused('not_found', 'Not found.', 'Reload the page.')
    if (route.method !== readMethod(request))
      return { ...jsonReply(405, errorBody('invalid', `Use ${route.method}.`, '')), headers: { allow: route.method } }
    if (route.method === 'POST') rejectForged(request, source, parts.guardSettings)
    // A silent connection would be closed before it is known what came of it.
    if (route.asksOthers === true) request.socket.setTimeout(0)
    const session = await findSession(request, source, parts.signIn)
    if (route.signedIn && session === null)
      throw new SignInRefused('not_signed_in', 'You are not signed in.', 'Sign in again.')
    const body = route.method === 'POST' ? await readJsonBody(request) : {}
    const call: AuthCall = {
      ...parts,
      source,
      session,
      body,
      url: request.url ?? '',
      cookie: (name) => readCookie(request, cookieName(source.host, name)),
    }
    const answer = await route.handle(call)
    // Signing in again ends the old session.
    const former = session ?? answer.former ?? null
    if (answer.begun !== undefined && former !== null) await parts.signIn.end(former)
    if (route.method === 'POST' || answer.begun !== undefined) await parts.recheck()
    if (answer.taken === undefined) return replyWith(answer, source)
    const nodes = await parts.confirmReach(answer.taken.id)
    return replyWith({ ...answer, value: { ...answer.value, nodes } }, source)
  } catch (error) {
    return replyError(error)
  }
}

/** The valid session of the request's cookie, or null. */
export async function findSession(
  request: IncomingMessage,
  source: RequestSource,
  signIn: SignIn,
): Promise<SessionOfOperator | null> {
  const token = readCookie(request, cookieName(source.host))
  return token === null ? null : await signIn.find(token)
}

/** Other sites must not sign anybody in or out (login CSRF). */
function rejectForged(request: IncomingMessage, source: RequestSource, guardSettings: GuardSettings): void {
  const foreign = rejectCrossSite(request, source, guardSettings)
  if (foreign !== null) throw new SignInRefused('refused', foreign, 'Open the console and try again there.')
  if (!sendsJson(request))
    throw new SignInRefused('invalid', 'The request body must be JSON.', 'Send content-type: application/json')
}

function readMethod({ method }: IncomingMessage): string {
  return method === 'HEAD' ? 'GET' : (method ?? '')
}

function replyWith(answer: AuthAnswer, source: RequestSource): Reply {
  const cookies = [...(answer.cookies ?? [])]
  if (answer.begun !== undefined) cookies.push(sessionCookie(source, answer.begun))
  if (answer.ended === true) cookies.push(writeCookie(cookieName(source.host), '', 0, 'Strict'))
  const headers: Reply['headers'] = cookies.length === 0 ? {} : { 'set-cookie': cookies }
  if (answer.location === undefined) return { ...jsonReply(200, answer.value ?? {}), headers }
  return { ...jsonReply(303, {}), headers: { ...headers, location: answer.location } }
}

function sessionCookie({ host }: RequestSource, { token }: BegunSession): string {
  return writeCookie(cookieName(host), token, absoluteMs / 1000, 'Strict')
}

/** The store is unhealthy, or its thread has just ended. */
export function isDegraded(error: unknown): boolean {
  return error instanceof Error && error.name === 'StoreDegraded'
}

/** Unexpected errors are thrown on; the listener reports them. */
function replyError(error: unknown): Reply {
  if (isDegraded(error))
    return jsonReply(
      signInStatus.unavailable,
      errorBody('unavailable', 'The store is not responding.', 'Try again. To find the cause: spgw status'),
    )
  if (!(error instanceof SignInRefused)) throw error
  const { code, message, hint, retryAfterSeconds } = error
  const reply = jsonReply(signInStatus[code], errorBody(code, message, hint))
  return retryAfterSeconds === null ? reply : { ...reply, headers: { 'retry-after': String(retryAfterSeconds) } }
}

function errorBody(code: string, message: string, hint: string): object {
  return { code, message, hint }
}
