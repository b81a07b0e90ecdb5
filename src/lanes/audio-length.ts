/** Of speech in any format that is sent for transcription: nobody compresses it further, so that this is an upper bound. */
const fewestBytesPerSecond = 4000

/**
 * How long an upload with audio is, in seconds: by the header of a WAV file in its beginning, else an upper bound by its size.
 * `bytes`: of the whole upload.
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
    // A recorder that streams writes a size of 0, or the largest there is.
    if (name === 'data') return bytesPerSecond === 0 ? null : Math.min(size || bytes, bytes - at) / bytesPerSecond
    at += 8 + size + (size % 2)
  }
  return null
}
