import { z } from 'zod'
import { alertEvents, alertFormats, deliveryStates } from '../../../core/alert.ts'
import { forceField, nameField, newNameField, owned, reference, removed, renameField, time } from '../fields.ts'
import { field, operation } from '../operation.ts'

export const alertShape = z.object({
  id: z.string(),
  name: z.string(),
  /** Of a Slack-style hook without its path, which is a secret. */
  url: z.string(),
  format: z.enum(alertFormats),
  on: z.array(z.enum(alertEvents)),
  active: z.boolean(),
  owned,
  created_at: time,
})

/** The one place where a signing secret is shown. */
export const createdAlertShape = alertShape.extend({ secret: z.string().nullable() })

export const deliveryShape = z.object({
  id: z.string(),
  alert: z.string(),
  type: z.string(),
  text: z.string(),
  state: z.enum(deliveryStates),
  tries: z.number(),
  status: z.number().nullable(),
  reason: z.string().nullable(),
  created_at: time,
  next_at: time.nullable(),
  ended_at: time.nullable(),
})

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'format', title: 'FORMAT' },
  { field: 'url', title: 'URL' },
  { field: 'on', title: 'ON', format: 'list' },
  { field: 'active', title: 'ACTIVE' },
] as const
const deliveryColumns = [
  { field: 'created_at', title: 'TIME', format: 'age' },
  { field: 'alert', title: 'ALERT' },
  { field: 'state', title: 'STATE', format: 'state' },
  { field: 'text', title: 'MESSAGE' },
  { field: 'type', title: 'TYPE' },
  { field: 'tries', title: 'TRIES', format: 'number' },
  { field: 'reason', title: 'REASON' },
  { field: 'next_at', title: 'NEXT TRY', format: 'age' },
  { field: 'id', title: 'ID', format: 'id' },
] as const
const record = { as: 'record' } as const
const one = z.strictObject(nameField('alert'))
const urlText = z
  .string()
  .max(2000)
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), 'must be an http:// or https:// URL')
const eventList = z.array(z.enum(alertEvents)).min(1)
const onText = 'What to report: budget (at 50, 80 and 100%), provider, errors, disk, expiry'
const onHelp =
  'Budgets at 50, 80 and 100%; failing providers; more than 10% errors; a nearly full disk; keys and certificates that expire soon'

export const alerts = {
  add: operation({
    summary: 'Add an alert: a URL that is notified of budgets, failing providers, errors, disk and expiry',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: {
      as: 'once',
      field: 'secret',
      without: 'Added. Messages to a Slack-style hook are not signed. Try it: spgw alerts test {name}',
      note: 'The signing secret is shown only once; with it the receiver verifies messages. Try it: spgw alerts test {name}',
    },
    positional: ['name'],
    aliases: ['create'],
    examples: [
      'alerts add ops --url https://hooks.example.com/spgw',
      'alerts add chat --url https://hooks.slack.com/services/T0/B0/abc --format slack --on budget,provider',
    ],
  })
    .input(
      z.strictObject({
        ...newNameField('alert'),
        url: field(urlText, { description: 'URL that messages are sent to', label: 'URL', prompt: 'URL' }),
        on: field(eventList.default([...alertEvents]), {
          description: `${onText} (default: all)`,
          label: 'Report',
          help: onHelp,
          syntax: 'list',
        }),
        format: field(z.enum(alertFormats).default('webhook'), {
          description:
            'Form of messages: webhook is signed JSON, slack is {"text": …}, as Slack, Mattermost and others take it',
        }),
      }),
    )
    .output(createdAlertShape),
  list: operation({
    summary: 'List alerts',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No alerts yet. Add one: spgw alerts add NAME --url URL' },
    examples: ['alerts list'],
  })
    .input(z.strictObject({}))
    .output(z.array(alertShape)),
  show: operation({
    summary: 'Show an alert',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['alerts show ops'],
  })
    .input(one)
    .output(alertShape),
  edit: operation({
    summary: 'Change an alert; its format and signing secret stay',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['alerts edit ops --on budget,disk', 'alerts edit ops --no-active'],
  })
    .input(
      z.strictObject({
        ...nameField('alert'),
        ...forceField,
        ...renameField('alert'),
        url: field(urlText.optional(), { description: 'URL that messages are sent to', label: 'URL' }),
        on: field(eventList.optional(), { description: onText, label: 'Report', help: onHelp, syntax: 'list' }),
        active: field(z.boolean().optional(), { description: 'Whether the alert reports and sends anything' }),
      }),
    )
    .output(alertShape),
  remove: operation({
    summary: 'Remove an alert with its deliveries',
    role: 'admin',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['alerts remove ops'],
    confirm: 'Remove alert {name}? Nothing is sent to its URL any more, and its deliveries are no longer listed.',
  })
    .input(one.extend(forceField))
    .output(removed),
  test: operation({
    summary: 'Send a test message and show the result',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['alerts test ops'],
  })
    .input(one)
    .output(deliveryShape),
  deliveries: operation({
    summary: 'List what was sent and what is still to be sent, newest first',
    role: 'admin',
    reach: 'workspace',
    effect: 'read',
    show: {
      as: 'table',
      columns: deliveryColumns,
      empty: 'Nothing has been sent yet. Try an alert: spgw alerts test NAME',
    },
    positional: ['name'],
    examples: ['alerts deliveries', 'alerts deliveries ops --limit 20'],
  })
    .input(
      z.strictObject({
        name: field(reference.optional(), { description: 'Only this alert (name or ID)', acceptsId: true }),
        limit: field(z.number().int().min(1).max(1000).default(100), { description: 'Most deliveries to list' }),
      }),
    )
    .output(z.array(deliveryShape)),
  retry: operation({
    summary: 'Send a delivery again now, under the same ID',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['id'],
    examples: ['alerts retry msg_0000000000000000000000000'],
  })
    .input(z.strictObject({ id: field(reference, { description: 'ID of the delivery', prompt: 'Which delivery?' }) }))
    .output(deliveryShape),
}
