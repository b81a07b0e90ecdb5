import { z } from 'zod'
import { newNameField, time } from '../fields.ts'
import { operation } from '../operation.ts'

export const workspaceShape = z.object({ id: z.string(), name: z.string(), created_at: time })

export const workspace = {
  show: operation({
    summary: 'Show the workspace',
    role: 'viewer',
    reach: 'workspace',
    effect: 'read',
    show: { as: 'record' },
    examples: ['workspace show'],
  })
    .input(z.strictObject({}))
    .output(workspaceShape),
  rename: operation({
    summary: 'Rename the workspace',
    role: 'owner',
    reach: 'workspace',
    effect: 'write',
    show: { as: 'record' },
    positional: ['name'],
    examples: ['workspace rename acme'],
  })
    .input(z.strictObject({ ...newNameField('workspace') }))
    .output(workspaceShape),
}
