import http from 'node:http'
import net from 'node:net'
import { expect, it } from 'vitest'
import { explainMalformed, type ParserError } from '../../src/gateway/request/explain-malformed.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'

/** Sends the bytes to a server that has little patience; what its error is told as. */
async function explain(bytes: string): Promise<string> {
  const server = http.createServer({ headersTimeout: 50, connectionsCheckingInterval: 10, maxHeaderSize: 16 * 1024 })
  const client = net.connect(await listenOnPort(server), '127.0.0.1').on('error', () => {})
  client.write(bytes)
  const error = await new Promise<ParserError>((resolve) => server.once('clientError', resolve))
  client.destroy()
  closeServer(server)
  return explainMalformed(error).message
}

it.each([
  [
    'a head that does not come to its end',
    'POST / HTTP/1.1\r\nhost: x\r\n',
    /^The request's head did not arrive within/,
  ],
  [
    'a head that is too long',
    `GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
    /its head is larger than 65536 bytes/,
  ],
  ['too many headers', `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(1500)}\r\n`, /^The request has more than 1000 headers/],
  ['a transfer coding', 'GET / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n', /no other transfer coding\.$/],
  ['what is no HTTP', 'SSH-2.0-x\r\n\r\n', /^This is not a valid HTTP/],
])('%s is told in its own words', async (_what, bytes, words) => {
  expect(await explain(bytes)).toMatch(words)
})
