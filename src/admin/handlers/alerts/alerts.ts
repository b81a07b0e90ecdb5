import type { AlertEvent } from '../../../core/alert.ts'
import { newId } from '../../../core/ids.ts'
import type { Alert, AlertDelivery } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import type { AdminContext } from '../context.ts'
import { conflict, notFound, refused } from '../fault.ts'
import { loadOwners } from '../projects/owners.ts'
import { checkUrl, mintSigningSecret, openReceiver, sealReceiver, shownUrl } from './receiver.ts'

type OwnedFields = Record<string, string>

const show = ({ id, name, shownUrl, format, events, active, createdAt }: Alert, owned: OwnedFields = {}) => ({
  id,
  name,
  url: shownUrl,
  format,
  on: events,
  active,
  owned,
  created_at: createdAt,
})

/** Which file manages which of its fields. */
async function ownersOf(context: AdminContext): Promise<(alert: Alert) => OwnedFields> {
  const owned = await loadOwners(context)
  return ({ id }) => owned(id)
}
const resource = ({ id, name }: Alert) => ({ kind: 'alert', id, name })

const showDelivery = (delivery: AlertDelivery, alert: string) => ({
  id: delivery.id,
  alert,
  type: delivery.message.type,
  text: delivery.message.data.text,
  state: delivery.state,
  tries: delivery.tries,
  status: delivery.status,
  reason: delivery.reason,
  created_at: delivery.createdAt,
  next_at: delivery.nextAt,
  ended_at: delivery.endedAt,
})

async function load({ store }: AdminContext, name: string): Promise<Alert> {
  const alert = await store.alerts.find(name)
  if (alert === null) throw notFound('alert', name, 'List them: spgw alerts list')
  return alert
}

const inOrder = (events: readonly AlertEvent[]) => [...new Set(events)]

async function sendNow(context: AdminContext, alert: Alert, deliveryId: string) {
  await context.sendAlerts()
  const delivery = await context.store.alerts.delivery(deliveryId)
  if (delivery === null) throw notFound('delivery', deliveryId, 'List them: spgw alerts deliveries')
  return showDelivery(delivery, alert.name)
}

/** One that is off sends nothing, so nobody should wait for it. */
function refuseInactive({ name, active }: Alert): void {
  if (!active) throw refused(`The alert ${name} is not active.`, `spgw alerts edit ${name} --active`)
}

export const alerts = {
  add: operations.alerts.add.handler(async ({ context, input }) => {
    const { name, url, format } = input
    checkUrl(url, format)
    if ((await context.store.alerts.find(name)) !== null)
      throw conflict(`The alert ${name} already exists.`, `Choose another name, or: spgw alerts edit ${name}`)
    const id = newId('alr')
    const secret = mintSigningSecret(format)
    const alert: Alert = {
      id,
      name,
      shownUrl: shownUrl(url, format),
      format,
      events: inOrder(input.on),
      active: true,
      sealed: sealReceiver(context, id, { url, secret }),
      createdAt: new Date().toISOString(),
    }
    const after = show(alert)
    const line = { operation: 'alerts.add', resource: resource(alert), before: null, after }
    await audited(context, line).alerts.insert(alert)
    return { ...after, secret }
  }),
  list: operations.alerts.list.handler(async ({ context }) => {
    const owned = await ownersOf(context)
    return (await context.store.alerts.list()).map((alert) => show(alert, owned(alert)))
  }),
  show: operations.alerts.show.handler(async ({ context, input }) => {
    const owned = await ownersOf(context)
    const alert = await load(context, input.name)
    return show(alert, owned(alert))
  }),
  edit: operations.alerts.edit.handler(async ({ context, input }) => {
    const alert = await load(context, input.name)
    const change: Partial<Alert> = {
      name: input.rename ?? alert.name,
      events: input.on === undefined ? alert.events : inOrder(input.on),
      active: input.active ?? alert.active,
    }
    if (input.url !== undefined) {
      checkUrl(input.url, alert.format)
      const { secret } = openReceiver(context, alert)
      change.sealed = sealReceiver(context, alert.id, { url: input.url, secret })
      change.shownUrl = shownUrl(input.url, alert.format)
    }
    const after = show({ ...alert, ...change })
    const line = { operation: 'alerts.edit', resource: resource(alert), before: show(alert), after }
    await audited(context, line).alerts.update(alert.id, change)
    return show({ ...alert, ...change }, (await ownersOf(context))(alert))
  }),
  remove: operations.alerts.remove.handler(async ({ context, input }) => {
    const alert = await load(context, input.name)
    const line = { operation: 'alerts.remove', resource: resource(alert), before: show(alert), after: null }
    await audited(context, line).alerts.remove(alert.id)
    return { id: alert.id, name: alert.name, removed: true as const }
  }),
  test: operations.alerts.test.handler(async ({ context, input }) => {
    const alert = await load(context, input.name)
    refuseInactive(alert)
    const now = new Date().toISOString()
    const data = { resource: `alert:${alert.name}`, scope: null, percent: null, text: 'A test message of spgw.' }
    const untried = { state: 'pending', tries: 0, endedAt: null, status: null, reason: null } as const
    const message = { type: 'test', timestamp: now, data } as const
    const delivery = { id: newId('msg'), alertId: alert.id, message, createdAt: now, nextAt: now, ...untried }
    const line = { operation: 'alerts.test', resource: resource(alert), before: show(alert), after: show(alert) }
    await audited(context, line).alerts.queue(delivery)
    return await sendNow(context, alert, delivery.id)
  }),
  deliveries: operations.alerts.deliveries.handler(async ({ context, input }) => {
    const only = input.name === undefined ? null : await load(context, input.name)
    const names = new Map((await context.store.alerts.list()).map(({ id, name }) => [id, name]))
    const found = await context.store.alerts.deliveries(only?.id ?? null, input.limit)
    return found.map((delivery) => showDelivery(delivery, names.get(delivery.alertId) ?? delivery.alertId))
  }),
  retry: operations.alerts.retry.handler(async ({ context, input }) => {
    const delivery = await context.store.alerts.delivery(input.id)
    if (delivery === null) throw notFound('delivery', input.id, 'List them: spgw alerts deliveries')
    const alert = await load(context, delivery.alertId)
    refuseInactive(alert)
    const line = { operation: 'alerts.retry', resource: resource(alert), before: show(alert), after: show(alert) }
    await audited(context, line).alerts.retry(delivery.id, new Date().toISOString())
    return await sendNow(context, alert, delivery.id)
  }),
}
