import { maskKeys } from './secrets/mask-keys.ts'

/** The one table of coded errors (product.md section 4). Lanes only render it in their own wire shape. */
export type ErrorOrigin = 'client' | 'policy' | 'gateway' | 'provider' | 'network'

interface ErrorRow {
  status: number
  origin: ErrorOrigin
  /** One sentence saying what to do next; the fault's own message may be more exact. */
  hint: string
  /** Sent as `x-should-retry: false`, so that SDKs do not repeat what cannot help. */
  final?: true
}

const rows = {
  missing_key: { status: 401, origin: 'client', hint: 'Send a gateway key as `Authorization: Bearer sp_live_…`.' },
  provider_key_rejected: {
    status: 401,
    origin: 'client',
    hint: "This looks like a provider's own key; only gateway keys (sp_live_…) are accepted here.",
  },
  invalid_key: { status: 401, origin: 'client', hint: 'Check the gateway key, or ask the operator for a new one.' },
  conflicting_credentials: {
    status: 401,
    origin: 'client',
    hint: 'The request carries two different credentials; send the gateway key in one place only.',
  },
  scope_mismatch: {
    status: 403,
    origin: 'client',
    hint: 'Use a key of the project and environment that the request names, or leave the x-sp-project and x-sp-environment headers out.',
  },
  model_not_found: {
    status: 404,
    origin: 'client',
    hint: 'Check the model name, or ask the operator to add a route for it.',
  },
  object_not_found: {
    status: 404,
    origin: 'client',
    hint: 'Check the id: a key can only use objects that its own project and environment created through this gateway, or that an operator adopted for them.',
  },
  unknown_path: { status: 404, origin: 'client', hint: 'Check the base URL and the path.' },
  policy_denied: { status: 403, origin: 'policy', hint: 'A policy does not allow this request; ask the operator.' },
  rate_limited: { status: 429, origin: 'policy', hint: 'Wait for the time in retry-after, then try again.' },
  budget_exceeded: {
    status: 429,
    origin: 'policy',
    hint: 'The budget is used up; wait for its reset or ask the operator.',
    final: true,
  },
  request_too_large: { status: 413, origin: 'client', hint: 'Send a smaller body.' },
  invalid_request: { status: 400, origin: 'client', hint: 'Correct the request body.' },
  not_translatable: {
    status: 400,
    origin: 'client',
    hint: 'Call the lane whose format the provider supports, or route the model to another provider.',
  },
  provider_not_ready: {
    status: 503,
    origin: 'gateway',
    hint: 'No provider of this route is active and ready; the operator can see the reason under Providers.',
  },
  object_index_unavailable: {
    status: 503,
    origin: 'gateway',
    hint: 'The gateway cannot look up the owner of the object at the moment; try again.',
  },
  provider_credential_rejected: {
    status: 502,
    origin: 'provider',
    hint: 'The provider refused the stored credential; the operator must replace it.',
    final: true,
  },
  provider_unreachable: { status: 502, origin: 'network', hint: 'The provider could not be reached; try again later.' },
  provider_timeout: {
    status: 504,
    origin: 'provider',
    hint: 'Try again, with a smaller request or a longer time limit.',
  },
  provider_bad_response: {
    status: 502,
    origin: 'provider',
    hint: "The provider's answer was malformed or incomplete; try again.",
  },
  overloaded: {
    status: 503,
    origin: 'gateway',
    hint: 'The gateway is shedding load; wait for the time in retry-after, then try again.',
  },
  internal: {
    status: 500,
    origin: 'gateway',
    hint: 'An error in the gateway itself; give the operator the request id.',
  },
  provider_unspecified: {
    status: 400,
    origin: 'client',
    hint: 'Name the provider with the header x-sp-provider, or ask the operator to set a default for the environment.',
  },
  provider_quota_exhausted: {
    status: 503,
    origin: 'provider',
    hint: "The provider's account is out of quota or credit; the operator must add credit.",
    final: true,
  },
  unsupported_transfer: {
    status: 501,
    origin: 'client',
    hint: 'Send the body with a content-length, or with `transfer-encoding: chunked` and no other transfer coding.',
    final: true,
  },
  websocket_unavailable: {
    status: 426,
    origin: 'client',
    hint: 'No provider for this key has this WebSocket; send the request over HTTP.',
    final: true,
  },
} satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof rows
export const errorTable: Record<ErrorCode, ErrorRow> = rows
export const errorCodes = Object.keys(rows) as ErrorCode[]

/** On a record only: the client hung up (499), or a provider's own error passed through. Never rendered by a lane. */
export type RecordErrorCode = ErrorCode | 'client_closed' | 'provider_error'

/** A refusal or failure as a value. `message` names what is wrong and what to do, and never holds a secret. */
export interface Fault {
  code: ErrorCode
  message: string
  /** JSON path or parameter at fault, where there is one. */
  param?: string
  /** Becomes `retry-after` (whole seconds, rounded up). */
  retryAfterMs?: number
  /** RFC 3339: becomes `x-sp-reset`. */
  resetsAt?: string
  /** Overrides the table's `final`. */
  shouldRetry?: boolean
  /** Overrides the table's. */
  origin?: ErrorOrigin
  /** A model's mistake with this one prompt: nothing is learned of the provider's health. */
  ofModel?: true
}

export function fault(code: ErrorCode, message?: string, more?: Omit<Fault, 'code' | 'message'>): Fault {
  // What a client named may be its key, by mistake.
  return { code, message: message === undefined ? errorTable[code].hint : maskKeys(message), ...more }
}

/** Whose fault it is. */
export function originOf({ code, origin }: Fault): ErrorOrigin {
  return origin ?? errorTable[code].origin
}
