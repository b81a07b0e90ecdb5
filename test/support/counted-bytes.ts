/** What was done with some bytes. */
export interface Work {
  /** Bytes looked at one by one. */
  reads: number
  /** Bytes that a native search went over. */
  searched: number
  decodes: number
  /** Bytes that were made text. */
  decoded: number
}

/** The bytes, and all that is done with them, counted: a cost that no busy machine changes. */
export function countedBytes(bytes: Buffer): { bytes: Buffer; work: Work } {
  const work: Work = { reads: 0, searched: 0, decodes: 0, decoded: 0 }
  return { bytes: counted(bytes, work), work }
}

export function stepsOf({ reads, searched, decoded }: Work): number {
  return reads + searched + decoded
}

function counted(bytes: Buffer, work: Work): Buffer {
  const methods: Record<string, (...given: never[]) => unknown> = {
    indexOf: (wanted: number | string | Buffer, from = 0) => {
      const found = bytes.indexOf(wanted, from)
      work.searched += (found === -1 ? bytes.length : found) - from
      return found
    },
    lastIndexOf: (wanted: number | string | Buffer, from = bytes.length) => {
      const found = bytes.lastIndexOf(wanted, from)
      work.searched += from - Math.max(0, found)
      return found
    },
    includes: (wanted: number | string | Buffer, from = 0) => methods.indexOf!(wanted as never, from as never) !== -1,
    toString: (encoding: BufferEncoding, from = 0, to = bytes.length) => {
      work.decodes++
      work.decoded += to - from
      return bytes.toString(encoding, from, to)
    },
    subarray: (from?: number, to?: number) => counted(bytes.subarray(from, to), work),
    copy: (target: Buffer, at?: number, from = 0, to = bytes.length) => {
      work.searched += (to - from) / 64
      return bytes.copy(target, at, from, to)
    },
  }
  return new Proxy(bytes, {
    get(_, name) {
      // Nearly always a byte.
      if (typeof name === 'string' && name >= '0' && name < ':') {
        work.reads++
        return bytes[Number(name)]
      }
      if (typeof name === 'string' && name in methods) return methods[name]
      const value: unknown = Reflect.get(bytes, name, bytes)
      if (typeof value === 'function') throw new Error(`not counted: ${String(name)}`)
      return value
    },
  })
}
