import http from 'node:http'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import type { AdminContext } from '../../src/admin/handlers/context.ts'
import { refusedByAccounts } from '../../src/admin/handlers/routes/explain-accounts.ts'
import { planQuestion } from '../../src/admin/handlers/routes/explain-route.ts'
import type { Fault } from '../../src/core/errors.ts'
import { limitUsage } from '../../src/daemon/budgets/limit-usage.ts'
import { inspectRequest } from '../../src/daemon/calls/inspect-request.ts'
import { providerKinds } from '../../src/providers/index.ts'
import { recall } from '../../src/routing/affinity.ts'
import type { Candidate, Plan } from '../../src/routing/plan.ts'
import type { ConfigurationSnapshot } from '../../src/store/configuration/snapshot.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import {
  anyCase,
  bodyOf,
  type Case,
  configure,
  pricesOf,
  providerNames,
  remember,
  setPast,
} from '../support/random-routes.ts'
import { makeKey, makePolicy } from '../support/snapshot.ts'
import { patternScript } from '../support/thread-module.ts'

/** 10,000: `SPGW_EXPLAIN_RUNS=10000 npm test -- --project unit test/gateway/explain-equals-gateway.test.ts`. */
const runs = Number(process.env.SPGW_EXPLAIN_RUNS ?? 150)

async function startProvider(): Promise<string> {
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"choices":[],"content":[]}')
    })
  })
  onTestFinished(() => closeServer(server))
  return await listen(server)
}

/** As the one key of the data plane has it, and with providers that answer. */
function placed(chosen: Case, origin: string, version: number): ConfigurationSnapshot {
  const snapshot = configure(chosen)
  const providers = snapshot.providers.map((provider) => ({
    ...provider,
    baseUrl: provider.kind === 'anthropic' ? origin : `${origin}/v1`,
    projects: provider.projects?.map((id) => (id === 'prj_a' ? 'prj_1' : id)) ?? null,
  }))
  const routes = snapshot.routes.map((route) => ({
    ...route,
    projectId: 'prj_1',
    environmentId: route.environmentId === 'env_a1' ? 'env_1' : route.environmentId,
    retries: 0,
  }))
  return { ...snapshot, version, providers, routes, policies: [...snapshot.policies, looks] }
}

/** Finds something in each prompt that has words, and changes nothing of what is decided. */
const looks = makePolicy('looks', {
  contentRules: [
    { name: 'w', detector: null, pattern: 'wor[a-z]', action: 'flag', on: ['prompt'], reversible: false, longest: 9 },
  ],
})

/** The data plane has one key, whose failures count for all. Most of what it is asked can be answered. */
function answerable(chosen: Case): Case {
  const fitting = chosen.lane === 'anthropic' ? 'anthropic' : 'openai'
  const [served] = chosen.routes[0]?.targets.flatMap(({ provider }) => providerNames.indexOf(provider)) ?? []
  const providers = chosen.providers.map((provider, place) => ({
    ...provider,
    kind: provider.kind === 'bedrock' && place !== served ? provider.kind : fitting,
    ...(place === served ? { active: true, state: 'ready', projects: null, account: {} } : {}),
  }))
  const routes = chosen.routes.map((route, place) =>
    place === 0 ? { ...route, model: 'gpt*', environment: 'env_a1', enabled: true } : route,
  )
  // What is over between the question and the request would be no difference of theirs.
  const past = chosen.past.map((each) => ({ ...each, amount: each.amount + 600_000 }))
  // An empty message cannot be written in every format.
  const body = { ...chosen.body, words: Math.max(1, chosen.body.words) }
  return { ...chosen, keys: 1, past, providers, routes, body } as Case
}

async function publish(plane: DataPlane, snapshot: ConfigurationSnapshot, chosen: Case): Promise<void> {
  const { health, affinities } = plane.shared
  for (const slot of providerNames.keys()) health.markReady(slot)
  setPast(health, chosen, Date.now())
  remember(affinities, chosen, snapshot.routes, Date.now())
  const configured = plane.hear('has')
  plane.tell({ type: 'configuration', snapshot, patternScript: patternScript() })
  await configured
  const priced = plane.hear('has')
  plane.tell({ type: 'prices', prices: { revision: snapshot.version, prices: pricesOf(chosen) } })
  await priced
}

interface Explained {
  planned: Plan
  /** By its accounts. */
  refused: ReadonlyMap<Candidate, Fault>
}

