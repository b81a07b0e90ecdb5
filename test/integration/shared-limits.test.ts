import { Redis } from 'iovalkey'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { askChat } from '../support/gateway.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'
import { hasRedis, needsRedis, RedisServer } from '../support/redis-server.ts'

const credential = 'sk-of-shared-limits-1234567890'

describe.skipIf(postgresPrograms === null || !hasRedis)(
  `limits that nodes share (${needsPostgres}; ${needsRedis})`,
  () => {
    let cluster: TestCluster
    let redis: RedisServer
    let upstream: MockProvider
    beforeAll(async () => {
      upstream = await startMockProvider('openai', credential)
      redis = await RedisServer.start()
      cluster = await TestCluster.start(['gw-a', 'gw-b', 'gw-c'], { valkeyPort: redis.port })
      await cluster.addChat(upstream, credential)
    })
    afterAll(async () => {
      await cluster?.stop()
      await redis?.remove()
      await upstream?.close()
    })

    function first() {
      const [node] = cluster.nodes
      if (node === undefined) throw new Error('there is no node')
      return node
    }

    const ask = (node: number, key: string) => askChat(cluster.nodes[node]?.gateway ?? first().gateway, key)

    async function limitedKey(name: string, rules: object): Promise<string> {
      const { admin, createKey } = first().gateway
      await admin.policies.add({ name, ...rules })
      const { key } = await createKey(name, { policy: name })
      await cluster.converge()
      return key
    }

    /** All nodes are asked again and again until that is so; how many requests passed. */
    async function storm(key: string, isOver: (passed: number, refused: number) => boolean): Promise<number> {
      let [passed, refused] = [0, 0]
      while (!isOver(passed, refused)) {
        const answers = await Promise.all([0, 1, 2].map((node) => ask(node, key)))
        for (const { status } of answers) {
          if (status === 200) passed++
          else if (status === 429) refused++
          else throw new Error(`answered ${status}`)
        }
      }
      return passed
    }

    const troubles = () =>
      Promise.all(cluster.nodes.map(async ({ gateway }) => (await gateway.admin.cluster.status({})).valkey?.trouble))

    it('says to a request that is refused when there is room for it, wherever that was used', async () => {
      const key = await limitedKey('one', { rpm: 1 })
      let asked = 0
      const pass = async () => {
        asked = performance.now()
        return (await ask(1, key)).status
      }
      // A Valkey that does not answer a busy machine within a tenth of a second has nothing to give.
      await expect.poll(pass).toBe(200)
      const refused = await ask(2, key)
      expect(refused.status).toBe(429)
      const seconds = (performance.now() - asked) / 1000
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(59 - seconds)
    })

    it('never passes more than the limit of a minute on all nodes together, with Valkey flushed and stopped meanwhile', async () => {
      const key = await limitedKey('sixty', { rpm: 60 })
      const begun = performance.now()
      let passed = await storm(key, (passed) => passed >= 30)
      const client = new Redis(redis.port, '127.0.0.1')
      await client.flushall()
      client.disconnect()
      // What the nodes state anew leaves as much room as there was.
      passed += await storm(key, (more) => passed + more >= 57)
      passed += await storm(key, (_, refused) => refused >= 30)
      await redis.stop()
      await expect.poll(troubles).toEqual([1, 2, 3].map(() => expect.any(String)))
      passed += await storm(key, (_, refused) => refused >= 30)
      await redis.start()
      await expect.poll(troubles).toEqual([null, null, null])
      passed += await storm(key, (_, refused) => refused >= 30)
      expect(performance.now() - begun).toBeLessThan(60_000)
      expect(passed).toBeLessThanOrEqual(60)
    })

    // Last: where Valkey is emptied soon after a start, nothing is granted for 80 seconds.
    it('serves the first request of a node that was killed and has begun again', async () => {
      const key = await limitedKey('many', { rpm: 600 })
      const node = first()
      for (let starts = 0; starts < 3; starts++) {
        await node.gateway.kill('SIGKILL')
        await node.restart()
        expect((await ask(0, key)).status).toBe(200)
      }
    })
  },
)
