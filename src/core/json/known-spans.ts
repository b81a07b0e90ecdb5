import type { WatchedNames } from '../watched-names.ts'

/** A shorter document is scanned in a few milliseconds, in one go, and nothing is known of it. */
export const slicedBytes = 4 * 1024 * 1024
/** What ends sooner is scanned again. */
const leastBytes = 128
/** Longer texts, numbers and white space are remembered as well; the last at any depth. */
export const longBytes = 4096
/** Nothing deeper is looked at again. */
const mostLevels = 6

/**
 * What a scan of a large document has found: where its long values begin and end, and which watched names it has. Later scans of the same
 * bytes skip by it, so that each of them takes no longer than that of a small one.
 */
export class KnownSpans {
  /** Ascending. */
  readonly #starts: number[] = []
  /** Of the value at the same place: the byte after it, or `~offset` of what is wrong in it. */
  readonly #ends: number[] = []
  /** Places of the containers that are open; -1: too deep to be remembered. */
  readonly #open: number[] = []
  /** Watched names, of any set, that some member has. */
  readonly #names = new Set<string>()
  /** Of the longest key that holds an escape, or a character that folds to a letter of ASCII. */
  longestHidden = 0
  /** Some text may be a sealed value. */
  sealed = false
  #last = 0
  /** White space: where it begins, and the byte after it. */
  readonly #spaces = new Map<number, number>()
  /** As far white space has been looked for; `#spaceStart`: where that begins that is being passed, or -1. */
  #spacesTo = 0
  #spaceStart = -1
  /** It was not scanned to its end, since it has more values than are looked through. */
  tooMany = false

  open(at: number): void {
    const isDeep = this.#open.length >= mostLevels
    this.#open.push(isDeep ? -1 : this.#starts.length)
    if (!isDeep) this.#add(at, 0)
  }

  close(end: number): void {
    const place = this.#open.pop() ?? -1
    if (place < 0) return
    const isShort = end - (this.#starts[place] ?? 0) < leastBytes
    if (!isShort) this.#ends[place] = end
    // Within a short one nothing is remembered, so that it is the last.
    else {
      this.#starts.pop()
      this.#ends.pop()
    }
  }

  /**
   * Looks for long white space, at about so many bytes; true: that was all. Where it is long, one of every `longBytes` bytes is in it; the
   * rest of the document need not be looked at. It is done before the scan, which can pause before a value only.
   */
  findSpaces(bytes: Buffer, most: number, isSpace: (byte: number | undefined) => boolean): boolean {
    for (const pauseAt = this.#spacesTo + most; this.#spacesTo < bytes.length; ) {
      let at = this.#spacesTo
      if (this.#spaceStart < 0) {
        if (isSpace(bytes[at])) for (this.#spaceStart = at; isSpace(bytes[this.#spaceStart - 1]); ) this.#spaceStart--
        else this.#spacesTo += longBytes
        continue
      }
      while (at < pauseAt && isSpace(bytes[at])) at++
      this.#spacesTo = at
      if (at >= pauseAt) return false
      if (at - this.#spaceStart >= longBytes) this.#spaces.set(this.#spaceStart, at)
      this.#spaceStart = -1
    }
    return true
  }

  /** Where white space ends that begins at `at`; undefined: it is short, or was not looked for. */
  spaceEnd(at: number): number | undefined {
    return this.#spaces.get(at)
  }

  /** A text or a number, within `mostLevels`. */
  passed(start: number, end: number): void {
    if (end - start >= longBytes && this.#open.length <= mostLevels) this.#add(start, end)
  }

  /** The scan ended in the middle of all that is open. */
  fail(at: number, tooMany: boolean): void {
    this.tooMany = tooMany
    for (const place of this.#open) if (place >= 0) this.#ends[place] = ~at
    this.#open.length = 0
  }

  /** A key is this watched name, in some letters. */
  named(name: string): void {
    this.#names.add(name)
  }

  /** Where what begins at `at` ends, as a scan would say it; undefined: it is short, or was not come by. */
  endOf(at: number): number | undefined {
    const place = this.#find(at)
    return this.#starts[place] === at ? this.#ends[place] : undefined
  }

  holds(names: WatchedNames): boolean {
    return this.longestHidden >= names.shortestHidden || names.all.some((name) => this.#names.has(name))
  }

  #add(start: number, end: number): void {
    this.#starts.push(start)
    this.#ends.push(end)
  }

  #find(at: number): number {
    // Mostly it is the one behind the last that was found, or the first one within that.
    for (let place = this.#last; place <= this.#last + 2; place++)
      if (this.#starts[place] === at) return this.#found(place)
    let from = 0
    for (let to = this.#starts.length; from < to; ) {
      const middle = (from + to) >> 1
      if ((this.#starts[middle] ?? 0) < at) from = middle + 1
      else to = middle
    }
    return this.#found(from)
  }

  #found(place: number): number {
    this.#last = place
    return place
  }
}

const documents = new WeakMap<Buffer, KnownSpans>()

export function rememberSpans(bytes: Buffer, spans: KnownSpans): void {
  documents.set(bytes, spans)
}

/** Undefined for a document that was not scanned in slices. */
export function knownSpans(bytes: Buffer): KnownSpans | undefined {
  return documents.get(bytes)
}
