import dns from 'node:dns'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Script, Valkey } from '../../src/cluster/valkey.ts'
import { hasRedis, needsRedis, RedisServer } from '../support/redis-server.ts'

describe.skipIf(!hasRedis)(`the connection to Valkey (${needsRedis})`, () => {
  const closing: (() => Promise<void> | void)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  async function start(...options: Parameters<typeof RedisServer.start>): Promise<RedisServer> {
    const server = await RedisServer.start(...options)
    closing.push(() => server.remove())
    return server
  }

  async function open({ port }: Pick<RedisServer, 'port'>, password: string | null = null) {
    const heard: (string | null)[] = []
    let next = () => {}
    const address = { host: '127.0.0.1', port, user: null, password, database: 0, authority: null, plain: true }
    const valkey = await Valkey.open(address, (reason) => {
      heard.push(reason)
      next()
    })
    closing.push(() => valkey.close())
    /** Of what is heard from now on, or was heard last. */
    const until = async (wanted: RegExp | null) => {
      const is = (reason: string | null | undefined) =>
        reason === null ? wanted === null : reason !== undefined && wanted?.test(reason) === true
      while (!is(heard.at(-1))) await new Promise<void>((resolve) => Object.assign(box, { resolve }))
    }
    const box = { resolve: () => {} }
    next = () => box.resolve()
    /** As the limits are asked for: whether it is answered or not, the next call follows. */
    const write = () => valkey.evaluate(writes, ['key'], 'x').catch(() => null)
    return { valkey, until, write, heard }
  }

  const writes = new Script("return redis.call('SET', KEYS[1], ARGV[1])")

  it('asks nothing of a replica, says so, and goes on when that is promoted', async () => {
    const primary = await start()
    const replica = await primary.addReplica()
    closing.push(() => replica.remove())
    const { valkey, until } = await open(replica)
    await until(/^it is a replica, and takes no writes$/)
    expect(valkey.run).toBeNull()
    await replica.promote()
    await until(null)
    expect(valkey.run).toMatch(/^\w+$/)
  })

  it('takes every address that the name leads to, at each try', async () => {
    const families: unknown[] = []
    const asked = vi.spyOn(dns, 'lookup').mockImplementation(((_host: string, options: object, done: () => void) => {
      families.push('family' in options ? options.family : 0)
      Reflect.apply(done, null, [Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })])
    }) as never)
    closing.push(() => asked.mockRestore())
    const address = { host: 'cache.test', port: 1, user: null, password: null, database: 0, authority: null }
    const valkey = await Valkey.open({ ...address, plain: true }, () => {})
    closing.push(() => valkey.close())
    await expect.poll(() => families.length, { timeout: 10_000 }).toBeGreaterThan(2)
    expect(new Set(families)).toEqual(new Set([0]))
  })

  it('says that a server hangs which still takes connections, and goes on when that answers again', async () => {
    const server = await start()
    const { valkey, until, write } = await open(server)
    await until(null)
    server.signal('SIGSTOP')
    closing.push(() => server.signal('SIGCONT'))
    for (let calls = 0; calls < 4; calls++) await write()
    await until(/^it does not answer$/)
    expect(valkey.run).toBeNull()
    server.signal('SIGCONT')
    await until(null)
    expect(await write()).toBe('OK')
  })

  it('says what a server says that takes no writes, until it takes them again', async () => {
    const server = await start()
    const { until, write } = await open(server)
    await until(null)
    const faults: [string[], RegExp, string[]][] = [
      [['CONFIG', 'SET', 'maxmemory', '1'], /^OOM /, ['CONFIG', 'SET', 'maxmemory', '0']],
      [
        ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
        /^NOREPLICAS /,
        ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
      ],
      [['REPLICAOF', '127.0.0.1', '1'], /^it is a replica/, ['REPLICAOF', 'NO', 'ONE']],
    ]
    for (const [fault, words, mend] of faults) {
      await server.command(...fault)
      await write()
      await until(words)
      await server.command(...mend)
      await Promise.race([until(null), write()])
      await until(null)
      expect(await write()).toBe('OK')
    }
  })

  it('says that a server lets nobody in that still loads its data', async () => {
    const loading = 'loading:1\r\nloading_eta_seconds:60\r\n'
    const server = createServer((socket) => {
      socket.on('error', () => {}).on('data', () => socket.write(`$${loading.length}\r\n${loading}\r\n`))
      closing.push(() => void socket.destroy())
    })
    closing.push(() => void server.close())
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
    )
    await (await open({ port })).until(/^it does not answer, or still loads its data$/)
  })

  it('knows by which policy a server drops what it has when its memory is full', async () => {
    const evicts = async (...options: string[]) => {
      const { valkey, until } = await open(await start(options))
      await until(null)
      return valkey.facts?.evicts
    }
    expect(await evicts('--maxmemory-policy', 'allkeys-lru')).toBeNull()
    expect(await evicts('--maxmemory', '64mb', '--maxmemory-policy', 'noeviction')).toBeNull()
    expect(await evicts('--maxmemory', '64mb', '--maxmemory-policy', 'volatile-ttl')).toBe('volatile-ttl')
  })

  it('says that a server wants a password, or another one', async () => {
    const server = await start(['--requirepass', 'secret'])
    await (await open(server)).until(/^NOAUTH /)
    await (await open(server, 'wrong')).until(/^WRONGPASS /)
    await (await open(server, 'secret')).until(null)
  })
})
