import type { Workspace } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'

const show = ({ id, name, createdAt }: Workspace) => ({ id, name, created_at: createdAt })

export const workspace = {
  show: operations.workspace.show.handler(async ({ context }) => show(await context.store.workspace.get())),
  rename: operations.workspace.rename.handler(async ({ context, input }) => {
    const before = show(await context.store.workspace.get())
    const after = { ...before, name: input.name }
    const resource = { kind: 'workspace', id: before.id, name: before.name }
    const tables = audited(context, { operation: 'workspace.rename', resource, before, after })
    return show(await tables.workspace.rename(input.name))
  }),
}
