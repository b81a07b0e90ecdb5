/** The counts of latencies as bytes, by place, as `latency-blob.ts` describes them. */
export function readLatencies(bytes: Uint8Array): Map<number, number> {
  const numbers: number[] = []
  let factor = 1
  let value = 0
  for (const byte of bytes) {
    value += (byte & 127) * factor
    factor *= 128
    if (byte > 127) continue
    numbers.push(value)
    factor = 1
    value = 0
  }
  const found = new Map<number, number>()
  let place = 0
  for (let at = 0; at < numbers.length; at += 2) {
    place += numbers[at] ?? 0
    found.set(place, numbers[at + 1] ?? 0)
  }
  return found
}
