import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isUnusable, PostgresAway, PostgresRefusal } from '../../src/cluster/connect.ts'
import { type Backend, OwnConnection, stopBackend } from '../../src/cluster/own-connection.ts'
import { Postgres } from '../../src/cluster/postgres.ts'
import { MockPostgres, Refused } from '../support/mock-postgres.ts'
import { needsPostgres, PostgresServer, postgresPrograms } from '../support/postgres-server.ts'

let server: MockPostgres
const closers: (() => Promise<void>)[] = []

beforeEach(async () => {
  server = await MockPostgres.start((text) => (text.includes('pg_listening_channels') ? [{ name: 'spgw' }] : []))
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await server.close()
})

/** What was said of the link and heard over it, and what waits for it. */
function openPostgres() {
  const links: (string | null)[] = []
  const heard: string[] = []
  let wake = () => {}
  const postgres = new Postgres(server.address, {
    onLink(trouble) {
      links.push(trouble)
      wake()
    },
    onNotify(payload) {
      heard.push(payload)
      wake()
    },
  })
  const running = postgres.run()
  closers.push(async () => {
    await postgres.close()
    await running
  })
  const until = async (holds: () => boolean) => {
    while (!holds()) {
      const next = Promise.withResolvers<void>()
      wake = next.resolve
      await next.promise
    }
  }
  return { postgres, running, links, heard, until }
}

describe('the two connections of a node', () => {
  it('ask nothing of a standby, say so, and are there when it is promoted', async () => {
    let standby = true
    server.answer = (text) => {
      if (text.includes('pg_is_in_recovery')) return [{ standby }]
      return text.includes('pg_listening_channels') ? [{ name: 'spgw' }] : []
    }
    const { links, until } = openPostgres()
    await until(() => links.length === 1)
    expect(links[0]).toMatch(/^it is a standby, which takes no changes/)
    expect(server.asked.some((text) => text.startsWith('listen'))).toBe(false)
    standby = false
    await until(() => links.at(-1) === null)
  })

  it('ask nothing of one that is too old, and say so', async () => {
    let version = '13.18 (Debian 13.18-1)'
    server.answer = (text) => {
      if (text.includes('pg_is_in_recovery')) return [{ standby: false, version }]
      return text.includes('pg_listening_channels') ? [{ name: 'spgw' }] : []
    }
    const { links, until } = openPostgres()
    await until(() => links.length === 1)
    expect(links[0]).toBe('it is version 13.18 (Debian 13.18-1), and nodes need 14 or newer: upgrade it')
    version = '14.0'
    await until(() => links.at(-1) === null)
  })

  it('say when they are there, are asked one after the other, and hear what is notified', async () => {
    const { postgres, links, heard, until } = openPostgres()
    await until(() => links.length === 1)
    expect(links).toEqual([null])
    let running = 0
    const ask = (name: string) =>
      postgres.ask(async (client) => {
        expect(++running).toBe(1)
        await client.query('select $1', [name])
        running--
        return name
      })
    expect(await Promise.all([ask('a'), ask('b'), ask('c')])).toEqual(['a', 'b', 'c'])
    server.notify('head 7')
    await until(() => heard.length > 0)
    // The one for questions does not listen, whoever notifies it.
    expect(heard).toEqual(['head 7'])
  })

  it('are made again after a loss, which is said with its reason', async () => {
    const { postgres, links, until } = openPostgres()
    await until(() => links.length === 1)
    server.cut()
    await until(() => links.length === 3)
    expect(links).toEqual([null, expect.stringMatching(/./), null])
    expect(await postgres.ask(async (client) => (await client.query('select 1')).rows)).toEqual([])
  })

  it('are none behind a pooler that does not keep LISTEN', async () => {
    server.answer = () => []
    const { links, until } = openPostgres()
    await until(() => links.length === 1)
    expect(links[0]).toContain('past the pooler')
  })

  it.each([
    ['the same session', [7, 7, 8]],
    ['one session after the other', [7, 8, 9]],
  ])('are none behind a pooler that gives them %s, and keeps LISTEN meanwhile', async (_, pids) => {
    const given = [...pids]
    server.answer = (text) => {
      if (text.includes('pg_backend_pid')) return [{ pid: given.shift() ?? 0 }]
      return text.includes('pg_listening_channels') ? [{ name: 'spgw' }] : []
    }
    const { links, until } = openPostgres()
    await until(() => links.length === 1)
    expect(links[0]).toContain('past the pooler')
    expect(server.asked.some((text) => text.startsWith('listen'))).toBe(false)
    given.splice(0, given.length, 7, 8, 7)
    await until(() => links.at(-1) === null)
  })

  it('tell a refusal, which keeps them, from a server that goes down, which does not', async () => {
    const { postgres, links, until } = openPostgres()
    await until(() => links.length === 1)
    server.answer = () => {
      throw new Refused('23505', 'duplicate key')
    }
    await expect(postgres.ask((client) => client.query('insert'))).rejects.toThrow('duplicate key')
    const found = postgres.ask(() => Promise.reject(new PostgresRefusal('there is a cluster already', 'Join it.')))
    await expect(found).rejects.toThrow(PostgresRefusal)
    expect(links).toEqual([null])
    // What stands there can be read.
    server.answer = () => {
      throw new Refused('53100', 'could not extend file: No space left on device')
    }
    const full = await postgres.ask((client) => client.query('insert')).catch((error: unknown) => error)
    expect([isUnusable(full), isUnusable(new PostgresAway('no route')), links]).toEqual([true, false, [null]])
    server.answer = (text) => {
      if (text === 'select 1') throw new Refused('57P01', 'terminating connection due to administrator command')
      return [{ name: 'spgw' }]
    }
    await expect(postgres.ask((client) => client.query('select 1'))).rejects.toBeInstanceOf(PostgresAway)
    await until(() => links.length === 3)
    expect(links[1]).toContain('administrator')
  })

  it('are asked nothing while they are not there', async () => {
    const { postgres, links, until } = openPostgres()
    await until(() => links.length === 1)
    await postgres.close()
    await expect(postgres.ask(async () => 1)).rejects.toBeInstanceOf(PostgresAway)
  })

  it('end also where they are closed while they are being made', async () => {
    const gate = Promise.withResolvers<void>()
    server.gate = gate.promise
    const { postgres, running } = openPostgres()
    await server.until(() => server.sessions.size === 1)
    await postgres.close()
    gate.resolve()
    await running
    await server.until(() => server.sessions.size === 0)
  })
})

