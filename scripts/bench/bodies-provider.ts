import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The provider of `npm run bench -- bodies`: counts what is uploaded and forgets it, and sends as many bytes as its query asks for,
 * all of them the same ones. Prints `listening PORT`.
 */
const piece = Buffer.alloc(256 * 1024, 'spgw')
let files = 0

const server = createServer((request, response) => {
  request.on('error', () => {})
  response.on('error', () => {})
  if (request.method === 'POST') count(request, response)
  else send(Number(new URL(request.url ?? '', 'http://x').searchParams.get('bytes')), request, response)
})

function count(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0
  request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: `file-${++files}`, object: 'file', bytes }))
  })
}

function send(bytes: number, request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes })
  let left = bytes
  const more = () => {
    while (left > 0 && !response.destroyed) {
      const bytesNow = Math.min(left, piece.length)
      left -= bytesNow
      if (!response.write(bytesNow === piece.length ? piece : piece.subarray(0, bytesNow))) return
    }
    response.end()
  }
  response.on('drain', more)
  more()
}

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
})
