/** A bucket of Valkey's time. Grants are for one bucket, and a limit per minute applies over seven. */
export const bucketMs = 10_000
export const windowBuckets = 7
/** A node whose last reply is older than this when a bucket begins is absent in it. */
export const silentMs = 3000

/**
 * What a node states about one limit: `[limit, 1 for requests at once, wanted, needed at least, share, 1 if Valkey has to know it,
 * ...held]`. A share of -1 means 0, and that none is wanted. `held`: grants for the buckets from `bucket - 6` to `bucket`, or one number
 * for requests at once.
 */
export type StatedRow = readonly number[]

/** One call of a node. Everything in it is absolute, so only a node's latest call counts. */
export interface LimitCall {
  /** Identifies the server process. */
  run: string
  /** Of the last reply; 0 and empty: none yet. */
  epoch: number
  tag: string
  /** The node's clock has jumped: earlier grants are uncertain. */
  doubt: boolean
  node: string
  /** Identifies this run of the node. */
  life: string
  number: number
  members: readonly string[]
  /** The call states everything that was used since the node was absent, or in this epoch. */
  whole: boolean
  /** Nothing is missing from what earlier runs of this node used. */
  known: boolean
  /** Time of the last reply in this epoch; 0: none. */
  ack: number
  bucket: number
  rows: readonly StatedRow[]
}

export interface RowFigures {
  /** For the bucket of the reply's time, or for requests at once. */
  given: number
  /** What may be used while nothing can be granted, over seven buckets. */
  share: number
  /** What the next node to ask could be granted. */
  room: number
  /** In how many buckets there will be room for what was needed; 0: it was granted, or that is unknown. */
  frees: number
}

export interface LimitReply {
  /** `new`: the server's epoch differs, so everything must be stated again. `dead`: another run of the node has taken its place. */
  code: 'ok' | 'new' | 'dead' | 'old'
  epoch: number
  tag: string
  /** Epoch milliseconds of Valkey's clock. */
  time: number
  /** False: nothing is granted until all nodes have stated what they hold. */
  open: boolean
  rows: RowFigures[]
}

const codes = ['ok', 'new', 'dead', 'old'] as const

const strange = 'it answered the script of limits with something else'

/** Throws for anything that is not an answer of the script: it must not grant anything. */
export function readReply(value: unknown): LimitReply {
  const [code, epoch, tag, time, open, rows]: unknown[] = Array.isArray(value) ? value : []
  const name = codes[readNumber(code)]
  if (name === undefined || typeof tag !== 'string' || !Array.isArray(rows)) throw new Error(strange)
  const figures = rows.map(readFigures)
  return { code: name, epoch: readNumber(epoch), tag, time: readNumber(time), open: open === 1, rows: figures }
}

function readFigures(row: unknown): RowFigures {
  const [given, share, room, frees]: unknown[] = Array.isArray(row) ? row : []
  return { given: readNumber(given), share: readNumber(share), room: readNumber(room), frees: readNumber(frees) }
}

/** Large numbers arrive as strings. */
function readNumber(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new Error(strange)
  return number
}
