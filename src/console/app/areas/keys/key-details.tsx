import { Id, Missing, RecordView, Time, UntrustedText } from '../../parts/index.ts'
import type { Key } from '../outputs.ts'
import { Pairs } from '../providers/provider-settings.tsx'
import { Section } from '../section.tsx'
import { KeyMark } from './key-display.tsx'

export function KeyDetails({ shown: key }: { shown: Key }) {
  return (
    <Section title="Key">
      <RecordView
        entries={[
          { label: 'Key', value: <KeyMark lastFour={key.last_four} /> },
          { label: 'Scope', value: `${key.project}/${key.environment}` },
          { label: 'Last used', value: <Time at={key.last_used_at} /> },
          { label: 'Expires', value: key.expires_at === null ? 'Never' : <Time at={key.expires_at} /> },
          ...(key.grace_ends_at === null
            ? []
            : [
                {
                  label: 'Old secret',
                  value: (
                    <>
                      Expires <Time at={key.grace_ends_at} />
                    </>
                  ),
                },
              ]),
          ...(key.revoked_at === null ? [] : [{ label: 'Revoked', value: <Time at={key.revoked_at} /> }]),
          {
            label: 'Policy',
            value: key.policy === null ? <Missing meaning="no policy" /> : <UntrustedText text={key.policy} />,
          },
          { label: 'Tags', value: <Pairs pairs={key.tags} /> },
          {
            label: 'Created',
            value: (
              <>
                <Time at={key.created_at} /> by <UntrustedText text={key.created_by} />
              </>
            ),
          },
          { label: 'ID', value: <Id id={key.id} /> },
        ]}
      />
    </Section>
  )
}
