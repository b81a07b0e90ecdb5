import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { OperationForm, toast } from '../../parts/index.ts'
import type { Provider } from '../outputs.ts'
import { durationText } from '../units.ts'
import { egressFields } from './add-form.tsx'

export interface EditProviderProps {
  provider: Provider
  onDone(name: string): void
  onCancel(): void
}

/** What the calls depend on becomes a new revision; only what was changed is sent. */
export function EditProvider({ provider, onDone, onCancel }: EditProviderProps) {
  const kinds = useQuery(orpc.providers.kinds.queryOptions({ input: {} }))
  const projects = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const [initial] = useState(() => initialOf(provider))
  const kind = kinds.data?.find((one) => one.kind === provider.kind)
  if (kind === undefined) return null
  const own = Object.fromEntries(
    kind.own_settings.map(({ setting, field }) => [field, provider.settings[setting] ?? null]),
  )
  const network = provider.kind !== 'demo'
  return (
    <OperationForm
      operation="providers.edit"
      fixed={{ name: provider.name }}
      initial={{ ...initial, ...own }}
      fields={[
        ...(network ? ['baseUrl'] : []),
        ...kind.own_settings.map(({ field }) => field).filter((field) => !egressFields.includes(field)),
        'projects',
        'allProjects',
        'tags',
      ]}
      folded={[
        'rename',
        'rpm',
        'tpm',
        'budgetUsdMonth',
        ...(Object.keys(provider.owned).length > 0 ? ['force'] : []),
        ...(network
          ? [
              'headers',
              'timeoutConnect',
              'timeoutFirstByte',
              'timeoutBetweenChunks',
              'timeoutTotal',
              ...egressFields,
              'skipCheck',
            ]
          : []),
      ]}
      suggestions={{ projects: projects.data?.map(({ name }) => name) ?? [] }}
      submit="Save"
      onDone={(answer) => {
        const { name, revision } = answer as Provider
        const isNew = revision !== provider.revision
        toast({ tone: 'good', title: isNew ? `Revision ${revision} is active` : 'Saved' })
        onDone(name)
      }}
      onCancel={onCancel}
    />
  )
}

function initialOf({
  name,
  base_url,
  headers,
  projects,
  tags,
  timeouts,
  ...limits
}: Provider): Record<string, unknown> {
  return {
    rename: name,
    baseUrl: base_url,
    headers,
    projects: projects ?? [],
    allProjects: projects === null,
    tags,
    timeoutConnect: durationText(timeouts.connect_ms),
    timeoutFirstByte: durationText(timeouts.first_byte_ms),
    timeoutBetweenChunks: durationText(timeouts.between_chunks_ms),
    timeoutTotal: durationText(timeouts.total_ms),
    rpm: limits.rpm,
    tpm: limits.tpm,
    budgetUsdMonth: limits.budget_usd_month,
  }
}
