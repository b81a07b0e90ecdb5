import { Empty } from '../../parts/index.ts'
import { NounOperations } from './prices.tsx'

/** The place of the alerts: whatever the contract has of them is offered here by itself. */
export function Alerts() {
  return (
    <NounOperations noun="alerts">
      <Empty title="No alerts here yet" command={`curl -s ${location.origin}/metrics`}>
        Until they can be set, watch <code>/metrics</code> with Prometheus (<code>spgw_degraded</code>, the states of
        the providers), or let a timer run <code>spgw doctor</code>: its exit status says whether something is wrong.
      </Empty>
    </NounOperations>
  )
}
