import { isWithinCharacter } from '../../core/text/character-pairs.ts'
import type { Detection } from '../detectors/detector.ts'
import { labelOf, type ReadyRule } from './compile.ts'
import type { Placeholders } from './placeholders.ts'
import { type PlainText, placeIn, plainText } from './plain-text.ts'
import type { Seeker } from './seeker.ts'

/** What all texts of one prompt or answer share. */
export interface ScanContext {
  rules: readonly ReadyRule[]
  placeholders: Placeholders
  /** Puts back the values of placeholders; null: there are none. */
  readonly restorer: () => Seeker | null
  /** What is redacted in an answer is never put back. */
  isAnswer?: boolean
  /** Called for each settled match of a rule, in the order of the text. */
  found(rule: ReadyRule, note: string): void
}

interface Place {
  start: number
  end: number
  note: string
  /** null: a placeholder that is replaced by its value. */
  by: ReadyRule | null
}

/** How much of the released text is remembered, since some detectors look at what precedes a match. */
const contextLength = 128
/** How much is searched at once. */
const pieceLength = 4096
/** How much is held at most. A longer run that could still grow is settled as it is. */
const heldLength = 8192
/** A longer hold is searched again only when it has grown by a quarter: otherwise a long word in small pieces would take quadratic time. */
const smallHold = 512

/**
 * Applies rules to a text that comes in pieces, and holds back only what could still become a match. `units`: how each character is
 * written, if it is escaped.
 */
export class TextScan {
  readonly #context: ScanContext
  readonly #encode: (text: string) => string
  readonly #escaped: boolean
  #before = ''
  #held = ''
  #units: string[] = []
  #lookAgainAt = 0
  /** A match was too long to be held: the rest of it is dropped. */
  #dropping: ((text: string) => number) | null = null
  #blocked = false

  constructor(context: ScanContext, encode: ((text: string) => string) | null = null) {
    this.#context = context
    this.#escaped = encode !== null
    this.#encode = encode ?? ((text) => text)
  }

  /** A block rule has matched: nothing more is released. */
  get blocked(): boolean {
    return this.#blocked
  }

  /** Characters that are held back. */
  get held(): number {
    return this.#held.length
  }

