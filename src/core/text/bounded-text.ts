/** Far more than a configuration or a credential has. A file may be a link to a device that never ends. */
const mostBytes = 8 * 1024 * 1024

/** For messages: what is longer than it may be. */
export const tooLong = 'is longer than 8 MiB'

/** Null: it is too long, and is read no further. */
export async function readBounded(pieces: AsyncIterable<Buffer | string>): Promise<string | null> {
  const read: Buffer[] = []
  let bytes = 0
  for await (const piece of pieces) {
    const chunk = Buffer.from(piece)
    bytes += chunk.length
    if (bytes > mostBytes) return null
    read.push(chunk)
  }
  return Buffer.concat(read).toString('utf8')
}
