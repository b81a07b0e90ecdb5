import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** The provider of `npm run bench -- sockets`: greets, and says again whatever it hears. Prints `listening PORT`. */
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false }, () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`)
})
server.on('connection', (socket) => {
  socket.on('error', () => {})
  socket.on('message', (bytes, binary) => socket.send(bytes, { binary }))
  socket.send('{"type":"session.created"}')
})
