/** A bucket of Valkey's time; grants are for one, and a limit a minute is held over seven of them. */
export const bucketMs = 10_000
export const windowBuckets = 7
/** Whoever has no reply younger than this when a bucket begins is absent in it. */
export const silentMs = 3000

/**
 * What a node states of one limit: `[limit, 1 for requests at once, wanted, needed at least, share, 1 if Valkey has to know it,
 * ...held]`. A share of -1 is one of 0, and none is wanted. `held` is what it has of the buckets from `bucket - 6` to `bucket`, or the one number of requests at once.
 */
export type StatedRow = readonly number[]

/** One call of a node: all that it says is absolute, so that only the latest of its calls counts. */
export interface LimitCall {
  /** Of the server process that is asked. */
  run: string
  /** Of the last reply; 0 and empty: there was none. */
  epoch: number
  tag: string
  /** Its clock has jumped: what was granted before is not known for certain. */
  doubt: boolean
  node: string
  /** Of this run of the node. */
  life: string
  number: number
  members: readonly string[]
  /** With this call everything is stated that was used since the node was absent, or in this epoch. */
  whole: boolean
  /** Nothing is missing of what earlier runs of this node used. */
  known: boolean
  /** Time of the last reply of this epoch; 0: none. */
  ack: number
  bucket: number
  rows: readonly StatedRow[]
}

export interface RowFigures {
  /** For the bucket of the reply's time, or requests at once. */
  given: number
  /** May be used where nothing can be granted, over seven buckets. */
  share: number
  /** What could be granted to whoever asks next. */
  room: number
  /** In how many buckets there is room for what was needed, as far as it is known; 0: it was given, or that is not known. */
  frees: number
}

export interface LimitReply {
  /** `new`: another epoch than the call names, so that all is to be stated anew. `dead`: another life has taken its place. */
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

/** Throws where that is no answer of the script: nothing may be granted by it. */
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

/** Large ones come as text. */
function readNumber(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new Error(strange)
  return number
}
