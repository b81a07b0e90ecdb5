import { useCallback, useState } from 'react'
import { describeMissing } from '../../../admin/contract/show-reach.ts'
import { callOperation } from '../client/admin.ts'
import { type Fault, faultOf } from '../client/fault.ts'
import { refreshConfiguration } from '../client/queries.ts'
import { operationNamed } from '../contract/operations.ts'
import { titleOf } from './operation-button.tsx'
import { toast } from './toast-store.ts'

export interface OperationCall {
  busy: boolean
  fault: Fault | null
  /** Gives the answer; null when it failed, and then `fault` says why. */
  call(input: object): Promise<unknown>
  forget(): void
}

/** Calls an operation by name. After a write, everything shown is refreshed. */
export function useOperation(name: string): OperationCall {
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const call = useCallback(
    async (input: object) => {
      setBusy(true)
      setFault(null)
      const { path, meta } = operationNamed(name)
      try {
        const answer = await callOperation(path, input)
        if (meta.effect !== 'read') void refreshConfiguration()
        const missing = describeMissing(name, answer)
        if (missing !== null) toast({ tone: 'bad', title: titleOf(meta.summary), text: missing })
        return answer ?? {}
      } catch (error) {
        setFault(faultOf(error))
        return null
      } finally {
        setBusy(false)
      }
    },
    [name],
  )
  return { busy, fault, call, forget: () => setFault(null) }
}
