import type { FormatName } from '../../../src/core/format.ts'
import { startGateway } from '../gateway.ts'
import { oneOf } from '../shows/is-whole.ts'
import { chatClient, chatDialect } from './clients/chat.ts'
import type { Dialect, SceneClient } from './clients/client.ts'
import { generateClient, generateDialect } from './clients/generate.ts'
import { messagesClient, messagesDialect } from './clients/messages.ts'
import { hasPython, PythonClients } from './clients/python.ts'
import { responsesClient, responsesDialect } from './clients/responses.ts'
import { type Feature, features } from './features.ts'
import type { CellResult } from './page.ts'
import { type Outcome, routeName, runCase } from './run.ts'
import { startUpstreams, type Upstream } from './upstreams.ts'
import { WireWatch } from './wire-watch.ts'

/** A gateway with all forms of providers behind it, and the clients of all formats. */
export interface MatrixStage {
  upstreams: readonly Upstream[]
  run(client: FormatName): Promise<CellResult[]>
  /** Every third cell by the SDKs in Python, beginning by chance (`npm run matrix`: all of them). */
  runPython(client: FormatName): Promise<CellResult[]>
  close(): Promise<void>
}

export async function startMatrix(): Promise<MatrixStage> {
  const [gateway, upstreams] = await Promise.all([startGateway(), startUpstreams()])
  for (const { name, kind, format, mock, credential, settings, models } of upstreams) {
    const provider = name.replace(' ', '-')
    await gateway.admin.providers.add({ name: provider, kind, baseUrl: mock.baseUrl, credential, ...settings })
    const chosen = kind === 'openai' ? `,format=${format}` : ''
    for (const model of ['usual', 'plain', 'reasoning', 'newest'] as const)
      await gateway.addRoute(routeName(name, model), [`${provider}:${models[model]}${chosen}`], { retries: 0 })
  }
  const { key } = await gateway.createKey('matrix')
  const { baseUrl } = gateway
  const wire = new WireWatch()
  const uninstall = wire.install(baseUrl)
  const drivers: Record<FormatName, SceneClient> = {
    chat: chatClient(baseUrl, key),
    responses: responsesClient(baseUrl, key),
    messages: messagesClient(baseUrl, key),
    generate: generateClient(baseUrl, key),
  }
  const python = hasPython ? new PythonClients({ baseUrl, key }, wire) : null
  const dialects: Record<FormatName, Dialect> = {
    chat: chatDialect,
    responses: responsesDialect,
    messages: messagesDialect,
    generate: generateDialect,
  }
  const runFeature = async (
    client: FormatName,
    driver: SceneClient,
    upstream: Upstream,
    feature: Feature,
  ): Promise<CellResult> => {
    const ask = async (streamed: boolean) => {
      const outcomes: Outcome[] = []
      for (const one of feature.cases) outcomes.push(await runCase({ client, driver, upstream, streamed, wire }, one))
      return outcomes
    }
    return { client, upstream, feature, whole: await ask(false), streamed: await ask(true) }
  }
  const cells = upstreams.flatMap((upstream) => features.map((feature) => ({ upstream, feature })))
  const runCells = async (client: FormatName, driver: SceneClient, asked: typeof cells) => {
    const results: CellResult[] = []
    for (const { upstream, feature } of asked) results.push(await runFeature(client, driver, upstream, feature))
    return results
  }
  return {
    upstreams,
    run: (client) => runCells(client, drivers[client], cells),
    runPython: (client) =>
      python === null
        ? Promise.resolve([])
        : runCells(client, python.client(client, dialects[client]), oneOf(3, cells)),
    close: async () => {
      uninstall()
      python?.close()
      for (const { mock } of upstreams) mock.assertClean()
      await gateway.stop()
      for (const { mock } of upstreams) await mock.close()
    },
  }
}
