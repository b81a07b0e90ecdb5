/** What an alert can be for; each has one or more types of messages. */
export const alertEvents = ['budget', 'provider', 'errors', 'disk', 'expiry'] as const
export type AlertEvent = (typeof alertEvents)[number]

export const alertFormats = ['webhook', 'slack'] as const
export type AlertFormat = (typeof alertFormats)[number]

export const deliveryStates = ['pending', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

export type AlertType =
  | 'budget.threshold'
  | 'budget.spent'
  | 'provider.failing'
  | 'provider.recovered'
  | 'errors.high'
  | 'disk.low'
  | 'expiry.soon'
  | 'test'

/** The body of a webhook. */
export interface AlertMessage {
  type: AlertType
  /** RFC 3339. */
  timestamp: string
  data: {
    /** `policy:spend`, `provider:openai`, `key:default/production/web`, `certificate:gateway`, `disk`, `requests`. */
    resource: string
    /** Of a budget: where it counts. */
    scope: string | null
    percent: number | null
    /** One sentence for people. */
    text: string
    /** Among them `url`, the console's page about it, where `console.url` is set. */
    [detail: string]: string | number | null
  }
}