function explain({ shared }: DataPlane, configuration: ConfigurationSnapshot, chosen: Case): Explained {
  const key = makeKey({ id: 'key_1', projectId: 'prj_1', environmentId: 'env_1' })
  const { health, affinities } = shared
  const runtime: Partial<AdminContext['runtime']> = {
    snapshot: () => ({ configuration, keys: [key] }),
    health: (slot, credentials, target, caller) => health.view(slot, Date.now(), credentials, target, caller),
    latency: (target, streamed) => health.latency.find(target, streamed),
    recall: (asked) => recall(affinities, asked, Date.now()),
    isUsable: (target, credential) => health.isUsable(target, credential, Date.now()),
    prices: () => pricesOf(chosen),
    limitUsage: (...asked) => limitUsage(shared.limits, configuration.timeZone, ...asked),
  }
  const context: Partial<AdminContext> = { runtime: runtime as AdminContext['runtime'], kinds: providerKinds }
  const [inspected] = inspectRequest(bodyOf(chosen), chosen.lane, null)
  if (inspected === undefined || 'fault' in inspected) throw new Error('no such request')
  const question = { ...inspected, model: 'gpt', lanes: [chosen.lane] }
  const scope = { project: { id: 'prj_1' }, environment: { id: 'env_1' } }
  const { planned } = planQuestion(context as AdminContext, scope, question, key)
  const asked = { ...question, text: bodyOf(chosen), policy: null, now: Date.now() }
  return { planned, refused: refusedByAccounts(context as AdminContext, planned, asked) }
}

async function send(plane: DataPlane, chosen: Case): Promise<string> {
  const path = chosen.lane === 'openai' ? '/v1/chat/completions' : '/v1/anthropic/v1/messages'
  const answer = await fetch(plane.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: bodyOf(chosen),
  })
  await answer.text()
  return answer.headers.get('x-sp-request-id') ?? ''
}

it(`explains what the gateway then does, in ${runs} random configurations`, async () => {
  const origin = await startProvider()
  const plane = await startDataPlane({ providers: [] })
  onTestFinished(() => plane.stop())
  const explained = new Map<string, Explained & { chosen: Case }>()
  let version = 1
  for (const each of fc.sample(anyCase, runs)) {
    const chosen = answerable(each)
    const snapshot = placed(chosen, origin, ++version)
    await publish(plane, snapshot, chosen)
    const found = explain(plane, snapshot, chosen)
    explained.set(await send(plane, chosen), { ...found, chosen })
  }
  const last = [...explained.keys()].at(-1) ?? ''
  await plane.record(last)
  const records = new Map(plane.records().map((record) => [record.id, record]))
  let sent = 0
  let crowded = 0
  for (const [id, { planned, refused, chosen }] of explained) {
    const record = records.get(id)
    const open = planned.candidates.filter((candidate) => !refused.has(candidate))
    const targets = open.map(({ provider, upstreamModel }) => `${provider.name}/${upstreamModel}`)
    const asked = record?.attempts.map((attempt) => `${attempt.provider}/${attempt.upstream_model}`) ?? []
    const context = JSON.stringify({ chosen, says: record?.routing_signals.map(({ text }) => text) })
    if (planned.fault !== null) {
      expect(record?.error?.code, context).toBe(planned.fault.code)
      expect(asked, context).toEqual([])
      continue
    }
    if (open.length === 0) {
      crowded++
      const codes = planned.candidates.map((candidate) => refused.get(candidate)?.code)
      expect(codes, context).toContain(record?.error?.code)
      expect(asked, context).toEqual([])
      continue
    }
    sent++
    // Under a strategy that draws, one of those that it may draw.
    const drawn = ['weighted', 'latency'].includes(planned.route?.strategy ?? '')
    const isKept = planned.candidates[0]?.preferredCredential !== undefined && open[0] === planned.candidates[0]
    if (drawn && !isKept) expect(targets, context).toContain(asked[0])
    else expect(asked[0], context).toBe(targets[0])
    const skipped = (signals: Plan['signals']) =>
      signals.filter(({ verdict, rule }) => rule === 'target' && verdict === 'skipped').map(({ data }) => data?.code)
    expect(skipped(record?.routing_signals ?? []).slice(0, planned.skipped.length), context).toEqual(
      skipped(planned.signals),
    )
  }
  expect([sent > runs / 4, crowded > 0]).toEqual([true, true])
})
