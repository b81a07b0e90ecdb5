import { Empty } from '../../parts/index.ts'
import { NounOperations } from './prices.tsx'

/** The place of the alerts: whatever the contract has of them is offered here by itself. */
export function Alerts() {
  return (
    <NounOperations noun="alerts">
      <Empty title="Alerts are not available yet" command={`curl -s ${location.origin}/metrics`}>
        Watch <code>/metrics</code> with Prometheus (<code>spgw_degraded</code> and the provider states), or run{' '}
        <code>spgw doctor</code> on a timer: its exit status reports problems.
      </Empty>
    </NounOperations>
  )
}
