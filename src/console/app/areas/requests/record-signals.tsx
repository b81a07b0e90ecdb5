import { Link } from '@tanstack/react-router'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import type { Signal } from '../../../../core/record.ts'
import { consoleWords } from '../../client/console-words.ts'
import { StateBadge } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import { figuresOf } from './signal-figures.ts'

const words: Record<Signal['verdict'], { word: string; tone: 'good' | 'warning' | 'bad' | 'quiet' | 'strong' }> = {
  pass: { word: 'passed', tone: 'good' },
  deny: { word: 'denied', tone: 'bad' },
  flag: { word: 'flagged', tone: 'warning' },
  taken: { word: 'used', tone: 'good' },
  skipped: { word: 'skipped', tone: 'quiet' },
  note: { word: 'note', tone: 'strong' },
}

/** Not every target of the plan is asked: the first may have answered, or the cache. */
const plannedTarget = { word: 'planned', tone: 'good' } as const

const describe = ({ rule, verdict }: Signal) =>
  rule === 'target' && verdict === 'taken' ? plannedTarget : words[verdict]

/** Each rule that was looked at, its verdict, its sentence and its figures. */
export function RecordSignals({ title, signals, none }: { title: string; signals: readonly Signal[]; none: string }) {
  const rows = signals.map((signal, index) => ({ signal, key: `${index}` }))
  return (
    <section className="card">
      <h2 className="card-head">{title}</h2>
      {rows.length === 0 ? <p className="quiet">{none}</p> : null}
      <ul className="signals">
        {rows.map(({ signal, key }) => (
          <li key={key} className="signal">
            <Verdict signal={signal} />
            <div className="breakable">
              <p>
                <bdi>{escapeControls(consoleWords(signal.text))}</bdi>
              </p>
              <p className="small quiet">
                <code>{escapeControls(signal.rule)}</code> {figuresOf(signal)}
                <PolicyLink signal={signal} />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** To the policy that decided, where all that it says is shown. */
function PolicyLink({ signal: { data = {} } }: { signal: Signal }) {
  const may = useMay('policies.list')
  const { policy } = data
  if (!may || typeof policy !== 'string') return null
  const search = (before: object) => ({ ...keepScope(before), find: policy })
  return (
    <>
      {' · '}
      <Link to="/settings/$section" params={{ section: 'policies' }} search={search}>
        Open policy
      </Link>
    </>
  )
}

function Verdict({ signal }: { signal: Signal }) {
  const { word, tone } = describe(signal)
  return <StateBadge state={word} tone={tone} />
}
