import type { SealedCredential } from '../../../store/api.ts'
import { operations } from '../base.ts'
import { confirmReach } from '../confirm-reach.ts'
import { invalid, notFound, refused } from '../fault.ts'
import { findProvider } from '../find.ts'
import { checkNeed } from './add-provider.ts'
import { addRevision, findCredential } from './edit-provider.ts'
import { checkFirst, checkForm, readCredential, sealCredential } from './provider-check.ts'
import { findProviderKind } from './provider-input.ts'
import { loadUsage, showCredential, showProvider } from './show-provider.ts'

/** As many as the shared memory has rows for. */
const poolLimit = 64

export const credentials = {
  add: operations.providers.credentials.add.handler(async ({ context, input }) => {
    const provider = await findProvider(context, input.name)
    const kind = findProviderKind(context, provider.kind)
    const credential = readCredential(input.credential)
    checkForm(kind, credential)
    if (credential === null) throw invalid('The credential is missing.', 'Give it with --credential-stdin.')
    checkNeed(kind, provider.revision.settings, true)
    if (provider.revision.credentials.length >= poolLimit)
      throw refused(`The pool of ${provider.name} is full (${poolLimit}).`, 'Remove one first.')
    const checked = await checkFirst(context, kind, provider, credential, input.skipCheck)
    const pool = [...provider.revision.credentials, sealCredential(context, provider.id, credential)]
    const usage = await loadUsage(context)
    const revision = { ...provider.revision, credentials: pool }
    await addRevision(context, provider, revision, input.skipCheck ? null : checked, usage, 'providers.credentials.add')
    await context.runtime.publish()
    return showProvider(await findProvider(context, provider.id), usage)
  }),
  list: operations.providers.credentials.list.handler(async ({ context, input }) =>
    (await findProvider(context, input.name)).revision.credentials.map(showCredential),
  ),
  remove: operations.providers.credentials.remove.handler(async ({ context, input }) => {
    const provider = await findProvider(context, input.name)
    const pool = without(provider.revision.credentials, input.credential)
    if (pool === null)
      throw notFound(
        `credential of ${provider.name}`,
        input.credential,
        `List them: spgw providers credentials list ${provider.name}`,
      )
    const kind = findProviderKind(context, provider.kind)
    checkNeed(kind, provider.revision.settings, pool.length > 0)
    const usage = await loadUsage(context)
    const revision = { ...provider.revision, credentials: pool }
    await addRevision(context, provider, revision, null, usage, 'providers.credentials.remove')
    await context.runtime.publish()
    const changed = showProvider(await findProvider(context, provider.id), usage)
    return { ...changed, nodes: await confirmReach(context) }
  }),
}

function without(pool: SealedCredential[], which: string): SealedCredential[] | null {
  const place = findCredential(pool, which)
  return place === -1 ? null : pool.filter((_, index) => index !== place)
}
