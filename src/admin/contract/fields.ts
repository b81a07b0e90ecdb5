import { z } from 'zod'
import { laneNames } from '../../core/lane.ts'
import { parseMoment } from '../../core/moment.ts'
import { providerStates } from '../../core/provider-state.ts'
import { parseDuration, parseSize } from '../../core/units.ts'
import { field } from './operation.ts'

/** Fields that several nouns share. Input: camelCase, as the command line writes it. Output: snake_case, null for a missing value. */

export const slugForm = /^[a-z0-9][a-z0-9._-]{0,62}$/
export const slug = z
  .string()
  .regex(
    slugForm,
    'must be at most 63 lower-case letters, digits, dots, underscores and hyphens, and start with a letter or digit',
  )
export const reference = z.string().min(1)
export const laneName = z.enum(laneNames)
export const time = z.string()
export const tags = z.record(z.string(), z.string())
/** What the gateway found about a provider or a target, by live calls and by checks. */
export const stateFields = {
  state: z.enum(providerStates),
  state_reason: z.string().nullable(),
  state_since: time.nullable(),
}
/** A request that is retried or falls back makes several attempts. Those that fell back failed, too. */
export const attemptFields = { tried: z.number(), failed: z.number(), fell_back: z.number() }

export const durationText = z
  .string()
  .refine((text) => parseDuration(text) !== null, 'must be a duration such as 250ms, 5s, 30m, 24h or 90d')
export const sizeText = z
  .string()
  .refine((text) => parseSize(text) !== null, 'must be a number with its unit, such as 500B, 64KB, 100MB or 2GiB')
/** A duration (from now: back for `since`, ahead for `expires`), a day or an RFC 3339 time. */
export const momentText = z
  .string()
  .refine(
    (text) => parseDuration(text) !== null || parseMoment(text) !== null,
    'must be a duration such as 15m or 30d, a day such as 2026-01-31 (UTC), or a time such as 2026-01-31T12:00:00Z',
  )

export const projectField = {
  project: field(reference.default('default'), { description: 'Project (name or ID)' }),
}
export const scopeFields = {
  ...projectField,
  environment: field(reference.default('production'), { description: 'Environment (name or ID)' }),
}
/** What a list covers (contract.md rule 28): without any of these, all that the operator may see. */
const listProjectField = {
  project: field(reference.optional(), { description: 'Only this project (name or ID)' }),
}
const allField = {
  all: field(z.boolean().default(false), {
    description: 'Include every project and environment, whatever else is set',
    label: 'All projects',
  }),
}
export const listProjectFields = { ...listProjectField, ...allField }
export const listScopeFields = {
  ...listProjectField,
  environment: field(reference.optional(), { description: 'Only this environment (name or ID)' }),
  ...allField,
}

export const nameField = (noun: string) => ({
  name: field(reference, { description: `Name or ID of the ${noun}`, prompt: `Which ${noun}?`, acceptsId: true }),
})
export const newNameField = (noun: string) => ({
  name: field(slug, { description: `Name of the ${noun}`, prompt: 'Name' }),
})
export const renameField = (noun: string) => ({
  rename: field(slug.optional(), { description: `New name of the ${noun}`, label: 'New name' }),
})
export const tagField = {
  tags: field(tags.optional(), {
    description: 'Tag to set; an empty value removes it',
    label: 'Tags',
    help: 'Names and values of your own',
    flag: 'tag',
    syntax: 'pairs',
  }),
}

const limit = (label: string, description: string) =>
  field(durationText.optional(), { description, label, syntax: 'duration' })
export const timeoutFields = {
  timeoutConnect: limit('Connect timeout', 'Time allowed to connect'),
  timeoutFirstByte: limit('First byte timeout', 'Time allowed until the first byte of a streamed response'),
  timeoutBetweenChunks: limit('Idle timeout', 'Longest pause allowed within a response'),
  timeoutTotal: limit('Total timeout', 'Time allowed for the whole call'),
}
/** Milliseconds; null: the default of the level above holds. */
export const timeouts = z.object({
  connect_ms: z.number().nullable(),
  first_byte_ms: z.number().nullable(),
  between_chunks_ms: z.number().nullable(),
  total_ms: z.number().nullable(),
})

export const forceField = {
  force: field(z.boolean().default(false), { description: 'Change it even if a configuration file manages it' }),
}
/** By field, as a path into what is shown: the configuration file that owns it. */
export const owned = z.record(z.string(), z.string())

/** On a node of a cluster: which nodes know what was taken away or changed, and which were not heard of; null: there is one gateway, or nothing was. */
export const nodesReached = z
  .object({
    reached: z.array(z.string()),
    missing: z.array(z.object({ name: z.string(), last_heard_at: time.nullable() })),
  })
  .nullable()

/** What `remove` answers. */
export const removed = z.object({ id: z.string(), name: z.string(), removed: z.literal(true) })
/** The same of what other nodes of a cluster have to know. */
export const removedAccess = removed.extend({ nodes: nodesReached })

export const countedUser = field(z.string().min(1).optional(), {
  description: 'End user whose own limits are counted (default: the one in --body)',
})
