import { Ban, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Count, OperationButton } from '../../parts/index.ts'
import type { Key } from '../outputs.ts'
import { useLastDay } from './key-activity.tsx'
import { referenceTo } from './key-display.tsx'

/** Revoke ends it and keeps it in the list; remove takes it out. */
interface KeyRemovalProps {
  shown: Key
  revoking: boolean
  onRevoke(asking: boolean): void
  onRemoved(): void
}

export function KeyRemoval({ shown: key, revoking, onRevoke, onRemoved }: KeyRemovalProps) {
  const [closeStreams, setCloseStreams] = useState(false)
  const day = useLastDay(key)
  const used =
    day === null ? null : (
      <p>
        Used for <Count value={day.requests} /> {day.requests === 1 ? 'request' : 'requests'} in the last 24 hours.
      </p>
    )
  return (
    <>
      {key.state === 'revoked' ? null : (
        <OperationButton
          operation="keys.revoke"
          input={{ ...referenceTo(key), closeStreams }}
          name={key.name}
          icon={<Ban size={16} aria-hidden="true" />}
          done={`Key "${key.name}" revoked`}
          asking={revoking}
          onAsk={onRevoke}
          consequence={
            <div className="stack-tight">
              {used}
              <label className="check">
                <input
                  type="checkbox"
                  checked={closeStreams}
                  onChange={(event) => setCloseStreams(event.target.checked)}
                />
                Also stop requests in progress
              </label>
            </div>
          }
        >
          Revoke
        </OperationButton>
      )}
      <OperationButton
        operation="keys.remove"
        owned={key.owned}
        input={referenceTo(key)}
        name={key.name}
        icon={<Trash2 size={16} aria-hidden="true" />}
        done={`Key "${key.name}" removed`}
        onDone={onRemoved}
        consequence={used}
      >
        Remove
      </OperationButton>
    </>
  )
}
