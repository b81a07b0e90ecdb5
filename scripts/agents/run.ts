import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { FormatName } from '../../src/core/format.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { listAllRequests, startGateway, type TestGateway } from '../../test/support/gateway.ts'
import { type Agent, answerOnly, fileName, prompt } from './agents.ts'
import { ask } from './ask.ts'
import type { Installed } from './install.ts'
import { Player } from './player.ts'
import type { Upstream } from './upstreams.ts'

/** What became of one client with one provider. */
export interface Outcome {
  problems: readonly string[]
  losses: readonly string[]
  requests: number
  /** As `2/2`: of the turns after a signed one those that gave back what was signed; '' where nothing was. */
  reasoning: string
  tookMs: number
  /** What it printed. */
  output: string
}

export interface Run {
  agent: Agent
  installed: Installed
  format: FormatName
  /** Null: the demo provider, in the client's own format. */
  upstream: Upstream | null
}

interface Stage {
  home: string
  work: string
  gateway: TestGateway
}

const demo = { model: 'demo', question: 'hello', answer: 'built-in demo provider' }
const credential = 'sk-mock-of-the-agents'

/** A gateway, a provider and a home of their own, so that no run sees what another left. */
export async function runAgent(run: Run): Promise<Outcome> {
  const home = mkdtempSync(join(tmpdir(), 'spgw-agents-'))
  const work = join(home, 'work')
  mkdirSync(work)
  const gateway = await startGateway({ environment: { HOME: home, PATH: process.env.PATH ?? '' } })
  try {
    const stage = { home, work, gateway }
    return await (run.upstream === null ? askQuestion(run, stage) : editFile(run, run.upstream, stage))
  } finally {
    await gateway.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

async function askQuestion(run: Run, stage: Stage): Promise<Outcome> {
  const { admin } = stage.gateway
  await admin.providers.add({ name: 'demo', kind: 'demo' })
  await stage.gateway.addRoute('demo*', ['demo'])
  await stage.gateway.addRoute('gemini-*', ['demo'])
  const played = await play(run, stage, { model: demo.model, question: demo.question, shown: demo.answer })
  return { ...played, reasoning: '' }
}

async function editFile(run: Run, upstream: Upstream, stage: Stage): Promise<Outcome> {
  const player = new Player(upstream, credential)
  await player.mock.listen()
  try {
    const asked = run.agent.asksFor ?? upstream.model
    await addRoutes(asked, upstream, { player, gateway: stage.gateway })
    const edit = run.agent.edit?.(stage.work) ?? answerOnly
    player.begin(edit)
    const played = await play(run, stage, { model: asked, question: prompt, shown: edit.shown })
    const file = join(stage.work, fileName)
    const text = existsSync(file) ? readFileSync(file, 'utf8') : null
    const isEdited = run.agent.edit === null || text?.trim() === 'two'
    const { back, of } = player.reasoning
    const problems = [
      ...(isEdited ? [] : [`${fileName} says ${JSON.stringify(text)}`]),
      ...new Set([...player.problems, ...player.mock.leaks]),
      ...played.problems,
    ]
    return { ...played, problems, reasoning: of === 0 ? '' : `${back}/${of}` }
  } finally {
    await player.mock.close()
  }
}

async function addRoutes(
  asked: string,
  { kind, model, format }: Upstream,
  { player, gateway }: { player: Player; gateway: TestGateway },
): Promise<void> {
  await gateway.admin.providers.add({ name: kind, kind, baseUrl: player.mock.baseUrl, credential })
  const targets = [`${kind}:${model}${kind === 'openai' ? `,format=${format}` : ''}`]
  await gateway.addRoute(asked, targets, { retries: 0 })
  // What a vendor without a preset takes, nobody knows but the operator.
  if (kind === 'openai-compatible') await gateway.admin.prices.set({ model, input: 1, output: 4 })
  // Gemini CLI asks for smaller models by their own names.
  await gateway.addRoute('gemini-*', targets, { retries: 0 })
}

interface Question {
  model: string
  question: string
  shown: string
}

async function play(
  { agent, installed, format }: Run,
  { home, work, gateway }: Stage,
  { model, question, shown }: Question,
): Promise<Omit<Outcome, 'reasoning'>> {
  const environment = {
    PATH: `${installed.programs}${delimiter}${process.env.PATH}`,
    HOME: home,
    NO_COLOR: '1',
    ...(await connect(agent, { gateway, format, model })),
    ...agent.environment,
  }
  const started = performance.now()
  const output = await ask(agent.command(question), { installed, work, environment })
  const tookMs = performance.now() - started
  const records = await listAllRequests(gateway)
  const isFree = model === demo.model
  const problems = [
    ...(output.includes(shown) ? [] : ['it did not show the last answer']),
    ...new Set(records.flatMap((record) => problemsOf(record, isFree))),
    ...(records.length === 0 ? ['no request reached the gateway'] : []),
  ]
  const losses = [...new Set(records.flatMap(({ losses: lost }) => lost.map(withoutNumbers)))].sort()
  return { problems, losses, requests: records.length, tookMs, output }
}

/** What the client is told of the gateway, beside the settings that it finds in its home. */
async function connect(
  { client }: Agent,
  { gateway, format, model }: { gateway: TestGateway; format: FormatName; model: string },
): Promise<Record<string, string>> {
  if (client === null) {
    const { key } = await gateway.createKey('agent')
    return { GATEWAY: gateway.baseUrl, KEY: key, MODEL: model, FORMAT: format }
  }
  const argv = ['connect', client, '--create-key', 'agent', '--model', model, '--write', '--yes']
  const { code, stderr } = await gateway.spgw(argv)
  if (code !== 0) throw new Error(`spgw connect ${client}: ${stderr}`)
  return {}
}

function problemsOf({ path, status, error, cost, state }: RequestRecord, isFree: boolean): string[] {
  const where = `the record of ${path}`
  if (error !== null || status !== 200) return [`${where}: ${status} ${error?.code} ${error?.message}`]
  const isCounted = !isFree && path?.endsWith('/models') !== true && !/count|models\/[^:]+$/.test(path ?? '')
  if (isCounted && cost === null) return [`${where} has no cost`]
  return state === 'settled' ? [] : [`${where} is ${state}`]
}

/** `messages[3].name` as `messages[].name`: which of them it was, says the record. */
function withoutNumbers(path: string): string {
  return path.replace(/\[\d+\]/g, '[]').replace(/\.\d+(?=\.|$)/g, '[]')
}
