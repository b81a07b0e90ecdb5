import { faultOf } from '../client/fault.ts'
import { FaultNotice } from './fault-notice.tsx'

interface FailedQuery {
  data: unknown
  error: unknown
  refetch(): unknown
}

/** Why a read failed, if it did. While the gateway is away the banner says so, and what was read before stays. */
export function QueryFault({ of: { data, error, refetch } }: { of: FailedQuery }) {
  if (error === null || (data !== undefined && faultOf(error).code === 'unreachable')) return null
  return <FaultNotice error={error} onRetry={() => void refetch()} />
}
