/** One entry of an archive. Its time is the archive's, and its owner root unless it says so: the same entries are the same bytes. */
export interface TarEntry {
  /** Without a leading slash; a directory's has none behind. */
  path: string
  kind: 'file' | 'directory' | 'link'
  mode: number
  /** Of a file. */
  bytes?: Uint8Array
  /** Of a symbolic link. */
  target?: string
  /** User and group. */
  owner?: number
}

const block = 512
const types = { file: '0', link: '2', directory: '5' } as const

/** A POSIX ustar archive: what dpkg, the unpackers of images and npm all read. `seconds`: the time of each entry. */
export function writeTar(entries: readonly TarEntry[], seconds: number): Buffer {
  const blocks = entries.flatMap((entry) => {
    const bytes = entry.bytes ?? new Uint8Array()
    return [writeHeader(entry, bytes.length, seconds), bytes, Buffer.alloc(-bytes.length & (block - 1))]
  })
  return Buffer.concat([...blocks, Buffer.alloc(2 * block)])
}

function writeHeader(entry: TarEntry, size: number, seconds: number): Buffer {
  const header = Buffer.alloc(block)
  const path = entry.kind === 'directory' ? `${entry.path}/` : entry.path
  const [prefix, name] = splitPath(path)
  const owner = entry.owner ?? 0
  const put = (text: string, offset: number) => header.write(text, offset, 'latin1')
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  put(name, 0)
  put(octal(entry.mode, 7), 100)
  put(octal(owner, 7), 108)
  put(octal(owner, 7), 116)
  put(octal(size, 11), 124)
  put(octal(seconds, 11), 136)
  put(' '.repeat(8), 148)
  put(types[entry.kind], 156)
  put(entry.target ?? '', 157)
  put('ustar\x0000', 257)
  put(prefix, 345)
  put(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
    148,
  )
  return header
}

/** The format holds 100 bytes of a name, and 155 of directories before it. */
function splitPath(path: string): [prefix: string, name: string] {
  if (path.length <= 100) return ['', path]
  const slash = path.indexOf('/', path.length - 101)
  if (slash < 0 || slash > 155 || slash === path.length - 1) throw new Error(`${path} is too long for the archive`)
  return [path.slice(0, slash), path.slice(slash + 1)]
}

/** Files by their path, with each directory above them, in an order of their own. */
export function withDirectories(entries: readonly TarEntry[]): TarEntry[] {
  const all = new Map<string, TarEntry>()
  for (const { path } of entries) {
    const parts = path.split('/')
    for (let depth = 1; depth < parts.length; depth++) {
      const above = parts.slice(0, depth).join('/')
      all.set(above, { path: above, kind: 'directory', mode: 0o755 })
    }
  }
  for (const entry of entries) all.set(entry.path, entry)
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}