  /** Returns what may be released of the new and the held text. */
  push(text: string, units: readonly string[] | null = null): string {
    let out = ''
    for (let at = 0; at < text.length && !this.#blocked; ) {
      const size = Math.min(pieceLength, heldLength - this.#held.length)
      const piece = text.slice(at, at + size)
      this.#held += piece
      if (this.#escaped) for (const unit of units?.slice(at, at + size) ?? piece) this.#units.push(unit)
      at += piece.length
      if (this.#dropping !== null) this.#drop(this.#dropping)
      if (this.#held.length >= this.#lookAgainAt || this.#held.length >= heldLength) out += this.#look(false)
      if (this.#held.length >= heldLength) out += this.#cut()
    }
    return this.#blocked ? '' : out
  }

  /** Scans a text that is already complete. */
  whole(text: string): string {
    if (text.length > pieceLength || this.#escaped) return this.push(text) + this.end()
    this.#held = text
    return this.end()
  }

  /** The text ends here: releases the rest. */
  end(): string {
    const out = this.#blocked ? '' : this.#look(true)
    this.#before = ''
    this.#dropping = null
    return this.#blocked ? '' : out
  }

  #look(isEnd: boolean): string {
    const text = this.#before + this.#held
    const base = this.#before.length
    const plain = plainText(text)
    const places = this.#find(text, base, plain)
    if (isEnd && places.length === 0) return this.#passRest()
    const limit = isEnd ? text.length : this.#settledTo(text, base, places, plain)
    const settled = places.length === 0 ? places : places.filter(({ end }) => end <= limit)
    for (const { by, note } of settled) if (by !== null) this.#report(by, note)
    if (this.#blocked) return ''
    const out = settled.length === 0 ? this.#written(text, base, base, limit) : this.#write(text, base, limit, settled)
    this.#before = text.slice(Math.max(0, limit - contextLength), limit)
    this.#held = text.slice(limit)
    if (this.#escaped) this.#units.splice(0, limit - base)
    const left = this.#held.length
    this.#lookAgainAt = left < smallHold ? left + 1 : Math.ceil(left * 1.25)
    return out
  }

  #passRest(): string {
    const rest = this.#escaped ? this.#units.splice(0).join('') : this.#held
    this.#held = ''
    return rest
  }

  #find(text: string, base: number, plain: PlainText | null): Place[] {
    const { rules, restorer } = this.#context
    const places: Place[] = []
    for (const by of rules)
      for (const { start, end, note } of findEach(by, text, base, plain))
        if (start >= base) places.push({ start, end, note, by })
    for (const { start, end, note } of restorer()?.find(text) ?? [])
      if (start >= base) places.push({ start, end, note, by: null })
    return places.length < 2 ? places : places.sort((one, other) => one.start - other.start || other.end - one.end)
  }

  /** The index up to which nothing that follows can change the matches; it is never inside a match. */
  #settledTo(text: string, base: number, places: readonly Place[], plain: PlainText | null): number {
    const { rules, restorer } = this.#context
    let limit = restorer()?.growingFrom(text) ?? text.length
    if (plain !== null) limit = Math.min(limit, plain.openFrom)
    for (const { seeker } of rules) {
      limit = Math.min(limit, seeker.growingFrom(text))
      if (plain !== null) limit = Math.min(limit, plain.places[seeker.growingFrom(plain.text)] ?? text.length)
    }
    for (const { start, end } of places.toReversed()) if (start < limit && end > limit) limit = start
    if (isWithinCharacter(text, limit)) limit--
    return Math.max(limit, base)
  }

  #report(by: ReadyRule, note: string): void {
    this.#context.found(by, note)
    if (by.rule.action === 'block') this.#blocked = true
  }

  #write(text: string, base: number, limit: number, places: readonly Place[]): string {
    let out = ''
    let from = base
    for (const { start, end, note, by } of joinOverlaps(places)) {
      out += this.#written(text, base, from, start)
      out += this.#encode(this.#replacement(text.slice(start, end), note, by))
      from = end
    }
    return out + this.#written(text, base, from, limit)
  }

  #replacement(value: string, note: string, by: ReadyRule | null): string {
    const { placeholders, isAnswer } = this.#context
    if (by === null) return placeholders.original(value) ?? value
    return placeholders.mask(labelOf(by.rule, note), value, by.rule.reversible && isAnswer !== true)
  }

  #written(text: string, base: number, from: number, to: number): string {
    return this.#escaped ? this.#units.slice(from - base, to - base).join('') : text.slice(from, to)
  }

  /** The held text is longer than any match: it is settled as if the text ended here. */
  #cut(): string {
    const text = this.#before + this.#held
    const places = this.#find(text, this.#before.length, plainText(text))
    const last = places.find(({ end, by }) => end === text.length && by?.seeker.rest)
    const out = this.#look(true)
    this.#dropping = last?.by?.rule.action === 'redact' ? (last.by.seeker.rest ?? null) : null
    this.#lookAgainAt = 0
    return out
  }

  #drop(rest: (text: string) => number): void {
    const length = Math.max(0, rest(this.#before + this.#held) - this.#before.length)
    const dropped = Math.min(length, this.#held.length)
    if (dropped < this.#held.length) this.#dropping = null
    this.#before = (this.#before + this.#held.slice(0, dropped)).slice(-contextLength)
    this.#held = this.#held.slice(dropped)
    if (this.#escaped) this.#units.splice(0, dropped)
  }
}

/** Searches the text as written and as a model reads it. A match found both ways is listed once. */
export function findEach(
  { seeker }: Pick<ReadyRule, 'seeker'>,
  text: string,
  from: number,
  plain: PlainText | null,
): readonly Detection[] {
  const written = seeker.find(text, from)
  if (plain === null) return written
  const hidden = seeker.find(plain.text).map((one) => placeIn(plain, one))
  return [...written.filter((one) => !hidden.some((other) => isWithin(one, other))), ...hidden]
}

const isWithin = (one: Detection, other: Detection) => other.start <= one.start && one.end <= other.end

/** Keeps the matches that are replaced. Overlapping ones are merged into the first. */
function joinOverlaps(places: readonly Place[]): Place[] {
  const apart: Place[] = []
  for (const place of places) {
    if (place.by !== null && place.by.rule.action !== 'redact') continue
    const last = apart.at(-1)
    if (last === undefined || place.start >= last.end) apart.push({ ...place })
    else if (place.by !== null) {
      last.end = Math.max(last.end, place.end)
      last.by ??= place.by
    }
  }
  return apart
}
