import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'iovalkey'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClusterNode, TestCluster } from '../support/cluster.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'
import { hasRedis, needsRedis, RedisServer } from '../support/redis-server.ts'
import { canMount, fillDisk, onTmpfs } from '../support/storage-fault.ts'

const names = ['gw-a', 'gw-b', 'gw-c']

describe.skipIf(postgresPrograms === null || !hasRedis)(
  `revoking on every node that PostgreSQL or Valkey reaches (${needsPostgres}; ${needsRedis})`,
  () => {
    let cluster: TestCluster
    let redis: RedisServer
    beforeAll(async () => {
      redis = await RedisServer.start()
      cluster = await TestCluster.start(names, { valkeyPort: redis.port })
      await subscribed(3)
      // Every node has heard of the last that joined.
      await cluster.converge()
    })
    afterAll(async () => {
      await cluster?.stop()
      await redis?.remove()
    })

    const node = (name: string) => cluster.node(name)

    /** Resolves when so many nodes listen. */
    async function subscribed(count: number): Promise<void> {
      const client = new Redis(redis.port, '127.0.0.1')
      const listening = async () => {
        const [channel = ''] = (await client.pubsub('CHANNELS')) as string[]
        return Number((await client.pubsub('NUMSUB', channel))[1])
      }
      while ((await listening()) !== count) await new Promise((resolve) => setTimeout(resolve, 20))
      client.disconnect()
    }

    /** Which nodes admit the key. A call about models is answered without a provider. */
    async function admitting(key: string): Promise<string[]> {
      const ask = async ({ name, gateway }: ClusterNode) => {
        const response = await fetch(`${gateway.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
        await response.text()
        return response.status === 401 ? [] : [name]
      }
      return (await Promise.all(cluster.nodes.map(ask))).flat()
    }

    async function newKey(name: string) {
      const made = await node('gw-a').gateway.createKey(name)
      await expect.poll(() => admitting(made.key)).toEqual(names)
      return made
    }

    async function troubleOf(name: string, expected: RegExp | null): Promise<void> {
      const status = async () => (await node(name).gateway.admin.cluster.status({})).trouble
      const poll = expect.poll(status, { timeout: 20_000 })
      await (expected === null ? poll.toBeNull() : poll.toMatch(expected))
    }

    async function oneLine(id: string): Promise<void> {
      const lines = await node('gw-c').gateway.admin.audit.list({ operation: 'keys.revoke', resource: id })
      expect(lines).toHaveLength(1)
    }

    it('reaches all of them by Valkey while PostgreSQL is away, and is appended once when it is back', async () => {
      const { key, id } = await newKey('without-postgres')
      cluster.postgres.stop()
      for (const name of names) await troubleOf(name, /PostgreSQL cannot be reached/)
      const { nodes } = await node('gw-b').gateway.admin.keys.revoke({ key: id })
      expect(nodes).toEqual({ reached: names, missing: [] })
      expect(await admitting(key)).toEqual([])
      // Whoever heard of it keeps it, whatever becomes of the node where it was asked.
      await node('gw-a').gateway.kill('SIGKILL')
      await node('gw-a').restart()
      expect(await admitting(key)).toEqual([])
      await node('gw-b').gateway.kill('SIGKILL')
      cluster.postgres.start()
      await troubleOf('gw-c', null)
      const { gateway } = node('gw-c')
      await expect.poll(async () => (await gateway.admin.cluster.status({})).pending).toBe(0)
      await oneLine(id)
      await node('gw-b').restart()
      await cluster.converge()
      await oneLine(id)
      await subscribed(3)
    })

    it('reaches a node that is cut off from PostgreSQL alone, also one whose network swallows all', async () => {
      const { key, id } = await newKey('one-without')
      node('gw-c').proxy.become('cut')
      await troubleOf('gw-c', /cannot be reached/)
      expect((await node('gw-a').gateway.admin.keys.revoke({ key: id })).nodes).toEqual({ reached: names, missing: [] })
      expect(await admitting(key)).toEqual([])
      // Asked on the node that is cut off, in a network that says nothing.
      node('gw-c').proxy.become('pass')
      await troubleOf('gw-c', null)
      const other = await newKey('swallowed')
      node('gw-c').proxy.become('swallow')
      const { nodes } = await node('gw-c').gateway.admin.keys.revoke({ key: other.id })
      expect(nodes).toEqual({ reached: names, missing: [] })
      expect(await admitting(other.key)).toEqual([])
      node('gw-c').proxy.become('pass')
      await troubleOf('gw-c', null)
      await cluster.converge()
      for (const each of [id, other.id]) await oneLine(each)
    })

    it('reaches all of them by PostgreSQL while Valkey is away', async () => {
      const { key, id } = await newKey('without-valkey')
      await redis.stop()
      const { nodes } = await node('gw-b').gateway.admin.keys.revoke({ key: id })
      expect(nodes).toEqual({ reached: names, missing: [] })
      expect(await admitting(key)).toEqual([])
      await redis.start()
      await subscribed(3)
      await cluster.converge()
    })

    it('names a node that neither reaches, which rejects the key when either is back', async () => {
      const { key, id } = await newKey('isolated')
      const { admin } = node('gw-a').gateway
      await admin.tokens.create({ name: 'isolated', role: 'admin' })
      await cluster.converge()
      const { proxy, valkeyProxy } = node('gw-c')
      for (const each of [proxy, valkeyProxy]) each?.become('cut')
      await troubleOf('gw-c', /cannot be reached/)
      const partly = { reached: ['gw-a', 'gw-b'], missing: [{ name: 'gw-c' }] }
      expect((await admin.keys.revoke({ key: id })).nodes).toMatchObject(partly)
      expect((await admin.tokens.revoke({ name: 'isolated' })).nodes).toMatchObject(partly)
      expect(await admitting(key)).toEqual(['gw-c'])
      // What was told stands in Valkey for who was not there.
      valkeyProxy?.become('pass')
      await expect.poll(() => admitting(key)).toEqual([])
      await troubleOf('gw-c', /cannot be reached/)
      proxy.become('pass')
      await troubleOf('gw-c', null)
      await cluster.converge()
      await oneLine(id)
    })

    it('names a node that PostgreSQL does not reach of what is removed, rotated, disabled or made less', async () => {
      const { admin } = node('gw-a').gateway
      await admin.tokens.create({ name: 'spare', role: 'admin' })
      await admin.operators.add({ name: 'olga', role: 'owner', password: 'correct horse battery' })
      await admin.operators.add({ name: 'anna', role: 'admin', password: 'correct horse battery' })
      const [removed, rotated] = [await newKey('removed'), await newKey('rotated')]
      const grace = await newKey('grace')
      await cluster.converge()
      // Where all are there, it is known to all when the command returns.
      const all = { reached: names, missing: [] }
      const fresh = await admin.keys.rotate({ key: rotated.id, grace: '0s' })
      expect(fresh.nodes).toEqual(all)
      expect([await admitting(rotated.key), await admitting(fresh.key)]).toEqual([[], names])
      expect((await admin.operators.edit({ name: 'anna', role: 'viewer' })).nodes).toEqual(all)
      expect((await admin.operators.edit({ name: 'anna', displayName: 'Anna' })).nodes).toBeNull()
      // Nothing ends yet; then the older of two secrets does.
      expect((await admin.keys.rotate({ key: grace.id, grace: '1h' })).nodes).toBeNull()
      expect((await admin.keys.rotate({ key: grace.id, grace: '1h' })).nodes).toEqual(all)
      expect(await admitting(grace.key)).toEqual([])
      // Of a key's expiry and policy too; its name and tags keep nobody out.
      await admin.policies.add({ name: 'strict', rpm: 5 })
      for (const project of ['spare-a', 'spare-b']) await admin.projects.add({ name: project })
      await admin.environments.add({ name: 'spare', project: 'spare-a' })
      expect((await admin.keys.edit({ key: grace.id, expires: '1h' })).nodes).toEqual(all)
      expect((await admin.keys.edit({ key: grace.id, policy: 'strict' })).nodes).toEqual(all)
      expect((await admin.keys.edit({ key: grace.id, tags: { team: 'a' } })).nodes).toBeNull()
      expect((await admin.policies.edit({ name: 'strict', rpm: 4 })).nodes).toEqual(all)
      expect((await admin.keys.edit({ key: grace.id, policy: 'none' })).nodes).toEqual(all)
      expect((await admin.projects.remove({ name: 'spare-b' })).nodes).toEqual(all)
      node('gw-c').proxy.become('cut')
      await troubleOf('gw-c', /cannot be reached/)
      const partly = { nodes: { reached: ['gw-a', 'gw-b'], missing: [{ name: 'gw-c' }] } }
      expect(await admin.policies.edit({ name: 'strict', rpm: 3 })).toMatchObject(partly)
      expect(await admin.policies.remove({ name: 'strict' })).toMatchObject(partly)
      expect(await admin.keys.edit({ key: grace.id, expires: '30m' })).toMatchObject(partly)
      expect(await admin.environments.remove({ name: 'spare', project: 'spare-a' })).toMatchObject(partly)
      expect(await admin.projects.remove({ name: 'spare-a' })).toMatchObject(partly)
      expect(await admin.keys.remove({ key: removed.id })).toMatchObject(partly)
      expect(await admitting(removed.key)).toEqual(['gw-c'])
      expect(await admin.keys.rotate({ key: rotated.id, grace: '0s' })).toMatchObject(partly)
      expect(await admin.tokens.remove({ name: 'spare' })).toMatchObject(partly)
      expect(await admin.operators.edit({ name: 'anna', role: 'none' })).toMatchObject(partly)
      expect(await admin.operators.reset({ name: 'anna' })).toMatchObject(partly)
      expect(await admin.operators.disable({ name: 'anna' })).toMatchObject(partly)
      // As of a key that is revoked again: who does not know it by now is named.
      expect(await admin.operators.disable({ name: 'anna' })).toMatchObject(partly)
      expect(await admin.operators.remove({ name: 'anna' })).toMatchObject(partly)
      node('gw-c').proxy.become('pass')
      await troubleOf('gw-c', null)
      await cluster.converge()
      expect(await admitting(removed.key)).toEqual([])
    })

    it('names such a node of routes, providers and policies that let less pass than before', async () => {
      const { admin } = node('gw-a').gateway
      const up = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', credential: 'one', skipCheck: true }
      await admin.providers.add({ name: 'up', ...up })
      await admin.providers.add({ name: 'spare', ...up })
      await admin.providers.credentials.add({ name: 'up', credential: 'two', skipCheck: true })
      await admin.routes.add({ model: 'm', provider: 'up' })
      const attach = ['project:default']
      await cluster.converge()
      const all = { nodes: { reached: names, missing: [] } }
      expect(await admin.providers.deactivate({ name: 'up' })).toMatchObject(all)
      expect(await admin.policies.add({ name: 'held', rpm: 5, attach })).toMatchObject(all)
      expect(await admin.policies.add({ name: 'nowhere', rpm: 5 })).toMatchObject({ nodes: null })
      expect(await admin.routes.enable({ model: 'm' })).not.toHaveProperty('nodes')
      node('gw-c').proxy.become('cut')
      await troubleOf('gw-c', /cannot be reached/)
      const partly = { nodes: { reached: ['gw-a', 'gw-b'], missing: [{ name: 'gw-c' }] } }
      expect(await admin.policies.add({ name: 'more', rpm: 5, attach })).toMatchObject(partly)
      expect(await admin.routes.edit({ model: 'm', provider: 'spare' })).toMatchObject(partly)
      expect(await admin.routes.disable({ model: 'm' })).toMatchObject(partly)
      expect(await admin.routes.remove({ model: 'm' })).toMatchObject(partly)
      const [{ id: credential = '' } = {}] = await admin.providers.credentials.list({ name: 'up' })
      expect(await admin.providers.credentials.remove({ name: 'up', credential })).toMatchObject(partly)
      expect(await admin.providers.edit({ name: 'up', rpm: 5 })).toMatchObject(partly)
      expect(await admin.providers.rollback({ name: 'up' })).toMatchObject(partly)
      // As of one that is disabled again: who does not know it by now is named.
      expect(await admin.providers.deactivate({ name: 'up' })).toMatchObject(partly)
      expect(await admin.providers.remove({ name: 'up' })).toMatchObject(partly)
      node('gw-c').proxy.become('pass')
      await troubleOf('gw-c', null)
      for (const name of ['held', 'nowhere', 'more']) await admin.policies.remove({ name })
      await admin.providers.remove({ name: 'spare' })
      await cluster.converge()
    })

    it('names such a node of what files take away, and of what people end on the page of their account', async () => {
      const { admin, consoleUrl } = node('gw-a').gateway
      await admin.operators.add({ name: 'paul', role: 'viewer', password: 'correct horse battery' })
      const origin = { origin: consoleUrl, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
      const post = (path: string, body: object, cookie = '') =>
        fetch(consoleUrl + path, { method: 'POST', headers: { ...origin, cookie }, body: JSON.stringify(body) })
      const signIn = async () => {
        const answer = await post('/auth/password', { name: 'paul', password: 'correct horse battery' })
        return answer.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
      }
      const files = (key: string, policy: string) => ({
        files: { 'f.yaml': `owner: f\nkeys: [${key}]\npolicies: [${policy}]\n` },
      })
      const two = files('{ name: filed, project: default, environment: production }', '{ name: capped, rpm: 5 }')
      const made = await admin.apply(two)
      expect(made.nodes).toBeNull()
      const filed = made.keys[0]?.key ?? ''
      await expect.poll(() => admitting(filed)).toEqual(names)
      const less = files('{ name: filed, project: default, environment: production }', '{ name: capped, rpm: 4 }')
      expect((await admin.apply(less)).nodes).toEqual({ reached: names, missing: [] })
      const held = { files: { 'g.yaml': 'owner: g\npolicies: [{ name: held, rpm: 5, attach: [workspace] }]\n' } }
      expect((await admin.apply(held)).nodes).toEqual({ reached: names, missing: [] })
      const [first, second] = [await signIn(), await signIn()]
      await cluster.converge()
      const { proxy, valkeyProxy } = node('gw-c')
      for (const each of [proxy, valkeyProxy]) each?.become('cut')
      await troubleOf('gw-c', /cannot be reached/)
      const partly = { nodes: { reached: ['gw-a', 'gw-b'], missing: [{ name: 'gw-c' }] } }
      expect(await admin.apply({ ...files('', ''), prune: true })).toMatchObject(partly)
      expect(await admitting(filed)).toEqual(['gw-c'])
      const account = await fetch(`${consoleUrl}/auth/account`, { headers: { cookie: second } })
      const { sessions } = (await account.json()) as { sessions: { id: string; current: boolean }[] }
      const id = sessions.find(({ current }) => !current)?.id
      expect(await (await post('/auth/account/sessions/revoke', { id }, second)).json()).toMatchObject(partly)
      const change = { current: 'correct horse battery', next: 'battery staple correct' }
      expect(await (await post('/auth/account/password', change, second)).json()).toMatchObject(partly)
      expect((await post('/auth/account/password', change, first)).status).toBe(401)
      for (const each of [proxy, valkeyProxy]) each?.become('pass')
      await troubleOf('gw-c', null)
      await cluster.converge()
      expect(await admitting(filed)).toEqual([])
    })

    it('tells what was revoked while both were away by the first that is back', async () => {
      const { key, id } = await newKey('both-away')
      for (const each of cluster.nodes) each.proxy.become('cut')
      await redis.stop()
      for (const name of names) await troubleOf(name, /cannot be reached/)
      const { nodes } = await node('gw-b').gateway.admin.keys.revoke({ key: id })
      expect(nodes).toMatchObject({ reached: ['gw-b'], missing: [{ name: 'gw-a' }, { name: 'gw-c' }] })
      await redis.start()
      await expect.poll(() => admitting(key), { timeout: 20_000 }).toEqual([])
      for (const each of cluster.nodes) each.proxy.become('pass')
      await cluster.converge()
      await oneLine(id)
    })

    it('lets nobody forge or read it who can write to Valkey', async () => {
      const { key, id } = await newKey('forged')
      const client = new Redis(redis.port, '127.0.0.1')
      const [channel = ''] = (await client.pubsub('CHANNELS')) as string[]
      const told = (await client.zrange(channel, 0, -1)).join('\n')
      expect(told).not.toContain(id)
      expect(told).not.toContain('keys.revoke')
      const changes = [{ name: 'keys', key: JSON.stringify([id]), op: 'set', patch: { revoked_at: '2026-01-01' } }]
      await client.publish(channel, JSON.stringify({ kind: 'taken', by: 'nod_x', taken: { token: 't', changes } }))
      client.disconnect()
      await node('gw-b').gateway.said('a message over Valkey is not of this cluster')
      expect(await admitting(key)).toEqual(names)
    })

    // The last of them: there are four nodes now.
    it.runIf(canMount())('holds on a node whose disk is full, by the room that is kept for it', async () => {
      const full = await cluster.add('gw-full', (path) => onTmpfs(path, [{ path, bytes: 64 * 1024 * 1024 }]))
      const { admin, createKey } = node('gw-a').gateway
      const degraded = async () => (await full.gateway.admin.status({})).degraded.map(({ part }) => part)
      const held = () => statSync(join(full.gateway.dataDirectory, 'reserve')).size
      const byValkey = await Promise.all(['one', 'two', 'three'].map((name) => createKey(`by-valkey-${name}`)))
      const byPostgres = await createKey('by-postgres')
      for (const { key } of [...byValkey, byPostgres]) await expect.poll(() => admitting(key)).toContain('gw-full')
      const before = held()
      /** Its own files have some room left, and a checkpoint may find more of it. */
      const untilFull = async (name: string) => {
        fillDisk(full.gateway.dataDirectory)
        for (let turn = 0; !(await degraded()).includes('store'); turn++) await createKey(`${name}-${turn}`)
      }
      for (const { id, key } of byValkey) {
        await untilFull(`before-${key.slice(-4).toLowerCase()}`)
        await admin.keys.revoke({ key: id })
        await expect.poll(() => admitting(key)).toEqual([])
      }
      await redis.stop()
      await untilFull('last')
      expect((await admin.keys.remove({ key: byPostgres.id })).nodes?.missing).toEqual([])
      expect(held()).toBeLessThan(before)
      expect(await admitting(byPostgres.key)).toEqual([])
    })
  },
)
