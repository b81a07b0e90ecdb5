/** What of a request's bodies a policy keeps, least first: of several policies that say something, the first of these holds. */
export const captureModes = ['none', 'redacted', 'full'] as const
export type CaptureMode = (typeof captureModes)[number]

export const bodyParts = ['request', 'answer'] as const
export type BodyPart = (typeof bodyParts)[number]

/** Of what was asked: what sending it again takes besides its body. Secrets are masked in it. */
export interface BodyHead {
  method: string
  /** With its query. */
  path: string
  headers: Record<string, string>
}

/**
 * In a cluster, why what was captured may be on another node only: `unshipped`, it has not brought it to PostgreSQL yet;
 * `unreachable`, PostgreSQL is away.
 */
export const missingBodies = ['unshipped', 'unreachable'] as const
export type MissingBodies = (typeof missingBodies)[number]

/** The clear text of a sealed body: `content` is null where only type and size were kept. */
export interface CapturedBody {
  /** null of an answer. */
  head: BodyHead | null
  content: string | null
}

/** What is known of a body without opening it. */
export interface BodyNote {
  mode: Exclude<CaptureMode, 'none'>
  /** Content type as sent; null: none was given. */
  type: string | null
  /** Of the whole body, as it went over the wire. */
  bytes: number
  /** Only its beginning was kept. */
  truncated: boolean
  /** Something in it was replaced by a note of what it was. */
  masked: boolean
}
