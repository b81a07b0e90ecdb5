import { alertEvents } from '../../../core/alert.ts'
import type { PlannedChange } from '../../../manifest/plan.ts'
import type { Fields } from '../../../manifest/resource.ts'
import type { Alert, ConfigurationStep } from '../../../store/api.ts'
import { mintSigningSecret, openReceiver, sealReceiver, shownUrl } from '../alerts/receiver.ts'
import type { AdminContext } from '../context.ts'
import type { Identifiers } from './identifiers.ts'
import { textsIn } from './rows.ts'
import type { CurrentState } from './state.ts'

/** The signing secret of an alert that the plan makes. */
export interface MintedAlert {
  id: string
  name: string
  secret: string
}

interface AlertParts {
  ids: Identifiers
  state: CurrentState
  /** The signing secrets of new ones, which are shown once. */
  minted: MintedAlert[]
}

/** A new alert gets its signing secret here; one that is changed keeps it. */
export function alertSteps(
  context: Pick<AdminContext, 'keyring'>,
  change: PlannedChange,
  { ids, state, minted }: AlertParts,
  audit: ConfigurationStep['audit'],
): ConfigurationStep[] {
  const { name, action, entry } = change
  const fields = change.after ?? {}
  const id = ids.of(change)
  const url = entry?.credentials?.[0]?.reveal() ?? ''
  if (action === 'create') {
    const format = fields.format === 'slack' ? 'slack' : 'webhook'
    const secret = mintSigningSecret(format)
    if (secret !== null) minted.push({ id, name, secret })
    const alert: Alert = {
      ...{ id, name, format, ...rulesOf(fields), shownUrl: shownUrl(url, format) },
      sealed: sealReceiver(context, id, { url, secret }),
      createdAt: new Date().toISOString(),
    }
    return [{ table: 'alerts', method: 'insert', input: [alert], audit }]
  }
  const before = state.alerts.get(id)
  if (before === undefined) return []
  const { secret } = openReceiver(context, before)
  const moved = change.changed.includes('url')
    ? { shownUrl: shownUrl(url, before.format), sealed: sealReceiver(context, id, { url, secret }) }
    : {}
  return [{ table: 'alerts', method: 'update', input: [id, { ...rulesOf(fields), ...moved }], audit }]
}

function rulesOf(fields: Fields): Pick<Alert, 'events' | 'active'> {
  const named = new Set(textsIn(fields.on))
  return { events: alertEvents.filter((event) => named.has(event)), active: fields.active === true }
}
