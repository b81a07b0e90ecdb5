import type { Tables } from '../api.ts'
import { refuseStaleSeal } from '../configuration/seal.ts'
import { present, refuseTaken } from '../reject.ts'
import type { AlertDeliveryRow, AlertRow, Database } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import type { Alert, AlertDelivery } from './alert-tables.ts'

/** Deliveries that one receiver gets at once; the others wait for the next check. */
const mostDue = 100

export function alertsTable(db: Database): Tables['alerts'] {
  return { ...alertMethods(db), ...crossingMethods(db), ...deliveryMethods(db) }
}

type AlertMethods = Pick<Tables['alerts'], 'list' | 'find' | 'insert' | 'update' | 'remove'>
type CrossingMethods = Pick<Tables['alerts'], 'crossings' | 'raise' | 'forget'>

function alertMethods(db: Database): AlertMethods {
  const withId = (id: string) => db.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst()
  const withName = (name: string) => db.selectFrom('alerts').selectAll().where('name', '=', name).executeTakeFirst()
  return {
    list: async () => (await db.selectFrom('alerts').selectAll().orderBy('name').execute()).map(toAlert),
    async find(nameOrId) {
      const row = (await withId(nameOrId)) ?? (await withName(nameOrId))
      return row === undefined ? null : toAlert(row)
    },
    async insert(alert) {
      refuseTaken(await withName(alert.name), 'alert', alert.name, alert.id)
      await refuseStaleSeal(db, [alert.sealed], [])
      await db.insertInto('alerts').values(toRow(alert)).execute()
      return alert
    },
    async update(id, change) {
      const before = toAlert(present(await withId(id), 'alert', id))
      const alert = { ...before, ...change }
      refuseTaken(await withName(alert.name), 'alert', alert.name, id)
      await refuseStaleSeal(db, [alert.sealed], [before.sealed])
      await db.updateTable('alerts').set(toRow(alert)).where('id', '=', id).execute()
      return alert
    },
    async remove(id) {
      present(await withId(id), 'alert', id)
      await db.deleteFrom('alerts').where('id', '=', id).execute()
    },
  }
}

function crossingMethods(db: Database): CrossingMethods {
  return {
    async crossings() {
      const rows = await db.selectFrom('alert_crossings').select(['alert_id', 'crossing']).execute()
      return rows.map(({ alert_id: alertId, crossing }) => ({ alertId, crossing }))
    },
    async raise(alertId, { time, crossed, ended, deliveries: raised }) {
      // It may have been removed in the meantime.
      const alert = db.selectFrom('alerts').select('id').where('id', '=', alertId)
      if ((await alert.executeTakeFirst()) === undefined) return
      const rows = crossed.map((crossing) => ({ alert_id: alertId, crossing, time }))
      if (ended.length > 0)
        await db.deleteFrom('alert_crossings').where('alert_id', '=', alertId).where('crossing', 'in', ended).execute()
      for (const row of rows)
        await db
          .insertInto('alert_crossings')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      for (const delivery of raised) await db.insertInto('alert_deliveries').values(toDeliveryRow(delivery)).execute()
    },
    async forget(time, kept) {
      await db.deleteFrom('alert_deliveries').where('created_at', '<', time).where('next_at', 'is', null).execute()
      const old = await db.selectFrom('alert_crossings').selectAll().where('time', '<', time).execute()
      const current = new Set(kept)
      for (const { alert_id, crossing } of old)
        if (!current.has(crossing))
          await db
            .deleteFrom('alert_crossings')
            .where('alert_id', '=', alert_id)
            .where('crossing', '=', crossing)
            .execute()
    },
  }
}

function deliveryMethods(db: Database): Omit<Tables['alerts'], keyof AlertMethods | keyof CrossingMethods> {
  const deliveries = () => db.selectFrom('alert_deliveries').selectAll()
  const deliveryWithId = (id: string) => deliveries().where('id', '=', id).executeTakeFirst()
  return {
    async queue(delivery) {
      await db.insertInto('alert_deliveries').values(toDeliveryRow(delivery)).execute()
      return delivery
    },
    async deliveries(alertId, limit) {
      const all = deliveries().orderBy('id', 'desc').limit(limit)
      const rows = await (alertId === null ? all : all.where('alert_id', '=', alertId)).execute()
      return rows.map(toDelivery)
    },
    async delivery(id) {
      const row = await deliveryWithId(id)
      return row === undefined ? null : toDelivery(row)
    },
    async due(time) {
      const active = await db.selectFrom('alerts').select('id').where('active', '=', 1).execute()
      const due: AlertDelivery[] = []
      // Per alert: deliveries to a receiver that is down must not crowd out all others.
      for (const { id } of active) {
        const own = deliveries().where('alert_id', '=', id).where('next_at', '<=', time)
        due.push(...(await own.orderBy('next_at').limit(mostDue).execute()).map(toDelivery))
      }
      return due
    },
    async noteTry(id, { state, tries, nextAt, endedAt, status, reason }) {
      await db
        .updateTable('alert_deliveries')
        .set({ state, tries, next_at: nextAt, ended_at: endedAt, status, reason })
        .where('id', '=', id)
        .where('next_at', 'is not', null)
        .execute()
    },
    async retry(id, time) {
      const row = present(await deliveryWithId(id), 'delivery', id)
      const again = { state: 'pending', next_at: time, ended_at: null }
      await db.updateTable('alert_deliveries').set(again).where('id', '=', id).execute()
      return toDelivery({ ...row, ...again })
    },
  }
}

function toRow(alert: Alert): AlertRow {
  return {
    id: alert.id,
    name: alert.name,
    shown_url: alert.shownUrl,
    format: alert.format,
    events_json: writeJson(alert.events),
    active: Number(alert.active),
    sealed: alert.sealed,
    created_at: alert.createdAt,
  }
}

function toAlert(row: AlertRow): Alert {
  return {
    id: row.id,
    name: row.name,
    shownUrl: row.shown_url,
    format: row.format as Alert['format'],
    events: readJson<Alert['events']>(row.events_json),
    active: row.active === 1,
    sealed: row.sealed,
    createdAt: row.created_at,
  }
}

function toDeliveryRow(delivery: AlertDelivery): AlertDeliveryRow {
  return {
    id: delivery.id,
    alert_id: delivery.alertId,
    type: delivery.message.type,
    message_json: writeJson(delivery.message),
    state: delivery.state,
    tries: delivery.tries,
    created_at: delivery.createdAt,
    next_at: delivery.nextAt,
    ended_at: delivery.endedAt,
    status: delivery.status,
    reason: delivery.reason,
  }
}

function toDelivery(row: AlertDeliveryRow): AlertDelivery {
  return {
    id: row.id,
    alertId: row.alert_id,
    message: readJson<AlertDelivery['message']>(row.message_json),
    state: row.state as AlertDelivery['state'],
    tries: row.tries,
    createdAt: row.created_at,
    nextAt: row.next_at,
    endedAt: row.ended_at,
    status: row.status,
    reason: row.reason,
  }
}
