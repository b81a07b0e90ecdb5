import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startGateway, type TestGateway } from '../../test/support/gateway.ts'

/** So many requests a second: what a busy company has, and far from what the machine can do. */
const perSecond = 100
const spanMs = 20_000

export interface Undisturbed {
  /** The 99th percentile of requests, in milliseconds. */
  before: number
  during: number
  removed: number
  bytesBefore: number
  bytesAfter: number
}

/**
 * The same traffic at the demo provider without and with records being removed: by `records.retention`, which a reload
 * shortens so that a fifth of all is too old. Then it waits until the file has become shorter.
 */
export async function measureRetention(dataDirectory: string, days: number): Promise<Undisturbed> {
  const keep = (kept: number) => `records:\n  retention: ${kept}d\n`
  const gateway = await startGateway({ dataDirectory, config: keep(days * 10), flags: ['--demo'] })
  try {
    const { key } = await gateway.createKey(`scale-${Date.now()}`)
    await load(gateway, key, 5000)
    const before = await load(gateway, key, spanMs)
    const [had, bytesBefore] = [await count(gateway), await sizeOf(gateway)]
    writeFileSync(join(dataDirectory, 'config.yaml'), keep(Math.floor(days * 0.8)))
    gateway.signal('SIGHUP')
    const during = await load(gateway, key, spanMs)
    const removed = had + (spanMs / 1000) * perSecond - (await count(gateway))
    return { before, during, removed, bytesBefore, bytesAfter: await settledSize(gateway, bytesBefore) }
  } finally {
    await gateway.stop()
  }
}

async function sizeOf({ admin }: TestGateway): Promise<number> {
  return (await admin.status({})).database_bytes ?? Number.NaN
}

/** Until it has become smaller and stays so. */
async function settledSize(gateway: TestGateway, before: number): Promise<number> {
  let last = before
  for (let look = 0; look < 120; look++) {
    await wait(15_000)
    const size = await sizeOf(gateway)
    if (size < before * 0.95 && Math.abs(size - last) < 50e6) return size
    last = size
  }
  return last
}

async function count({ admin }: TestGateway): Promise<number> {
  return (await admin.requests.stats({ by: 'total' }))[0]?.requests ?? 0
}

/** Requests at a steady pace, whether the ones before have ended or not. */
async function load({ baseUrl }: TestGateway, key: string, forMs: number): Promise<number> {
  const took: number[] = []
  const running: Promise<void>[] = []
  const begun = performance.now()
  for (let made = 0; performance.now() - begun < forMs; made++) {
    running.push(ask(baseUrl, key, took))
    await wait(Math.max(0, begun + ((made + 1) * 1000) / perSecond - performance.now()))
  }
  await Promise.all(running)
  took.sort((one, other) => one - other)
  return took[Math.floor(took.length * 0.99)] ?? Number.NaN
}

async function ask(baseUrl: string, key: string, took: number[]): Promise<void> {
  const begun = performance.now()
  const answer = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 }),
  })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status}`)
  took.push(performance.now() - begun)
}
