import { type DurationCounts, durationSteps } from './duration-counts.ts'

/**
 * Durations and times to the first byte, counted by step, as bytes: for each step that occurs, how far it lies behind the one before,
 * and its count, both as numbers of seven bits a byte. The steps of first bytes come after all those of durations.
 */
export function readLatencies(bytes: Uint8Array, each: (place: number, count: number) => void): void {
  let place = 0
  for (let offset = 0; offset < bytes.length; ) {
    let behind = bytes[offset++] ?? 0
    // Most numbers are of one byte.
    if (behind > 127) [behind, offset] = readRest(bytes, behind, offset)
    let count = bytes[offset++] ?? 0
    if (count > 127) [count, offset] = readRest(bytes, count, offset)
    place += behind
    each(place, count)
  }
}

/** Between several that are read as one: no step occurs 0 times. */
export const betweenLatencies = Uint8Array.of(0, 0)

/** What `readLatencies` reads, without a call for each of the millions that statistics of months are made of. */
export function addLatencies(
  bytes: Uint8Array,
  sign: 1 | -1,
  { durations, firstBytes }: { durations: DurationCounts; firstBytes: DurationCounts },
): void {
  let counts = durations
  let many = counts.many
  let step = 0
  for (let offset = 0; offset < bytes.length; ) {
    let behind = bytes[offset++] ?? 0
    if (behind > 127) [behind, offset] = readRest(bytes, behind, offset)
    let count = bytes[offset++] ?? 0
    if (count > 127) [count, offset] = readRest(bytes, count, offset)
    step += behind
    if (count === 0 || step >= durationSteps) {
      step = count === 0 ? 0 : step - durationSteps
      counts = count === 0 ? durations : firstBytes
      many = counts.many
    }
    if (many !== null) many[step] = (many[step] ?? 0) + sign * count
    else {
      counts.addStep(step, sign * count)
      many = counts.many
    }
  }
}

/** The number that begins with that byte, and where what comes after it begins. */
function readRest(bytes: Uint8Array, first: number, from: number): [value: number, offset: number] {
  let value = first & 127
  let offset = from
  for (let factor = 128; ; factor *= 128) {
    const byte = bytes[offset++] ?? 0
    value += (byte & 127) * factor
    if (byte < 128) return [value, offset]
  }
}

/** Where the time to the first byte of a step is counted; a duration is counted at the step itself. */
export function firstBytePlace(step: number): number {
  return durationSteps + step
}

/** A place and its count take at most 2 and 8 bytes. */
const room = Buffer.alloc(2 * durationSteps * 10)

/** The counts of `bytes` with these added, or taken away where they are negative: both in order, so that one run merges them. */
export function changeLatencies(bytes: Uint8Array | null, changes: ReadonlyMap<number, number>): Buffer {
  const sorted = [...changes].sort(([one], [other]) => one - other)
  let [next, offset, last] = [0, 0, 0]
  const write = (value: number): void => {
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) room[offset++] = (rest % 128) | 128
    room[offset++] = rest
  }
  /** Places come in their order. */
  const put = (place: number, count: number): void => {
    if (count <= 0) return
    write(place - last)
    write(count)
    last = place
  }
  const writeUpTo = (place: number): void => {
    for (let change = sorted[next]; change !== undefined && change[0] < place; change = sorted[++next])
      put(change[0], change[1])
  }
  if (bytes !== null)
    readLatencies(bytes, (place, count) => {
      writeUpTo(place)
      const change = sorted[next]
      if (change?.[0] === place) next++
      put(place, count + (change?.[0] === place ? change[1] : 0))
    })
  writeUpTo(Number.POSITIVE_INFINITY)
  return Buffer.from(room.subarray(0, offset))
}
