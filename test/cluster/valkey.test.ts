import { afterEach, describe, expect, it } from 'vitest'
import { Valkey } from '../../src/cluster/valkey.ts'
import { hasRedis, needsRedis, RedisServer } from '../support/redis-server.ts'

describe.skipIf(!hasRedis)(`the connection to Valkey (${needsRedis})`, () => {
  const servers: RedisServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.remove()
  })

  it('asks nothing of a replica, says so, and goes on when that is promoted', async () => {
    const primary = await RedisServer.start()
    const replica = await primary.addReplica()
    servers.push(primary, replica)
    const heard: (string | null)[] = []
    const next = { resolve: (_: unknown) => {} }
    const until = async (wanted: string | null) => {
      while (heard.at(-1) !== wanted) await new Promise((resolve) => Object.assign(next, { resolve }))
    }
    const address = { host: '127.0.0.1', port: replica.port, user: null, password: null, database: 0, authority: null }
    const valkey = await Valkey.open({ ...address, plain: true }, (reason) => {
      heard.push(reason)
      next.resolve(null)
    })
    try {
      await until('it is a replica, and takes no writes')
      expect(valkey.run).toBeNull()
      await replica.promote()
      await until(null)
      expect(valkey.run).toMatch(/^\w+$/)
    } finally {
      valkey.close()
    }
  })
})