function openOwn(onOpen?: () => Promise<void>): OwnConnection {
  const connection = new OwnConnection({
    ...{ address: server.address, statementMs: 5000 },
    ...(onOpen === undefined ? {} : { onOpen }),
  })
  closers.push(() => connection.close())
  return connection
}

describe('a connection that one part has for itself', () => {
  it('is opened when it is first used, and used by one at a time', async () => {
    const connection = openOwn()
    expect(server.sessions.size).toBe(0)
    const uses = [1, 2, 3].map((each) =>
      connection.use(async (client) => {
        await client.query('select')
        return each
      }),
    )
    expect(connection.waiting).toBe(3)
    expect(await Promise.all(uses)).toEqual([1, 2, 3])
    expect([connection.waiting, server.sessions.size]).toEqual([0, 1])
  })

  it('is opened again after a loss, by the next that uses it', async () => {
    let opened = 0
    const connection = openOwn(async () => void opened++)
    const use = () => connection.use(async (client) => (await client.query('select')).rows)
    await use()
    server.answer = () => {
      server.cut()
      return []
    }
    await expect(use()).rejects.toBeInstanceOf(PostgresAway)
    server.answer = () => [{ one: '1' }]
    expect(await use()).toEqual([{ one: '1' }])
    expect(opened).toBe(2)
  })

  it('is not lost over what PostgreSQL refuses', async () => {
    const connection = openOwn()
    server.answer = () => {
      throw new Refused('42P01', 'relation does not exist')
    }
    for (let time = 0; time < 2; time++)
      await expect(connection.use((client) => client.query('select'))).rejects.toMatchObject({ code: '42P01' })
    expect(server.sessions.size).toBe(1)
  })

  it('whose beginning fails is none, and the next use begins anew', async () => {
    let fails = true
    const connection = openOwn(async () => {
      if (fails) throw new Refused('42501', 'permission denied')
    })
    const use = () => connection.use(async () => 'used')
    await expect(use()).rejects.toThrow('permission denied')
    fails = false
    expect(await use()).toBe('used')
    await server.until(() => server.sessions.size === 1)
  })

  it('does not stay where it is closed while it is being opened', async () => {
    const gate = Promise.withResolvers<void>()
    server.gate = gate.promise
    const connection = openOwn()
    const used = connection.use(async () => 'used')
    await server.until(() => server.sessions.size === 1)
    await connection.close()
    gate.resolve()
    await expect(used).rejects.toBeInstanceOf(PostgresAway)
    await server.until(() => server.sessions.size === 0)
  })

  it('is not used any more once it was closed', async () => {
    const connection = openOwn()
    await connection.use(async () => null)
    await connection.close()
    await expect(connection.use(async () => null)).rejects.toThrow('the connection is closed')
    await server.until(() => server.sessions.size === 0)
  })
})

