import type { Fault } from '../../core/errors.ts'
import type { Reference } from '../../lanes/contract.ts'
import type { Exchange } from '../exchange.ts'

const none: readonly Reference[] = []
const noBody = Buffer.alloc(0)

/** What the call names: in its path, and in its query and body as the lane reads them. */
export function namedObjects(exchange: Exchange): readonly Reference[] | Fault {
  const match = exchange.match!
  const { endpoint } = match
  const { upload } = exchange
  const inside =
    upload === null
      ? endpoint.references(exchange.inspection!.query, exchange.inspection!.mayRefer ? exchange.body : noBody)
      : endpoint.formReferences(upload.fields)
  if ('code' in inside) return inside
  const { object } = endpoint
  if (match.object !== null && object !== null) return [{ type: object.type, id: match.object }, ...inside]
  return inside.length === 0 ? none : inside
}
