import { Code } from '../../parts/index.ts'
import type { Applied } from '../outputs.ts'
import { count } from '../units.ts'

/** What was done; keys that were made new are shown here, and nowhere else. */
export function AppliedView({ applied }: { applied: Applied }) {
  return (
    <div className="notice notice-good below" role="status">
      <div className="grow stack-tight">
        <p className="notice-title">{count(applied.changes.length, 'change')} applied</p>
        {applied.keys.map((key) => (
          <div key={key.id}>
            <p>
              Key {key.name} in {key.project}/{key.environment}, shown only once:
            </p>
            <Code text={key.key} />
          </div>
        ))}
      </div>
    </div>
  )
}
