import { type Finding, maskFindings } from './detector.ts'

export type Find = (text: string) => Finding[]

export interface Masked {
  text: string
  /** How many places were replaced. */
  places: number
}

/** Between two rests: some milliseconds of work. */
const restEvery = 64 * 1024

/**
 * Masks JSON without parsing it, so that it may be cut off anywhere, be one document or many in lines or events, and
 * keeps every byte that is not masked: within strings what they mean is looked at, however it is escaped, and numbers
 * and anything else as it stands. What was JSON stays JSON of the same shape. Rests now and then, for the caller to let others run.
 */
export function* maskJsonText(text: string, find: Find): Generator<void, Masked> {
  const masked: Masked = { text: '', places: 0 }
  let rested = 0
  for (const { from, to, quoted } of cutPieces(text)) {
    const piece = text.slice(from, to)
    masked.text += quoted ? maskQuoted(piece, find, masked) : mask(piece, find, masked)
    if (to - rested < restEvery) continue
    rested = to
    yield
  }
  return masked
}

/** Text that is no JSON: as it stands. */
export function maskPlainText(text: string, find: Find): Masked {
  const masked: Masked = { text: '', places: 0 }
  masked.text = mask(text, find, masked)
  return masked
}

function mask(text: string, find: Find, masked: Masked): string {
  const findings = find(text)
  masked.places += findings.length
  return findings.length === 0 ? text : maskFindings(text, findings)
}

function maskQuoted(text: string, find: Find, masked: Masked): string {
  if (!text.includes('\\')) return mask(text, find, masked)
  const meant = readQuoted(text)
  if (meant === null) return mask(text, find, masked)
  const findings = find(meant)
  masked.places += findings.length
  return findings.length === 0 ? text : JSON.stringify(maskFindings(meant, findings)).slice(1, -1)
}

/** null: it is no content of a JSON string, such as one that is cut off within an escape. */
function readQuoted(text: string): string | null {
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return null
  }
}

interface Piece {
  from: number
  to: number
  /** The content of a string, without its quotes. */
  quoted: boolean
}

const mark = /["\n]/g
const quotedMark = /["\n\\]/g

/** No string of JSON goes over a line's end: a stray quote turns one line inside out at the most, and each side is looked at all the same. */
function* cutPieces(text: string): Generator<Piece> {
  let from = 0
  let quoted = false
  while (from < text.length) {
    const to = pieceEnd(text, from, quoted)
    if (to > from) yield { from, to, quoted }
    quoted = text[to] === '"' ? !quoted : false
    if (to < text.length) yield { from: to, to: to + 1, quoted: false }
    from = to + 1
  }
}

function pieceEnd(text: string, from: number, quoted: boolean): number {
  const wanted = quoted ? quotedMark : mark
  for (let position = from; ; ) {
    wanted.lastIndex = position
    const found = wanted.exec(text)
    if (found === null) return text.length
    if (found[0] !== '\\') return found.index
    position = found.index + 2
  }
}