describe('what is given up', () => {
  /** The server takes `select slow` and answers it when it is stopped for the second time. */
  function openStoppable() {
    const slow = Promise.withResolvers<[]>()
    const stopped: Backend[] = []
    server.answer = (text) => {
      if (text.includes('pg_backend_pid()')) return [{ pid: 7, begun: '1.5' }]
      return text === 'select slow' ? slow.promise : []
    }
    const connection = new OwnConnection({
      ...{ address: server.address, statementMs: 5000 },
      async stop(backend) {
        stopped.push(backend)
        // Once it had not begun.
        if (stopped.length === 2) slow.reject(new Refused('57014', 'canceling statement due to user request'))
      },
    })
    closers.push(() => connection.close())
    return { connection, stopped }
  }

  it('is ended in PostgreSQL, however early it is stopped, and the next goes on', async () => {
    const { connection, stopped } = openStoppable()
    const stop = new AbortController()
    const slow = connection.use((client) => client.query('select slow'), stop.signal)
    const next = connection.use(async (client) => (await client.query('select 1')).rows)
    await server.until(() => server.asked.includes('select slow'))
    stop.abort()
    await expect(slow).rejects.toThrow('canceling statement')
    expect(await next).toEqual([])
    expect(stopped).toEqual([
      { pid: 7, begun: '1.5' },
      { pid: 7, begun: '1.5' },
    ])
    expect(server.sessions.size).toBe(1)
  })

  it('is not begun where its turn has not come', async () => {
    const { connection, stopped } = openStoppable()
    const stop = new AbortController()
    const first = connection.use((client) => client.query('select first'))
    const second = connection.use((client) => client.query('select second'), stop.signal)
    stop.abort()
    await first
    await expect(second).rejects.toThrow('given up')
    expect(server.asked).not.toContain('select second')
    expect(stopped).toEqual([])
  })
})

describe.skipIf(postgresPrograms === null)(`a statement that is given up (${needsPostgres})`, () => {
  it('ends in a real PostgreSQL, and nothing else does', async () => {
    const real = await PostgresServer.start()
    const address = { ...server.address, port: real.port, database: 'postgres' }
    const linked = Promise.withResolvers<void>()
    const main = new Postgres(address, {
      onLink: (trouble) => trouble === null && linked.resolve(),
      onNotify() {},
    })
    const running = main.run()
    const open = () =>
      new OwnConnection({
        ...{ address, statementMs: 30_000 },
        stop: (backend) => main.ask((client) => stopBackend(client, backend)),
      })
    const [one, other] = [open(), open()]
    try {
      await linked.promise
      const pidOf = (connection: OwnConnection) =>
        connection.use(async (client) => (await client.query('select pg_backend_pid() as pid')).rows[0]?.pid)
      const pid = await pidOf(one)
      const sleeping = "select count(*) from pg_stat_activity where state = 'active' and query like 'select pg_sleep%'"
      const stop = new AbortController()
      const slow = one.use((client) => client.query('select pg_sleep(25)'), stop.signal)
      const beside = other.use((client) => client.query('select pg_sleep(4)'))
      await expect.poll(() => real.query(sleeping).trim()).toBe('2')
      stop.abort()
      await expect(slow).rejects.toMatchObject({ code: '57014' })
      // It says so a moment before it is idle.
      await expect.poll(() => real.query(sleeping).trim()).toBe('1')
      expect(await pidOf(one)).toBe(pid)
      // A backend of that number that began at another time is somebody else's.
      await main.ask((client) => stopBackend(client, { pid: Number(pid), begun: '1.5' }))
      await beside
    } finally {
      await Promise.all([one.close(), other.close(), main.close()])
      await running
      await real.remove()
    }
  })
})
