/**
 * What a policy keeps of a request's bodies, least first. If several policies say something, the one that keeps least
 * applies.
 */
export const captureModes = ['none', 'redacted', 'full'] as const
export type CaptureMode = (typeof captureModes)[number]

export const bodyParts = ['request', 'answer'] as const
export type BodyPart = (typeof bodyParts)[number]

/** What is needed besides the body to send a request again. Secrets are masked. */
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
  /** null for an answer. */
  head: BodyHead | null
  content: string | null
}

/** What is known of a body without opening it. */
export interface BodyNote {
  mode: Exclude<CaptureMode, 'none'>
  /** Content type as sent; null: none was given. */
  type: string | null
  /** Size of the whole body as it was sent. */
  bytes: number
  /** Only its beginning was kept. */
  truncated: boolean
  /** Something in it was replaced by a note of what it was. */
  masked: boolean
}
