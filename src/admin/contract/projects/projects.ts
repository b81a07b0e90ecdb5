import { z } from 'zod'
import { forceField, nameField, newNameField, owned, removedAccess, renameField, time } from '../fields.ts'
import { operation } from '../operation.ts'

export const projectShape = z.object({
  id: z.string(),
  name: z.string(),
  environments: z.array(z.string()),
  owned,
  created_at: time,
})

const columns = [
  { field: 'name', title: 'NAME' },
  { field: 'environments', title: 'ENVIRONMENTS', format: 'list' },
  { field: 'created_at', title: 'CREATED', format: 'age' },
] as const
const record = { as: 'record' } as const

export const projects = {
  add: operation({
    summary: 'Add a project',
    role: 'admin',
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    aliases: ['create'],
    examples: ['projects add search', 'environments add staging --project search'],
  })
    .input(z.strictObject({ ...newNameField('project') }))
    .output(projectShape),
  list: operation({
    summary: 'List projects',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: { as: 'table', columns, empty: 'No projects yet. Add one: spgw projects add NAME' },
    examples: ['projects list', 'projects list --json'],
  })
    .input(z.strictObject({}))
    .output(z.array(projectShape)),
  show: operation({
    summary: 'Show a project',
    role: 'viewer',
    reach: 'project',
    effect: 'read',
    show: record,
    positional: ['name'],
    examples: ['projects show default'],
  })
    .input(z.strictObject({ ...nameField('project') }))
    .output(projectShape),
  edit: operation({
    summary: 'Rename a project',
    role: 'admin',
    // Records are of a project by its name: whoever chooses a name chooses whose records he reads.
    reach: 'workspace',
    effect: 'write',
    show: record,
    positional: ['name'],
    examples: ['projects edit search --rename discovery'],
  })
    .input(z.strictObject({ ...nameField('project'), ...renameField('project'), ...forceField }))
    .output(projectShape),
  remove: operation({
    summary: 'Remove a project and its environments; it must not have routes or keys',
    role: 'owner',
    reach: 'workspace',
    effect: 'danger',
    show: record,
    positional: ['name'],
    examples: ['projects remove search'],
    confirm: 'Remove project {name} and its environments?',
  })
    .input(z.strictObject({ ...nameField('project'), ...forceField }))
    .output(removedAccess),
}
