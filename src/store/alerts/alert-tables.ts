import type { AlertEvent, AlertFormat, AlertMessage, DeliveryState } from '../../core/alert.ts'

/** Alerts, what each has reported already, and the log of its deliveries. */
export interface AlertTables {
  alerts: {
    list(): Alert[]
    /** By id or name. */
    find(nameOrId: string): Alert | null
    insert(alert: Alert): Alert
    update(id: string, change: Partial<Omit<Alert, 'id' | 'createdAt'>>): Alert
    remove(id: string): void
    /** What each alert has reported and would not report again. */
    crossings(): Crossing[]
    /** In one transaction, so that what was reported has its delivery and nothing is reported twice. */
    raise(alertId: string, raised: Raised): void
    /** Queues a delivery, whatever was reported before. */
    queue(delivery: AlertDelivery): AlertDelivery
    /** Newest first; null: of all alerts. */
    deliveries(alertId: string | null, limit: number): AlertDelivery[]
    delivery(id: string): AlertDelivery | null
    due(time: string): AlertDelivery[]
    /** Not audited: notes the outcome of an attempt. A delivery that is no longer waiting stays as it is. */
    noteTry(
      id: string,
      tried: Pick<AlertDelivery, 'state' | 'tries' | 'nextAt' | 'endedAt' | 'status' | 'reason'>,
    ): void
    /** Makes it due at once; its attempts so far still count. */
    retry(id: string, time: string): AlertDelivery
    /** Not audited: removes the log before that time, and what was reported before it unless it is among `kept`. */
    forget(time: string, kept: readonly string[]): void
  }
}

export interface Alert {
  /** `alr_…` */
  id: string
  name: string
  /** The part of the URL that may be shown: the path of a Slack-style hook is its secret. */
  shownUrl: string
  format: AlertFormat
  events: AlertEvent[]
  active: boolean
  /** URL and signing secret as JSON; identity `alert:<id>`. */
  sealed: string
  createdAt: string
}

export interface Crossing {
  alertId: string
  crossing: string
}

export interface Raised {
  time: string
  /** Added and removed. */
  crossed: readonly string[]
  ended: readonly string[]
  deliveries: readonly AlertDelivery[]
}

export interface AlertDelivery {
  /** `msg_…`: the same with every try. */
  id: string
  alertId: string
  message: AlertMessage
  state: DeliveryState
  tries: number
  createdAt: string
  /** null: it is not tried again. */
  nextAt: string | null
  endedAt: string | null
  /** Of the last try. */
  status: number | null
  reason: string | null
}
