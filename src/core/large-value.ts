import { skipValueCode } from './skip-value-code.ts'
import type { NameWatch, WatchedNames } from './watched-names.ts'

/** Node's types leave it to a browser's. */
declare const WebAssembly: {
  Module: new (code: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

/** What wasm/skip-value.ts exports. */
interface Skipper {
  memory: { buffer: ArrayBuffer }
  inputPlace(): number
  inputSize(): number
  namesPlace(): number
  begin(names: number, shortestHidden: number): void
  run(length: number, last: boolean): number
  place(): number
  seen(): boolean
}

const wrong = 2
const done = 0
/** Most values are short, also those in large bodies. */
const firstBytes = 1024

class LargeValues {
  readonly #code: Skipper
  readonly #input: Buffer
  /** Whose names lie in its memory. */
  #names: WatchedNames | null = null

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(skipValueCode, 'base64'))
    this.#code = new WebAssembly.Instance(module).exports as Skipper
    this.#input = Buffer.from(this.#code.memory.buffer, this.#code.inputPlace(), this.#code.inputSize())
  }

  skip(bytes: Buffer, at: number, end: number, watch: NameWatch | null): number {
    const code = this.#code
    if (watch === null) code.begin(0, 0)
    else code.begin(this.#putNames(watch.names), watch.names.shortestHidden)
    let from = at
    let size = firstBytes
    for (;;) {
      const length = bytes.copy(this.#input, 0, from, Math.min(from + size, end))
      const outcome = code.run(length, from + length === end)
      const place = code.place()
      if (outcome === done || outcome === wrong) {
        if (watch !== null && code.seen()) watch.seen = true
        return outcome === done ? from + place : ~(from + place)
      }
      // A key or a number that fills all that can be looked at: none that means anything.
      if (place === 0 && length === this.#input.length) return ~from
      from += place
      size = this.#input.length
    }
  }

  #putNames(names: WatchedNames): number {
    if (this.#names !== names) {
      const texts = names.all.flatMap((name) => [Buffer.of(name.length), Buffer.from(name, 'latin1')])
      Buffer.concat(texts).copy(Buffer.from(this.#code.memory.buffer, this.#code.namesPlace()))
      this.#names = names
    }
    return names.all.length
  }
}

let values: LargeValues | null = null

/**
 * The index after the JSON value that starts at `at`, or `~offset` of what is wrong, three times as fast as byte by byte; what it
 * costs to have a piece copied pays only in large bodies, and the first of them pays for the code. docs/decisions/0044.
 */
export function skipLargeValue(bytes: Buffer, at: number, end: number, watch: NameWatch | null): number {
  values ??= new LargeValues()
  return values.skip(bytes, at, end, watch)
}
