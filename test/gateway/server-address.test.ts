import http from 'node:http'
import { describe, expect, it } from 'vitest'
import { AddressTaken, claimPort } from '../../src/gateway/thread/server-address.ts'
import { closeServer, listenOnPort } from '../support/listen.ts'

describe('an address that cannot be listened on says what to do', () => {
  it('while another program has it', async () => {
    const server = http.createServer()
    const port = await listenOnPort(server)
    const refused = claimPort('127.0.0.1', port)
    await expect(refused).rejects.toMatchObject({ hint: expect.stringMatching(/^Stop the program that listens there/) })
    closeServer(server)
  })

  it('where the machine has no such address', async () => {
    // Reserved for examples (RFC 5737).
    const refused = claimPort('192.0.2.1', 0)
    await expect(refused).rejects.toMatchObject({ hint: expect.stringMatching(/^Choose an address of this machine/) })
  })

  it('where the port is not for every user', () => {
    const cause = Object.assign(new Error('listen EACCES: permission denied'), { code: 'EACCES' })
    const { hint } = new AddressTaken('0.0.0.0', 443, cause)
    expect(hint).toMatch(/ip_unprivileged_port_start=443.* proxy .*--listen HOST:PORT$/)
  })
})
