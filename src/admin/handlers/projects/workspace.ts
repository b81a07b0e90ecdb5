import { findTimeZone } from '../../../core/policies/time-zone.ts'
import type { Workspace } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import type { AdminContext } from '../context.ts'

const show = ({ id, name, timeZone, createdAt }: Workspace) => ({
  id,
  name,
  time_zone: timeZone,
  created_at: createdAt,
})

async function change(
  context: AdminContext,
  operation: string,
  { name, timeZone }: { name?: string | undefined; timeZone?: string | undefined },
) {
  const stored = await context.store.workspace.get()
  const next = { name: name ?? stored.name, timeZone: findTimeZone(timeZone ?? stored.timeZone) ?? stored.timeZone }
  const resource = { kind: 'workspace', id: stored.id, name: stored.name }
  const line = { operation, resource, before: show(stored), after: show({ ...stored, ...next }) }
  const changed = await audited(context, line).workspace.update(next)
  await context.runtime.publish()
  return show(changed)
}

export const workspace = {
  show: operations.workspace.show.handler(async ({ context }) => show(await context.store.workspace.get())),
  edit: operations.workspace.edit.handler(async ({ context, input }) =>
    change(context, 'workspace.edit', { name: input.rename, timeZone: input.timeZone }),
  ),
  rename: operations.workspace.rename.handler(async ({ context, input }) =>
    change(context, 'workspace.rename', { name: input.name }),
  ),
}
