import type { ManifestResource } from '../../../manifest/resource.ts'
import { writeDocument } from '../../../manifest/write.ts'
import type { ProviderKind } from '../../../providers/contract.ts'
import { operations } from '../base.ts'
import { applyFiles } from './apply.ts'
import { planFiles, showPlan } from './plan.ts'
import { describeState } from './state.ts'

export const diff = operations.diff.handler(async ({ context, input }) => showPlan(await planFiles(context, input)))

export const apply = operations.apply.handler(({ context, input }) => applyFiles(context, input))

const heading =
  ' The configuration of a gateway, written by `spgw export`. Preview its changes: spgw diff -f FILE.\n' +
  ' Fields that are left out have their default values.'

export const exportConfiguration = operations.export.handler(async ({ context, input }) => {
  const { resources } = await describeState(await context.store.configuration.read(), context.keyring)
  const wanted = resources
    .filter(({ kind }) => kind !== 'key' || !input.withoutKeys)
    .map((resource) => withoutOwnAddress(resource, context.kinds))
  const { text, tree } = await writeDocument(wanted, input.owner ?? null, heading)
  return { text, document: tree }
})

/** A kind that answers by itself has an address that nobody may give it. */
function withoutOwnAddress(resource: ManifestResource, kinds: readonly ProviderKind[]): ManifestResource {
  const kind = kinds.find((one) => one.kind === resource.fields.kind)
  if (resource.kind !== 'provider' || kind === undefined || kind.transport === null) return resource
  return { ...resource, fields: { ...resource.fields, base_url: null } }
}
