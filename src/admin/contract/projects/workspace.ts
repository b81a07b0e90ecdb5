import { z } from 'zod'
import { explainTimeZone, findTimeZone } from '../../../core/policies/time-zone.ts'
import { newNameField, renameField, time } from '../fields.ts'
import { field, operation } from '../operation.ts'

export const workspaceShape = z.object({ id: z.string(), name: z.string(), time_zone: z.string(), created_at: time })

const timeZone = z
  .string()
  .refine((name) => findTimeZone(name) !== null, { error: ({ input }) => explainTimeZone(String(input)) })

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
  edit: operation({
    summary: 'Change the workspace: its time zone, its name',
    role: 'owner',
    reach: 'workspace',
    effect: 'write',
    show: { as: 'record' },
    examples: ['workspace edit --time-zone Europe/Berlin'],
  })
    .input(
      z.strictObject({
        timeZone: field(timeZone.optional(), {
          description: 'Time zone of the days, months and hours that policies and sums go by (default: UTC)',
          label: 'Time zone',
          help: 'Days, months and hours that policies and sums go by are those of this time zone, such as Europe/Berlin',
        }),
        ...renameField('workspace'),
      }),
    )
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
