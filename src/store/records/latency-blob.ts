import { type DurationCounts, durationSteps } from './duration-counts.ts'

/** With more bytes there are most likely so many steps that an array has them anyway. */
const manyBytes = 512

/**
 * Durations and times to the first byte, counted by step, as bytes: for each step that occurs, how far it lies behind the one before,
 * and its count, both as numbers of seven bits a byte. The steps of first bytes come after all those of durations. Several may be
 * joined with two zeros between them: no step occurs 0 times.
 */
export function addLatencies(
  bytes: Uint8Array,
  sign: 1 | -1,
  durations: DurationCounts,
  firstBytes: DurationCounts,
): void {
  if (bytes.length > manyBytes) addMany(bytes, sign, durations.spread(), firstBytes.spread())
  else
    readLatencies(bytes, (place, count) => {
      if (place < durationSteps) durations.addStep(place, sign * count)
      else firstBytes.addStep(place - durationSteps, sign * count)
    })
}

/** Statistics of months are made of fifty million bytes: no call for each step, and no look whether it has two bytes to be read. */
function addMany(bytes: Uint8Array, sign: 1 | -1, durations: Float64Array, firstBytes: Float64Array): void {
  let many = durations
  let step = 0
  for (let offset = 0; offset < bytes.length; ) {
    let behind = bytes[offset] ?? 0
    let count = bytes[offset + 1] ?? 0
    offset += 2
    // A place has two bytes at the most, and most numbers have one.
    if (behind > 127) {
      behind += (count - 1) << 7
      count = bytes[offset++] ?? 0
    }
    if (count > 127) {
      for (let byte = count, factor = 128; byte > 127; factor *= 128) {
        byte = bytes[offset++] ?? 0
        count += (byte - 1) * factor
      }
    } else if (count === 0) {
      step = 0
      many = durations
      continue
    }
    step += behind
    if (step >= durationSteps) {
      step -= durationSteps
      many = firstBytes
    }
    many[step] = (many[step] ?? 0) + sign * count
  }
}

/** One by one, by place. */
function readLatencies(bytes: Uint8Array, read: (place: number, count: number) => void): void {
  let place = 0
  for (let offset = 0; offset < bytes.length; ) {
    let behind = bytes[offset++] ?? 0
    if (behind > 127) behind += ((bytes[offset++] ?? 0) - 1) << 7
    let count = bytes[offset++] ?? 0
    for (let byte = count, factor = 128; byte > 127; factor *= 128) {
      byte = bytes[offset++] ?? 0
      count += (byte - 1) * factor
    }
    place = count === 0 ? 0 : place + behind
    if (count > 0) read(place, count)
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
  const add = (place: number, count: number): void => {
    writeUpTo(place)
    const change = sorted[next]
    if (change?.[0] === place) next++
    put(place, count + (change?.[0] === place ? change[1] : 0))
  }
  if (bytes !== null) readLatencies(bytes, add)
  writeUpTo(Number.POSITIVE_INFINITY)
  return Buffer.from(room.subarray(0, offset))
}
