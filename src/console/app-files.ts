import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { extname, join } from 'node:path'
import { type Reply, textReply } from './reply.ts'

/** Set by the bundler: the page's files are then next to the main bundle. */
declare const __BUNDLED__: boolean | undefined

interface AppFile {
  type: string
  /** The value of `content-encoding`; null: not encoded. */
  encoding: 'br' | 'gzip' | null
  body: Buffer
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
}
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/**
 * The built files of the page by path. Only files that were listed at the start are opened: no path from a request
 * reaches the file system.
 */
export class AppFiles {
  readonly #directory: string
  readonly #names: ReadonlySet<string>

  constructor(directory = appDirectory()) {
    this.#directory = directory
    this.#names = new Set([...list(directory), ...list(join(directory, 'assets')).map((name) => `assets/${name}`)])
  }

  /** `name`: `index.html`, `assets/app-3F2K.js`; null: no such file, or an encoded copy of another one. */
  read(name: string, accepted: string): AppFile | null {
    const type = types[extname(name)]
    if (type === undefined || !this.#names.has(name)) return null
    const [encoding, ending] = encodings.find(
      ([word, end]) => accepts(accepted, word) && this.#names.has(name + end),
    ) ?? [null, '']
    return { type, encoding, body: readFileSync(join(this.#directory, name + ending)) }
  }
}

function accepts(header: string, encoding: string): boolean {
  return header
    .toLowerCase()
    .split(',')
    .some((each) => new RegExp(`^ *${encoding} *(; *q *= *(1|0?\\.\\d*[1-9]).*)?$`).test(each))
}

function list(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).map(String) : []
}

/** When run from the sources: the last build. */
function appDirectory(): string {
  if (typeof __BUNDLED__ !== 'undefined' && __BUNDLED__) return join(import.meta.dirname, 'console')
  return join(import.meta.dirname, '../../.build/bundle/console')
}

/** Browsers request these files by themselves. They do not exist, and the answer must not be the page. */
const notPages = ['/favicon.ico', '/robots.txt', '/apple-touch-icon.png', '/.well-known']

/** The page and its files. Every other path is a route of the page, which handles it in the browser. */
export function replyFile(request: IncomingMessage, path: string, files: AppFiles): Reply {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { ...textReply(405, 'Only GET and HEAD are allowed.'), headers: { allow: 'GET, HEAD' } }
  const accepted = String(request.headers['accept-encoding'] ?? '')
  if (path === '/assets' || path.startsWith('/assets/')) return replyAsset(path.slice(1), accepted, files)
  if (notPages.some((each) => path === each || path.startsWith(`${each}/`))) return textReply(404, 'Not found.')
  const page = files.read('index.html', accepted)
  if (page === null) return textReply(503, 'The console was not built. Build it: npm run build')
  return replyWith(page, 'no-cache')
}

function replyAsset(name: string, accepted: string, files: AppFiles): Reply {
  const file = files.read(name, accepted)
  // A page that was open while the gateway was upgraded asks for files that no longer exist. Do not cache that answer.
  return file === null ? textReply(404, 'Not found.') : replyWith(file, 'public, max-age=31536000, immutable')
}

function replyWith({ type, encoding, body }: AppFile, caching: string): Reply {
  const headers = { 'cache-control': caching, vary: 'accept-encoding' }
  return {
    status: 200,
    type,
    body,
    headers: encoding === null ? headers : { ...headers, 'content-encoding': encoding },
  }
}
