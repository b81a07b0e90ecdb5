import http from 'node:http'
import { expect, it } from 'vitest'
import { stopListening } from '../../src/gateway/server.ts'
import { listenOnPort } from '../support/listen.ts'

it('takes in every connection that the system has accepted, before the listener closes', async () => {
  const server = http.createServer((_request, response) => response.end('served'))
  const port = await listenOnPort(server)
  const agent = new http.Agent({ keepAlive: false })
  const ask = () =>
    new Promise<string>((resolve) => {
      const request = http.get({ port, host: '127.0.0.1', agent }, (response) => {
        response.setEncoding('utf8').on('data', resolve)
      })
      request.on('error', (error) => resolve(String(error)))
    })
  const answers = Array.from({ length: 30 }, ask)
  const { closed } = await stopListening(server)
  expect(await Promise.all(answers)).toEqual(answers.map(() => 'served'))
  await closed
})
