import { DownloadIcon, FileUp } from 'lucide-react'
import { type ChangeEvent, type FormEvent, useId, useState } from 'react'
import { Button, Code, ConfirmDialog, FormFault, toast, useOperation } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import type { Applied, Exported, Plan } from '../outputs.ts'
import { Section } from '../section.tsx'
import { count } from '../units.ts'
import { variablesIn } from './configuration-file.ts'
import { datedName, save } from './download.ts'
import { PlanView } from './plan-view.tsx'

const sample = ['providers:', '  - name: openai', '    kind: openai', '    credential: $' + '{OPENAI_API_KEY}'].join(
  '\n',
)

/** The same as `spgw diff`, `apply` and `export`: the plan is always seen before anything is done. */
export function Configuration() {
  return (
    <>
      <ApplyFile />
      <ExportFile />
    </>
  )
}

function ApplyFile() {
  const id = useId()
  const [text, setText] = useState('')
  const [values, setValues] = useState<Record<string, string>>({})
  const [prune, setPrune] = useState(false)
  const [force, setForce] = useState(false)
  const [plan, setPlan] = useState<Plan | null>(null)
  const [applied, setApplied] = useState<Applied | null>(null)
  const [asking, setAsking] = useState(false)
  const diff = useOperation('diff')
  const apply = useOperation('apply')
  const mayApply = useMay('apply')
  const names = variablesIn(text)
  const variables = Object.fromEntries(names.map((name) => [name, values[name] ?? '']))
  const input = { files: { 'pasted.yaml': text }, variables, prune, force }
  const changed = () => {
    setPlan(null)
    setApplied(null)
  }
  const show = async (event: FormEvent) => {
    event.preventDefault()
    setApplied(null)
    setPlan((await diff.call(input)) as Plan | null)
  }
  const upload = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0]
    if (file === undefined) return
    setText(await file.text())
    changed()
  }
  const run = async () => {
    const done = (await apply.call({ ...input, expect: plan?.expect })) as Applied | null
    if (done === null) return
    toast({ tone: 'good', title: `${count(done.changes.length, 'change')} made` })
    setApplied(done)
    setPlan(null)
  }
  return (
    <Section title="Apply a file">
      <form className="stack" onSubmit={(event) => void show(event)}>
        <div className="field">
          <div className="row spread">
            <label htmlFor={`${id}-text`}>File</label>
            <label className="button button-plain button-small upload">
              <FileUp size={14} aria-hidden="true" />
              Choose a file
              <input type="file" accept=".yaml,.yml,.json" onChange={(event) => void upload(event)} />
            </label>
          </div>
          <textarea
            id={`${id}-text`}
            className="input mono"
            rows={12}
            spellCheck={false}
            placeholder={sample}
            value={text}
            onChange={(event) => {
              setText(event.target.value)
              changed()
            }}
          />
        </div>
        {names.map((name) => (
          <div key={name} className="field">
            <label htmlFor={`${id}-${name}`}>
              Value of <code>{name}</code>
            </label>
            <input
              id={`${id}-${name}`}
              className="input mono"
              type="password"
              autoComplete="off"
              value={values[name] ?? ''}
              onChange={(event) => setValues({ ...values, [name]: event.target.value })}
            />
          </div>
        ))}
        <div className="row">
          <label className="check">
            <input type="checkbox" checked={prune} onChange={(event) => setPrune(event.target.checked)} />
            Remove what the file owned and names no more
          </label>
          <label className="check">
            <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
            Take over what other files own
          </label>
        </div>
        <FormFault fault={diff.fault ?? apply.fault} shown={[]} />
        <div className="row">
          <Button
            look={plan === null ? 'primary' : 'plain'}
            type="submit"
            busy={diff.busy}
            disabled={text.trim() === ''}
          >
            Show the plan
          </Button>
          {plan !== null && plan.problems.length === 0 && mayApply ? (
            <Button look="primary" busy={apply.busy} onClick={() => setAsking(true)}>
              Apply {count(plan.changes.length, 'change')}
            </Button>
          ) : null}
        </div>
      </form>
      {plan === null ? null : <PlanView plan={plan} />}
      {applied === null ? null : <AppliedView applied={applied} />}
      <ConfirmDialog
        open={asking}
        title="Apply the file"
        confirm="Apply"
        {...(plan?.changes.some(({ action }) => action === 'remove') ? { name: plan.owner } : {})}
        onConfirm={run}
        onClose={() => setAsking(false)}
      >
        <p>{plan === null ? null : planInWords(plan)}</p>
      </ConfirmDialog>
    </Section>
  )
}

function planInWords({ changes, owner }: Plan): string {
  const of = (action: string) => changes.filter((change) => change.action === action).length
  return `${of('create')} made, ${of('change')} changed, ${of('remove')} removed. What the file names belongs to ${owner} from then on. No request is dropped.`
}

function AppliedView({ applied }: { applied: Applied }) {
  return (
    <div className="notice notice-good stack-tight" role="status">
      <div className="grow stack-tight">
        <p className="notice-title">{count(applied.changes.length, 'change')} made</p>
        {applied.keys.map((key) => (
          <div key={key.id}>
            <p>
              Key {key.name} of {key.project}/{key.environment}, shown this once:
            </p>
            <Code text={key.key} />
          </div>
        ))}
      </div>
    </div>
  )
}

function ExportFile() {
  const { call, busy, fault } = useOperation('export')
  const [text, setText] = useState<string | null>(null)
  const write = async () => {
    const exported = (await call({})) as Exported | null
    if (exported !== null) setText(exported.text)
  }
  return (
    <Section title="Write what stands">
      <div className="stack">
        <p className="quiet">
          A file that apply takes: keys as hashes, so that a wiped gateway admits the same ones, and no credential.
        </p>
        <div className="row">
          <Button busy={busy} onClick={() => void write()}>
            Write it
          </Button>
          {text === null ? null : (
            <Button
              icon={<DownloadIcon size={16} aria-hidden="true" />}
              onClick={() => save(new Blob([text]), datedName('spgw', 'yaml'))}
            >
              Save as a file
            </Button>
          )}
        </div>
        <FormFault fault={fault} shown={[]} />
        {text === null ? null : <Code text={text} />}
      </div>
    </Section>
  )
}
