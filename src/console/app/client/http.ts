/** The one file of the app that touches the network: its own origin, with its own cookie, and nothing else. */

/** Sends one call of the admin client. */
export function sendCall(request: Request): Promise<Response> {
  return fetch(request, { credentials: 'same-origin', redirect: 'error' })
}

/** An answer of `/auth/…` that is no success: `{code, message, hint}`. */
export class AuthFault extends Error {
  override readonly name = 'AuthFault'
  readonly code: string
  readonly hint: string
  readonly status: number
  /** Seconds to wait, where the answer says so. */
  readonly retryAfter: number | null

  constructor(answer: Response, body: Record<string, unknown>) {
    super(textOf(body.message) ?? `The gateway responded with status ${answer.status}.`)
    this.code = textOf(body.code) ?? `status_${answer.status}`
    this.hint = textOf(body.hint) ?? 'Try again.'
    this.status = answer.status
    const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
    this.retryAfter = Number.isFinite(seconds) ? seconds : null
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** `GET` without a body, `POST` with one. Throws `AuthFault`. */
export async function callAuth<Answer>(path: string, body?: object): Promise<Answer> {
  const answer = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    credentials: 'same-origin',
    redirect: 'error',
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const read: unknown = answer.status === 204 ? {} : await answer.json().catch(() => ({}))
  const content = typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : {}
  if (!answer.ok) throw new AuthFault(answer, content)
  return content as Answer
}
