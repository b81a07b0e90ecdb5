import type { IncomingMessage } from 'node:http'
import { type Reply, text } from './answer.ts'
import type { AppFiles } from './app-files.ts'

/** Files that browsers ask for on their own, and which are not there: their answer must not be the page. */
const notPages = ['/favicon.ico', '/robots.txt', '/apple-touch-icon.png', '/.well-known']

/** The page and its files. Every path that is none of theirs is one of the page's own, which the page itself tells apart. */
export function replyFile(request: IncomingMessage, path: string, files: AppFiles): Reply {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { ...text(405, 'This can only be read.'), headers: { allow: 'GET, HEAD' } }
  const accepted = String(request.headers['accept-encoding'] ?? '')
  if (path === '/assets' || path.startsWith('/assets/')) return replyAsset(path.slice(1), accepted, files)
  if (notPages.some((each) => path === each || path.startsWith(`${each}/`))) return text(404, 'There is nothing here.')
  const page = files.read('index.html', accepted)
  if (page === null) return text(503, 'The page of the console was not built. Build it: npm run build')
  return replyWith(page, 'no-cache')
}

function replyAsset(name: string, accepted: string, files: AppFiles): Reply {
  const file = files.read(name, accepted)
  // A page that was open while the gateway was replaced asks for files that are gone: nobody may keep that answer.
  return file === null ? text(404, 'There is nothing here.') : replyWith(file, 'public, max-age=31536000, immutable')
}

function replyWith({ type, encoding, body }: NonNullable<ReturnType<AppFiles['read']>>, caching: string): Reply {
  const headers = { 'cache-control': caching, vary: 'accept-encoding' }
  return {
    status: 200,
    type,
    body,
    headers: encoding === null ? headers : { ...headers, 'content-encoding': encoding },
  }
}
