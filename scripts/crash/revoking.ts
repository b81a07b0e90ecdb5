import { TestCluster } from '../../test/support/cluster.ts'
import { RedisServer } from '../../test/support/redis-server.ts'

const names = ['gw-a', 'gw-b', 'gw-c']

/** Over three nodes, by both servers and by each alone: from the command to its answer, when every node rejects the key. */
export async function measureRevoking(runs: number): Promise<{ table: string; missed: number }> {
  const redis = await RedisServer.start()
  const cluster = await TestCluster.start(names, { valkeyPort: redis.port })
  try {
    const rows: RevokingFigures[] = [await measure(cluster, 'PostgreSQL and Valkey', runs, async () => {})]
    rows.push(await measure(cluster, 'Valkey alone', runs, () => lose(cluster)))
    for (const { proxy } of cluster.nodes) proxy.become('pass')
    await cluster.converge()
    rows.push(await measure(cluster, 'PostgreSQL alone', runs, () => redis.stop()))
    const lines = rows.map(({ by, p50, p99, most }) => `| ${[by, runs, p50, p99, most].join(' | ')} |`)
    const head = '| by | revoked | p50 ms | p99 ms | most ms |\n|---|---:|---:|---:|---:|'
    const missed = rows.reduce((sum, row) => sum + row.missed, 0)
    return { table: `${head}\n${lines.join('\n')}\n\n${missed} not rejected on all nodes by then.\n`, missed }
  } finally {
    await cluster.stop()
    await redis.remove()
  }
}

interface RevokingFigures {
  by: string
  p50: string
  p99: string
  most: string
  missed: number
}

async function measure(
  cluster: TestCluster,
  by: string,
  runs: number,
  fault: () => Promise<void>,
): Promise<RevokingFigures> {
  const [first] = cluster.nodes
  if (first === undefined) throw new Error('three nodes')
  const { admin, createKey } = first.gateway
  const keys: Awaited<ReturnType<typeof createKey>>[] = []
  const prefix = by.toLowerCase().replaceAll(' ', '-')
  for (let number = 0; number < runs; number++) keys.push(await createKey(`${prefix}-${number}`))
  await cluster.converge()
  await fault()
  const times: number[] = []
  let missed = 0
  for (const { id, key } of keys) {
    const begun = performance.now()
    await admin.keys.revoke({ key: id })
    times.push(performance.now() - begun)
    if ((await admitting(cluster, key)) > 0) missed++
  }
  times.sort((one, other) => one - other)
  const at = (part: number) => (times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0).toFixed(0)
  return { by, p50: at(0.5), p99: at(0.99), most: at(1), missed }
}

async function lose(cluster: TestCluster): Promise<void> {
  for (const { proxy } of cluster.nodes) proxy.become('cut')
  for (const { gateway } of cluster.nodes)
    while ((await gateway.admin.cluster.status({})).trouble === null)
      await new Promise((resolve) => setTimeout(resolve, 25))
}

/** On how many nodes. A call about models needs no provider. */
async function admitting(cluster: TestCluster, key: string): Promise<number> {
  const ask = async ({ gateway }: TestCluster['nodes'][number]) => {
    const response = await fetch(`${gateway.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    await response.text()
    return response.status
  }
  return (await Promise.all(cluster.nodes.map(ask))).filter((status) => status !== 401).length
}
