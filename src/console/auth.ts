import type { IncomingMessage } from 'node:http'
import { SignInRefused, signInStatus } from '../sign-in/refusal.ts'
import { absoluteMs, type Begun, type SessionOfOperator } from '../sign-in/sessions.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { json, type Reply } from './answer.ts'
import { accountRoutes } from './auth-account.ts'
import { entryRoutes } from './auth-entry.ts'
import type { AuthAnswer, AuthCall, AuthRoute, Desk } from './auth-route.ts'
import { cookieName, readCookie, writeCookie } from './cookies.ts'
import { readJsonBody } from './read-body.ts'
import { type Premises, refuseForeign, sendsJson, type Visit } from './visit.ts'

const routes: Record<string, AuthRoute> = { ...entryRoutes, ...accountRoutes }

export interface AuthParts extends Desk {
  premises: Premises
  /** Whoever has something open is looked at again. */
  recheck(): Promise<void>
}

/** `/auth/…`: how people come in, and what they come in with. */
export async function replyAuth(
  request: IncomingMessage,
  path: string,
  visit: Visit,
  parts: AuthParts,
): Promise<Reply> {
  try {
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined
    if (route === undefined) throw new SignInRefused('not_found', 'There is nothing here.', 'Reload the page.')
    if (route.method !== readMethod(request))
      return { ...json(405, described('invalid', `Use ${route.method}.`, '')), headers: { allow: route.method } }
    if (route.method === 'POST') refuseForged(request, visit, parts.premises)
    const session = await findVisitor(request, visit, parts.signIn)
    if (route.signedIn && session === null)
      throw new SignInRefused('not_signed_in', 'You are not signed in.', 'Sign in again.')
    const body = route.method === 'POST' ? await readJsonBody(request) : {}
    const call: AuthCall = {
      ...parts,
      visit,
      session,
      body,
      url: request.url ?? '',
      cookie: (name) => readCookie(request, cookieName(visit.host, name)),
    }
    const answer = await route.handle(call)
    // Whoever signs in again leaves nothing of the session before behind.
    if (answer.begun !== undefined && session !== null) await parts.signIn.end(session)
    if (route.method === 'POST') await parts.recheck()
    return replyWith(answer, visit)
  } catch (error) {
    return replyRefused(error)
  }
}

/** The session whose cookie came along; null: there is none that is good. */
export async function findVisitor(
  request: IncomingMessage,
  visit: Visit,
  signIn: SignIn,
): Promise<SessionOfOperator | null> {
  const token = readCookie(request, cookieName(visit.host))
  return token === null ? null : await signIn.find(token)
}

/** Signing somebody in, or out, is not for other pages either. */
function refuseForged(request: IncomingMessage, visit: Visit, premises: Premises): void {
  const foreign = refuseForeign(request, visit, premises)
  if (foreign !== null) throw new SignInRefused('refused', foreign, 'Open the console itself, and try again there.')
  if (!sendsJson(request))
    throw new SignInRefused('invalid', 'What is sent here is JSON.', 'Send content-type: application/json')
}

function readMethod({ method }: IncomingMessage): string {
  return method === 'HEAD' ? 'GET' : (method ?? '')
}

function replyWith(answer: AuthAnswer, visit: Visit): Reply {
  const cookies = [...(answer.cookies ?? [])]
  if (answer.begun !== undefined) cookies.push(sessionCookie(visit, answer.begun))
  if (answer.ended === true) cookies.push(writeCookie(cookieName(visit.host), '', 0, 'Strict'))
  const headers: Reply['headers'] = cookies.length === 0 ? {} : { 'set-cookie': cookies }
  if (answer.location === undefined) return { ...json(200, answer.value ?? {}), headers }
  return { ...json(303, {}), headers: { ...headers, location: answer.location } }
}

function sessionCookie({ host }: Visit, { token }: Begun): string {
  return writeCookie(cookieName(host), token, absoluteMs / 1000, 'Strict')
}

/** The store is sick, or its thread has just ended. */
export function isDegraded(error: unknown): boolean {
  return error instanceof Error && error.name === 'StoreDegraded'
}

/** What is no refusal is a fault, and somebody else's to tell. */
function replyRefused(error: unknown): Reply {
  if (isDegraded(error))
    return json(
      signInStatus.unavailable,
      described('unavailable', 'The store does not answer.', 'Try again; see spgw status.'),
    )
  if (!(error instanceof SignInRefused)) throw error
  const { code, message, hint, retryAfterSeconds } = error
  const reply = json(signInStatus[code], described(code, message, hint))
  return retryAfterSeconds === null ? reply : { ...reply, headers: { 'retry-after': String(retryAfterSeconds) } }
}

function described(code: string, message: string, hint: string): object {
  return { code, message, hint }
}
