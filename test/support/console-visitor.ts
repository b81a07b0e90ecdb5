import { once } from 'node:events'
import http from 'node:http'
import { connect } from 'node:net'
import type { TestGateway } from './gateway.ts'

export interface Visited {
  status: number
  headers: http.IncomingHttpHeaders
  body: string
}

type Headers = Record<string, string>

/** Sends what a browser would on the console's own page, and, where a test says so, what none would. */
export function visitConsole(gateway: TestGateway) {
  const { origin, host, port } = new URL(gateway.consoleUrl)
  const own = (cookie: string): Headers => ({
    host,
    origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    ...(cookie === '' ? {} : { cookie }),
  })

  function send(method: string, path: string, headers: Headers, body?: string): Promise<Visited> {
    return new Promise((resolve, reject) => {
      const request = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (more: string) => {
          text += more
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
      })
      request.on('error', reject)
      request.end(body)
    })
  }

  const post = (path: string, body: object, cookie = '', headers: Headers = {}) =>
    send('POST', path, { ...own(cookie), ...headers }, JSON.stringify(body))
  const get = (path: string, cookie = '', headers: Headers = {}) => send('GET', path, { ...own(cookie), ...headers })

  return {
    origin,
    host,
    own,
    send,
    post,
    get,
    /** The cookie of a fresh session, by a link; the operator must exist. */
    async enter(operator?: string): Promise<string> {
      const { url } = await gateway.admin.console.link(operator === undefined ? {} : { operator })
      return cookieOf(await post('/auth/link', { token: url.split('/link/')[1] ?? '' }))
    },
    /** Bytes as they are, and all that comes back until the connection ends. */
    async raw(text: string): Promise<string> {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      let said = ''
      socket.setEncoding('latin1').on('data', (more: string) => {
        said += more
      })
      socket.write(text, 'latin1')
      await once(socket, 'close')
      return said
    },
  }
}

export function cookieOf({ headers }: Visited): string {
  return (headers['set-cookie']?.find((cookie) => cookie.startsWith('__Host-spgw')) ?? '').split(';', 1)[0] ?? ''
}
