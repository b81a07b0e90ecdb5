import { StateBadge } from '../../parts/index.ts'
import type { Provider } from '../outputs.ts'

type Found = Pick<Provider, 'active' | 'state' | 'state_reason'>

/** The operator's switch first: what takes no traffic is inactive, whatever was found of it. */
export function ProviderState({ provider, reason = false }: { provider: Found; reason?: boolean }) {
  if (!provider.active) return <StateBadge state="inactive" />
  return <StateBadge state={provider.state} reason={reason ? provider.state_reason : null} />
}
