import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Script, Valkey } from '../../src/cluster/valkey.ts'
import { ValkeyChannel } from '../../src/cluster/valkey-channel.ts'
import { MockValkey } from '../support/mock-valkey.ts'

const key = 'spgw:{clu_1}:revoked'
const script = new Script('return 1')

let server: MockValkey
/** What stands at the server for who was not there. */
let kept: string[]
/** What was said and heard, in its order, and what waits for it. */
let notes: (string | null)[]
let wake = () => {}
const closers: (() => void)[] = []

beforeEach(async () => {
  server = await MockValkey.start()
  kept = []
  notes = []
  server.answer = ([name, , , , input]) => {
    if (name === 'evalsha' && input !== '') return 1
    return name === 'evalsha' ? kept : new Error('ERR unknown command')
  }
})
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await server.close()
})

function note(said: string | null): void {
  notes.push(said)
  wake()
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    const next = Promise.withResolvers<void>()
    wake = next.resolve
    await next.promise
  }
}

const heard = () => notes.flatMap((each) => (each?.startsWith('heard ') ? [each.slice('heard '.length)] : []))
const troubles = () => notes.filter((each) => each === null || !each.startsWith('heard '))

async function openValkey(onTrouble: (reason: string | null) => void = () => {}): Promise<Valkey> {
  const valkey = await Valkey.open(server.address, onTrouble)
  closers.push(() => valkey.close())
  return valkey
}

async function openChannel(): Promise<ValkeyChannel> {
  const ready = Promise.withResolvers<void>()
  const valkey = await openValkey((reason) => reason === null && ready.resolve())
  await ready.promise
  const channel = await ValkeyChannel.open({
    ...{ address: server.address, cluster: 'clu_1', valkey },
    onHeard: (texts) => note(`heard ${texts.join(' ')}`),
    onTrouble: note,
  })
  closers.push(() => channel.close())
  return channel
}

describe('what nodes tell each other', () => {
  it('is heard from the beginning on: first what was told before, then what is told', async () => {
    kept = ['one', 'two']
    await openChannel()
    await until(() => notes.includes(null))
    server.publish(key, 'three')
    await until(() => heard().length === 2)
    expect(notes).toEqual(['heard one two', null, 'heard three'])
  })

  it('is heard once, however often it is told', async () => {
    kept = ['one']
    await openChannel()
    await until(() => notes.includes(null))
    for (const text of ['one', 'two', 'two', 'three']) server.publish(key, text)
    await until(() => heard().includes('three'))
    expect(heard()).toEqual(['one', 'two', 'three'])
  })

  it('while nobody was reached is read afterwards, and that nobody is reached is said', async () => {
    await openChannel()
    await until(() => notes.includes(null))
    server.publish(key, 'one')
    await until(() => heard().length === 1)
    kept = ['one', 'two']
    server.cut()
    await until(() => troubles().filter((each) => each === null).length === 2)
    expect(heard()).toEqual(['one', 'two'])
    expect(troubles()).toEqual([null, ...troubles().slice(1, -1), null])
    expect(troubles().length).toBeGreaterThan(2)
  })

  it('is not heard by a user who may not, which is said until he may', async () => {
    const { answer } = server
    server.answer = () => new Error('NOPERM this user has no permissions')
    await openChannel()
    await until(() => notes.length > 0)
    expect(notes[0]).toContain('NOPERM')
    server.answer = answer
    await until(() => notes.includes(null))
  })

  it('is told with whether it stays, and with the script itself where that is not known', async () => {
    const channel = await openChannel()
    await until(() => notes.includes(null))
    server.asked.length = 0
    await channel.notify('all', true)
    server.answer = ([name]) => (name === 'evalsha' ? new Error('NOSCRIPT No matching script') : 1)
    await channel.notify('now', false)
    expect(server.asked.map(([name, text]) => [name, text?.includes('PUBLISH')])).toEqual([
      ['evalsha', false],
      ['evalsha', false],
      ['eval', true],
    ])
    const inputs = server.asked.map((command) => JSON.parse(command.at(-1) ?? ''))
    expect(inputs[0]).toEqual({ channel: key, text: 'all', keeps: true })
    expect(inputs[2]).toEqual({ channel: key, text: 'now', keeps: false })
    expect(server.asked.every(([, , count, at]) => count === '1' && at === key)).toBe(true)
  })

  it('is no trouble any more once the channel is closed', async () => {
    const channel = await openChannel()
    await until(() => notes.includes(null))
    channel.close()
    server.cut()
    await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
    await server.close()
    server = await MockValkey.start()
    expect(notes).toEqual([null])
  })
})

describe('a connection to Valkey', () => {
  it.each([
    ['valkey_version:8.1.0\r\nredis_version:7.2.4', 'valkey 8.1.0'],
    ['redis_version:7.2.4\r\nvalkey_version:8.1.0', 'valkey 8.1.0'],
    ['redis_version:7.4.1', 'redis 7.4.1'],
  ])('knows what it is connected to: %j', async (versions, product) => {
    server.info = `${versions}\r\nrun_id:abc\r\nrole:master`
    const valkey = await openValkey(note)
    await until(() => notes.includes(null))
    expect([valkey.facts?.product, valkey.run]).toEqual([product, 'abc'])
  })

  it('has no server process where that does not name itself', async () => {
    server.info = 'redis_version:7.4.1\r\nrole:master'
    const valkey = await openValkey(note)
    await until(() => notes.length > 0)
    expect([notes[0], valkey.run]).toEqual(['it does not name its run_id', null])
  })

  it('says what the server refuses, until it takes something again', async () => {
    const valkey = await openValkey(note)
    await until(() => notes.includes(null))
    server.answer = () => new Error('OOM command not allowed')
    await expect(valkey.evaluate(script, [key], '')).rejects.toThrow('OOM')
    server.answer = () => 7
    expect(await valkey.evaluate(script, [key], '')).toBe(7)
    expect(await valkey.evaluate(script, [key], '')).toBe(7)
    expect(notes).toEqual([null, 'OOM command not allowed: raise maxmemory there', null])
  })

  it('says after a loss what that was, and nothing of an earlier one', async () => {
    const { address } = server
    await server.close()
    const valkey = await Valkey.open(address, note)
    closers.push(() => valkey.close())
    await until(() => notes.length > 0)
    expect(notes[0]).toContain('ECONNREFUSED')
    server = await MockValkey.start(address.port)
    await until(() => notes.includes(null))
    server.cut()
    await until(() => notes.at(-1) !== null)
    expect(notes.at(-1)).not.toContain('ECONNREFUSED')
    expect(valkey.run).toBeNull()
  })

  it('refuses at once while there is none', async () => {
    const valkey = await openValkey(note)
    await until(() => notes.includes(null))
    server.cut()
    await until(() => notes.at(-1) !== null)
    await expect(valkey.evaluate(script, [key], '')).rejects.toThrow(/./)
    expect(server.asked).toEqual([])
  })
})
