import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'

export const objects: FaultRow = {
  name: 'objects',
  fault: 'a response made on one node, used on another in the next moment',
  counts: 'responses',
  usual: 500,
  async run(scene, { times }) {
    const keeper = await startKeeper(scene)
    const [first] = scene.nodes
    if (first === undefined) throw new Error('there is no node')
    const { admin } = first.gateway
    await admin.providers.add({ name: 'kept', kind: 'openai', baseUrl: keeper, credential: 'sk-kept', skipCheck: true })
    await admin.routes.add({ model: 'gpt-kept', targets: ['kept'] })
    const { key } = await first.gateway.createKey('keeper')
    await scene.cluster.converge()
    scene.begin()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'gpt-kept', input: 'hello' })
    let [unknown, again] = [0, 0]
    for (let made = 0; made < times; made++) {
      const [maker, user] = [scene.random.pick(scene.nodes), scene.random.pick(scene.nodes)]
      const response = await fetch(`${maker.gateway.baseUrl}/v1/responses`, { method: 'POST', headers, body })
      const { id } = (await response.json()) as { id: string }
      const use = () => statusOf(`${user.gateway.baseUrl}/v1/responses/${id}`, headers)
      // A node that is too busy to answer the others may have made it: clients try again.
      let status = await use()
      for (; status === 503; status = await use()) again++
      if (status !== 200) unknown++
    }
    if (unknown > 0) scene.problem(`${unknown} responses of ${times} were not known on another node`)
    return { responses: times, unknown, 'asked to try again': again }
  },
}

async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(url, { headers })
  await response.arrayBuffer()
  return response.status
}

/** A provider that keeps whatever it answers. */
async function startKeeper(scene: NodeScene): Promise<string> {
  let made = 0
  const server = createServer((request, response) => {
    const id = request.method === 'POST' ? `resp_${made++}` : (request.url?.split('/').at(-1) ?? '')
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id, object: 'response', status: 'completed', model: 'gpt-kept', output: [] }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scene.onClose(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
