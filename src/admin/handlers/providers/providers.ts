import { z } from 'zod'
import type { Preset } from '../../../providers/presets.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { cancelledBy } from '../cancellation.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict, notFound, operationFault } from '../fault.ts'
import { findProvider } from '../find.ts'
import { readDuration, readMoment } from '../moments.ts'
import { chooseStep, laySteps } from '../requests/request-series.ts'
import { addProvider } from './add-provider.ts'
import { checkStored } from './check-stored.ts'
import { credentials } from './credentials.ts'
import { editProvider } from './edit-provider.ts'
import { kindSchema } from './kind-schema.ts'
import { ownSettings } from './provider-input.ts'
import { auditProvider, loadUsage, resource, showProvider, showRevision } from './show-provider.ts'

async function setActive(context: AdminContext, name: string, active: boolean) {
  const provider = await findProvider(context, name)
  const usage = await loadUsage(context)
  if (provider.active === active) return showProvider(provider, usage)
  const line = {
    operation: active ? 'providers.activate' : 'providers.deactivate',
    resource: resource(provider),
    before: auditProvider(provider, usage),
    after: auditProvider({ ...provider, active }, usage),
  }
  const changed = await audited(context, line).providers.update(provider.id, { active })
  await context.runtime.publish()
  return showProvider(changed, usage)
}

const showPreset = ({ name, title, baseUrl, credential, note }: Preset) => ({
  name,
  title,
  base_url: baseUrl,
  credential,
  note,
})

export const providers = {
  add: operations.providers.add.handler(({ context, input }) => addProvider(context, input)),
  list: operations.providers.list.handler(async ({ context }) => {
    const usage = await loadUsage(context)
    return (await context.store.providers.list()).map((provider) => showProvider(provider, usage))
  }),
  show: operations.providers.show.handler(async ({ context, input }) =>
    showProvider(await findProvider(context, input.name), await loadUsage(context)),
  ),
  edit: operations.providers.edit.handler(({ context, input }) => editProvider(context, input)),
  check: operations.providers.check.handler(async ({ context, input }) => {
    const provider = await findProvider(context, input.name)
    const { ok, reason, message, models, credentials } = await checkStored(context, provider)
    await context.runtime.publish()
    return {
      ...{ provider: provider.name, ok, reason, message, models: models.map(({ name }) => name) },
      credentials: credentials.map(({ id, lastFour, result }) => ({
        ...{ id, last_four: lastFour, ok: result.ok, reason: result.reason, message: result.message },
      })),
    }
  }),
  activate: operations.providers.activate.handler(({ context, input }) => setActive(context, input.name, true)),
  deactivate: operations.providers.deactivate.handler(async ({ context, input }) => {
    const changed = await setActive(context, input.name, false)
    return { ...changed, nodes: await confirmReach(context) }
  }),
  attempts: operations.providers.attempts.handler(({ context, input, signal }) =>
    showProviderAttempts(cancelledBy(context, signal), input),
  ),
  history: operations.providers.history.handler(({ context, input }) => showProviderHistory(context, input)),
  revisions: operations.providers.revisions.handler(async ({ context, input }) => {
    const provider = await findProvider(context, input.name)
    const revisions = await context.store.providers.revisions(provider.id)
    return revisions
      .map((revision) => showRevision(revision, provider.activeRevision))
      .sort((one, other) => other.number - one.number)
  }),
  rollback: operations.providers.rollback.handler(async ({ context, input }) => {
    const provider = await findProvider(context, input.name)
    const number = input.revision ?? provider.activeRevision - 1
    if (number === 0)
      throw operationFault(
        'not_found',
        `${provider.name} has only its first revision, so there is none to go back to.`,
        `To change it: spgw providers edit ${provider.name}`,
      )
    const usage = await loadUsage(context)
    const revision = (await context.store.providers.revisions(provider.id)).find((one) => one.number === number)
    if (!revision)
      throw notFound(
        `revision of ${provider.name}`,
        String(number),
        `List them: spgw providers revisions ${provider.name}`,
      )
    if (number === provider.activeRevision)
      throw conflict(
        `Revision ${number} of ${provider.name} is the active one.`,
        `List them: spgw providers revisions ${provider.name}`,
      )
    const line = {
      operation: 'providers.rollback',
      resource: resource(provider),
      before: auditProvider(provider, usage),
      after: auditProvider({ ...provider, activeRevision: number, revision }, usage),
    }
    const changed = await audited(context, line).providers.activateRevision(provider.id, number)
    // A rollback is never refused: it is what one does when things are bad. What it leads to is shown.
    await checkStored(context, changed)
    await context.runtime.publish()
    const rolledBack = showProvider(await findProvider(context, provider.id), usage)
    return { ...rolledBack, nodes: await confirmReach(context) }
  }),
  remove: operations.providers.remove.handler(async ({ context, input }) => {
    const provider = await findProvider(context, input.name)
    const before = auditProvider(provider, await loadUsage(context))
    const line = { operation: 'providers.remove', resource: resource(provider), before, after: null }
    await audited(context, line).providers.remove(provider.id)
    await context.runtime.publish()
    return { id: provider.id, name: provider.name, removed: true as const, nodes: await confirmReach(context) }
  }),
  kinds: operations.providers.kinds.handler(({ context }) =>
    context.kinds.map((kind) => ({
      kind: kind.kind,
      title: kind.title,
      description: kind.description,
      speaks: [...kind.lanes],
      default_base_url: kind.defaultBaseUrl === '' ? null : kind.defaultBaseUrl,
      credential: kind.credential,
      credential_word: kind.credential !== 'none' && kind.apiKey !== false,
      credential_documents: (kind.jsonCredentials ?? []).map(({ title, members }) => ({
        title,
        members: [...members],
      })),
      settings: { ...z.toJSONSchema(kindSchema(kind)) },
      own_settings: ownSettings(kind).map(({ setting, field, flag }) => ({ setting, field, flag })),
      presets: (kind.presets ?? []).map(showPreset),
    })),
  ),
  credentials,
}

/** Newest first. The one that held when the span began stands at its end: without it a chart would begin with nothing. */
async function showProviderHistory(context: AdminContext, input: { name: string; since: string }) {
  const provider = await findProvider(context, input.name)
  const since = readMoment(input.since, 'back')
  const states = await context.store.providers.states(provider.id, '')
  const before = states.findLast(({ time }) => time < since)
  const found = states.filter(({ time }) => time >= since)
  const all = [...(before === undefined ? [] : [before]), ...found]
  if (all.length > 0) return all.reverse()
  // Of a provider that is older than its history.
  const { state, reason, since: time } = provider.readiness
  return [{ time: time ?? provider.createdAt, state, reason }]
}

async function showProviderAttempts(
  context: AdminContext,
  input: { name?: string | undefined; since: string; step: string },
) {
  const provider = input.name === undefined ? null : (await findProvider(context, input.name)).name
  await context.runtime.ingest()
  const until = Date.now()
  const since = Date.parse(readMoment(input.since, 'back'))
  const stepMs = input.step === 'auto' ? chooseStep(until - since) : readDuration(input.step)
  const { from, steps } = laySteps(since, until, stepMs)
  const window = { since: new Date(from).toISOString(), until: new Date(until).toISOString() }
  const question = { provider, from, stepMs, steps }
  const found = await context.store.records.attemptSeries({ ...window, limit: 1 }, question)
  return { ...window, step_ms: stepMs, ...found }
}
