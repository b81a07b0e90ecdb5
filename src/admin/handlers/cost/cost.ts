import { operations } from '../base.ts'
import { cancelledBy } from '../cancellation.ts'

export const cost = {
  recompute: operations.cost.recompute.handler(async function* ({ context, input, signal }) {
    const { recomputeCost } = await import('./recompute.ts')
    const { closing } = context
    yield* recomputeCost(context, input, signal === undefined ? closing : AbortSignal.any([signal, closing]))
  }),
  reconcile: operations.cost.reconcile.handler(async ({ context, input, signal }) => {
    const { reconcileCost } = await import('./reconcile.ts')
    return await reconcileCost(cancelledBy(context, signal), input)
  }),
}
