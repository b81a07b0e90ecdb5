import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { Button, Dialog, Empty, OperationButton, OperationForm, Time, toast } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import type { Provider } from '../outputs.ts'
import { Section } from '../section.tsx'

type Credential = Provider['credentials'][number]

/** Write-only: what is stored is never shown, only replaced, added to, or removed. */
export function ProviderCredentials({ provider }: { provider: Provider }) {
  const [edited, setEdited] = useState<'add' | Credential | null>(null)
  const may = useMay('providers.credentials.add')
  const { credentials, name } = provider
  const add = (
    <Button small icon={<Plus size={14} aria-hidden="true" />} onClick={() => setEdited('add')}>
      Add
    </Button>
  )
  return (
    <Section title="Credentials" actions={may ? add : undefined}>
      {credentials.length === 0 ? (
        <Empty title="No credentials" command={`spgw providers credentials add ${name} --credential-stdin`}>
          Requests are sent without a credential. Add several to spread requests over them.
        </Empty>
      ) : (
        <ul className="list">
          {credentials.map((credential) => (
            <li key={credential.id} className="list-row">
              <span className="grow">
                Stored{endsIn(credential)}, added <Time at={credential.added_at} />
              </span>
              {may ? (
                <>
                  <Button small onClick={() => setEdited(credential)}>
                    Replace
                  </Button>
                  <RemoveCredential provider={provider} credential={credential} />
                </>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      <p className="small quiet below">
        {credentials.length > 1
          ? `Requests are spread over these ${credentials.length} credentials. One that is rate-limited or rejected cools down.`
          : 'A new credential is checked before it replaces the old one. No request is dropped.'}
      </p>
      <CredentialDialog provider={provider} edited={edited} onClose={() => setEdited(null)} />
    </Section>
  )
}

function endsIn({ last_four }: Credential) {
  return last_four === '' ? null : (
    <>
      , ends in <code>…{last_four}</code>
    </>
  )
}

function RemoveCredential({
  provider: { name, credentials, owned, kind, settings },
  credential,
}: {
  provider: Provider
  credential: Credential
}) {
  const left = credentials.length - 1
  const kinds = useQuery({ ...orpc.providers.kinds.queryOptions({ input: {} }), staleTime: Number.POSITIVE_INFINITY })
  const known = kinds.data?.find((one) => one.kind === kind)
  const preset = known?.presets.find((one) => one.name === settings.preset)
  const isNeeded = (preset ?? known)?.credential === 'required'
  const ending = credential.last_four === '' ? credential.id : credential.last_four
  return (
    <OperationButton
      small
      operation="providers.credentials.remove"
      input={{ name, credential: credential.id }}
      name={ending}
      done="Credential removed"
      owned={owned.credentials === undefined ? {} : { credentials: owned.credentials }}
      {...(left === 0 && isNeeded ? { refusal: <NeededCredential name={name} /> } : {})}
      consequence={
        <p>
          {left === 0
            ? 'This is the last credential. Requests will be sent without one, and most providers reject those.'
            : `The remaining ${left === 1 ? 'credential takes' : `${left} credentials take`} over its requests.`}
        </p>
      }
    >
      Remove
    </OperationButton>
  )
}

function NeededCredential({ name }: { name: string }) {
  return (
    <p>
      This is the only credential of <b>{name}</b>, which accepts no requests without one. Replace it, or add another
      one first.
    </p>
  )
}

interface CredentialDialogProps {
  provider: Provider
  edited: 'add' | Credential | null
  onClose(): void
}

function CredentialDialog({ provider: { name }, edited, onClose }: CredentialDialogProps) {
  const isNew = edited === 'add'
  const done = (word: string) => () => {
    toast({ tone: 'good', title: `Credential ${word}` })
    onClose()
  }
  return (
    <Dialog
      open={edited !== null}
      title={isNew ? `Add credential to ${name}` : `Replace credential of ${name}`}
      onClose={onClose}
    >
      {edited === null ? null : isNew ? (
        <OperationForm
          operation="providers.credentials.add"
          fixed={{ name }}
          fields={['credential']}
          folded={['skipCheck']}
          submit="Check and add"
          onDone={done('added')}
          onCancel={onClose}
        />
      ) : (
        <OperationForm
          operation="providers.edit"
          fixed={{ name, replace: edited.id }}
          fields={['credential']}
          needed={['credential']}
          folded={['skipCheck']}
          labels={{ credential: 'New credential' }}
          hints={{ credential: 'Keeps its place in the pool and access to the objects created with it' }}
          submit="Check and replace"
          onDone={done('replaced')}
          onCancel={onClose}
        />
      )}
    </Dialog>
  )
}
