import { reachFaultPoint } from '../../../core/fault-point.ts'
import { checkWitness, makeKeyring } from '../../../sealing/keyring.ts'
import type { MachineKey } from '../../../sealing/machine-key.ts'
import { createNextKey, installNextKey, removeNextKey } from '../../../sealing/next-key.ts'
import { resealValues } from '../../../sealing/reseal.ts'
import { MachineKeyWrong } from '../../../sealing/seal-error.ts'
import { StoreConflict } from '../../../store/store-error.ts'
import { audited } from '../audited.ts'
import type { AdminContext } from '../context.ts'
import { refused } from '../fault.ts'

/**
 * A new machine key under which everything is sealed anew, in one transaction with the witness and the audit line. The
 * new key is on the disk before, and the old one goes only when the commit is on the disk too, so that whatever the
 * moment of a kill or a power cut, the key that opens the database is there (`sealing/next-key.ts` takes it from there).
 */
export async function rotateSeal(context: AdminContext): Promise<void> {
  const { keyring, store, runtime } = context
  if (typeof runtime.cluster?.cluster() === 'string') {
    // As PostgreSQL has them now: one may have left a moment ago.
    const { node, nodes } = await runtime.cluster.status()
    const others = nodes.map(({ name }) => name).filter((name) => name !== node)
    const first =
      others.length === 0 ? 'End' : `On each other node (${others.join(', ')}): spgw cluster leave. Then end`
    throw refused(
      'The machine key of a cluster is that of all its nodes, and cannot be replaced while there is the cluster.',
      `${first} the cluster here with spgw cluster dissolve, rotate, and found it again with spgw cluster init.`,
    )
  }
  const old = keyring.describe()
  if (old.replaces !== null)
    throw refused(
      `The previous rotation is not finished: ${old.source} has yet to replace ${old.replaces}.`,
      'Put the new key there and restart the gateway; then rotate.',
    )
  const next = createNextKey(runtime.dataDirectory)
  reachFaultPoint('seal-rotate.key-written')
  const rotation = keyring.rotateTo(next)
  try {
    await resealStore(context, next)
  } catch (error) {
    if (await isUntouched(context, next)) {
      rotation.abort()
      removeNextKey(runtime.dataDirectory)
    }
    throw error
  }
  reachFaultPoint('seal-rotate.after-commit')
  // From here on the old key seals nothing, whatever happens to the files.
  rotation.commit({ ...next, replaces: old.source })
  await store.seal.makeDurable()
  reachFaultPoint('seal-rotate.durable')
  rotation.commit(installNextKey(next, runtime.dataDirectory, old.source))
  reachFaultPoint('seal-rotate.before-publish')
  await runtime.publish()
}

const tries = 5

/** What somebody seals between the reading and the writing is seen by the store, and read again. */
async function resealStore(context: AdminContext, next: MachineKey): Promise<void> {
  const { keyring, store } = context
  const target = makeKeyring(next)
  const { keyId } = keyring.describe()
  for (let attempt = 1; ; attempt++) {
    const values = await store.seal.everything()
    const { changes, broken } = resealValues(values, keyring, target)
    const change = audited(context, {
      operation: 'seal.rotate',
      resource: { kind: 'machine key', id: next.keyId, name: next.keyId },
      before: { key_id: keyId },
      after: { key_id: next.keyId, resealed: changes.length, broken },
    })
    try {
      return await change.seal.replace(values, changes)
    } catch (error) {
      if (!(error instanceof StoreConflict) || attempt === tries) throw error
    }
  }
}

/** False also when the store does not say: then the new key stays, and the next start decides. */
async function isUntouched({ store }: AdminContext, next: MachineKey): Promise<boolean> {
  try {
    const witness = await store.seal.witness()
    if (witness === null) return false
    checkWitness(makeKeyring(next), witness)
    return false
  } catch (error) {
    return error instanceof MachineKeyWrong
  }
}
