/** For speech in any format that is sent for transcription: none compresses further, so this gives an upper bound. */
const fewestBytesPerSecond = 4000

/**
 * The length of an uploaded audio file in seconds: from the header of a WAV file, else an upper bound from its size. `bytes`: of the whole
 * upload.
 */
export function audioSeconds(head: Buffer, bytes: number): number {
  return wavSeconds(head, bytes) ?? Math.ceil(bytes / fewestBytesPerSecond)
}

function wavSeconds(head: Buffer, bytes: number): number | null {
  const start = head.indexOf('RIFF')
  if (start < 0 || head.toString('latin1', start + 8, start + 12) !== 'WAVE') return null
  let bytesPerSecond = 0
  for (let at = start + 12; at + 8 <= head.length; ) {
    const name = head.toString('latin1', at, at + 4)
    const size = head.readUInt32LE(at + 4)
    if (name === 'fmt ' && at + 20 <= head.length) bytesPerSecond = head.readUInt32LE(at + 16)
    // A streaming recorder writes a size of 0, or the largest possible.
    if (name === 'data') return bytesPerSecond === 0 ? null : Math.min(size || bytes, bytes - at) / bytesPerSecond
    at += 8 + size + (size % 2)
  }
  return null
}
